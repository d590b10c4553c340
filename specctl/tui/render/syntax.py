"""Code as spans: Python, C++ and CUDA, TOML; fast enough for files of ten thousand lines.

What spans several lines is found once for the whole text; a line is taken apart when it is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.tui.render.lines import safe

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line

TAB_CELLS = 4
LONGEST_LINE = 2000
"""A line longer than that is data, not code: its end is not shown."""

_PYTHON = frozenset({
    "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
    "yield",
})  # fmt: skip
_C = frozenset({
    "alignas", "auto", "bool", "break", "case", "catch", "char", "class", "const", "constexpr",
    "continue", "default", "delete", "do", "double", "else", "enum", "explicit", "extern", "float",
    "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "operator", "override", "private", "protected", "public", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "try", "typedef",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "__global__",
    "__device__", "__host__", "__shared__", "__constant__", "__restrict__", "__launch_bounds__",
    "__forceinline__",
})  # fmt: skip
_VALUES = frozenset({
    "True", "False", "None", "true", "false", "nullptr", "NULL",
})  # fmt: skip

_NUMBER = r"\b(?:0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?)[uUlLfF]*\b"
_STRING = r'"(?:[^"\\\n]|\\.)*"?|\'(?:[^\'\\\n]|\\.)*\'?'
_TRIPLE_LINE = r'"""(?:[^\\\n]|\\.)*?"""|' + r"'''(?:[^\\\n]|\\.)*?'''"
_TRIPLE = r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|' + r"'''(?:[^\\]|\\.)*?(?:'''|\Z)"


@dataclass(frozen=True, slots=True)
class Language:
    """How one family of languages is written."""

    words: frozenset[str]
    long: re.Pattern[str]
    """Strings and comments, those over several lines too, in the order they appear."""

    token: re.Pattern[str]
    """What is told apart within a line."""


def _language(words: frozenset[str], long: str, comment: str, *, head: str = "") -> Language:
    parts = [
        f"(?P<comment>{comment})",
        f"(?P<string>{_TRIPLE_LINE}|{_STRING})",
        f"(?P<num>{_NUMBER})",
    ]
    if head:
        parts.insert(0, f"(?P<head>{head})")
    parts.append(r"(?P<name>[A-Za-z_]\w*)")
    whole = re.compile(f"{long}|{_STRING}|{comment}", re.DOTALL)
    return Language(words, whole, re.compile("|".join(parts)))


PYTHON = _language(_PYTHON, _TRIPLE, "#[^\n]*", head=r"@[A-Za-z_][\w.]*")
C = _language(_C, r"/\*.*?(?:\*/|\Z)", "//[^\n]*", head=r"^\s*#\s*\w+")
TOML = _language(frozenset(), _TRIPLE, "#[^\n]*", head=r"^\s*\[\[?[^\]#]*\]\]?")
_SUFFIXES = {
    ".py": PYTHON, ".pyi": PYTHON, ".toml": TOML,
    ".cu": C, ".cuh": C, ".cpp": C, ".cc": C, ".c": C, ".h": C, ".hpp": C, ".hip": C, ".inc": C,
}  # fmt: skip


def language_of(name: str) -> Language | None:
    """By the end of a file's name; None where nothing is coloured."""
    return _SUFFIXES.get("." + name.rpartition(".")[2].lower()) if "." in name else None


@dataclass(slots=True)
class Code:
    """The text of a file, by line."""

    name: str
    lines: list[str]
    language: Language | None
    spans: dict[int, Line] = field(default_factory=dict)
    """Lines that were taken apart already."""

    long: list[tuple[int, int]] = field(default_factory=list)
    """Of the strings and comments over several lines: first and last line, counted from 0."""

    edges: list[tuple[int, int, str]] = field(default_factory=list)
    """Beside each: its first column, the column after its last, and its token."""

    def line(self, index: int) -> Line:
        """One line as spans."""
        found = self.spans.get(index)
        if found is None:
            found = self.spans[index] = self._line(index)
        return found

    def _line(self, index: int) -> Line:
        text = self.lines[index]
        if self.language is None:
            return [(text, "text")] if text else []
        out: Line = []
        at = 0
        for start, end, token in self._inside(index, len(text)):
            out += tokens(text[at:start], self.language) if start > at else []
            out.append((text[start:end], token))
            at = end
        return [*out, *tokens(text[at:], self.language)] if at < len(text) else out

    def _inside(self, index: int, length: int) -> list[tuple[int, int, str]]:
        """Parts of a line that belong to something over several lines."""
        out: list[tuple[int, int, str]] = []
        for k in range(bisect_left(self.long, index, key=lambda pair: pair[1]), len(self.long)):
            first, last = self.long[k]
            if first > index:
                break
            start, end, token = self.edges[k]
            out.append((start if first == index else 0, end if last == index else length, token))
        return out


def read_code(name: str, text: str) -> Code:
    """A file's text, ready to be shown line by line."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [safe(line[:LONGEST_LINE].expandtabs(TAB_CELLS)) for line in text.split("\n")]
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    code = Code(name, lines, language_of(name))
    if code.language is not None:
        _find_long(code, "\n".join(lines), code.language)
    return code


def _find_long(code: Code, text: str, language: Language) -> None:
    starts = [0]
    for line in code.lines:
        starts.append(starts[-1] + len(line) + 1)
    row = 0
    for match in language.long.finditer(text):
        if "\n" not in match[0]:
            continue
        while starts[row + 1] <= match.start():
            row += 1
        last = row + match[0].count("\n")
        before = code.lines[row][: match.start() - starts[row]]
        is_comment = match[0].startswith("/*") or not before.strip()
        code.long.append((row, min(last, len(code.lines) - 1)))
        code.edges.append(
            (len(before), match.end() - starts[last], "comment" if is_comment else "string")
        )


def tokens(text: str, language: Language) -> Line:
    """A piece of a line that lies in no long string or comment."""
    out: Line = []
    at = 0
    for match in language.token.finditer(text):
        tone = _tone(match, text, language)
        if tone == "text":
            continue
        if match.start() > at:
            out.append((text[at : match.start()], "text"))
        out.append((match[0], tone))
        at = match.end()
    if at < len(text):
        out.append((text[at:], "text"))
    return out


def _tone(match: re.Match[str], text: str, language: Language) -> str:
    kind = match.lastgroup
    if kind == "name":
        if match[0] in language.words:
            return "word"
        return "num" if match[0] in _VALUES else "text"
    if kind == "head":
        return "word"
    if kind == "string":
        is_docstring = match[0][:3] == '"""' and not text[: match.start()].strip()
        return "comment" if is_docstring else "string"
    return kind or "text"


def marked(line: Line, ranges: list[tuple[int, int]], ground: str) -> Line:
    """The line with some ranges of its characters on a ground."""
    out: Line = []
    at = 0
    for text, token in line:
        end = at + len(text)
        inside = [(max(s, at), min(e, end)) for s, e in ranges if s < end and e > at]
        for start, stop in inside:
            if start > at:
                out.append((text[: start - at], token))
            out.append((text[start - at : stop - at], f"{token or 'text'} on {ground}"))
            text, at = text[stop - at :], stop
        if text:
            out.append((text, token))
        at = end
    return out


def from_column(line: Line, column: int) -> Line:
    """The line without its first characters."""
    out: Line = []
    for text, token in line:
        if column >= len(text):
            column -= len(text)
            continue
        out.append((text[column:], token))
        column = 0
    return out
