"""What the commands of a shell script come to, variables filled in; nothing is run.

What only the machine knows - unset variables, command substitutions, positional parameters -
becomes a `<placeholder>` and a remark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from specctl.domain.shell_words import Operator, Piece, Word, shell_tokens, words_in

_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)(?P<append>\+?)=", re.DOTALL)
_PARAMETER = re.compile(
    r"(?P<name>[A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?P<index>\[[@*]\])?"
    r"(?:(?P<operator>:?[-=+?]|%%?|##?)(?P<word>.*))?",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"}
)
_GROUPING = frozenset({"{", "}", "!", "time", "do", "then", "else"})
_BUILTINS = _KEYWORDS | {
    "export", "declare", "typeset", "readonly", "local", "source", ".", "unset",
    "set", "true", ":", "cd", "echo", "printf", "sleep", "mkdir", "wait", "exit", "ulimit", "trap",
}  # fmt: skip
"""Done with once read: they start no server."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command."""

    words: tuple[str, ...]
    line: int
    environment: dict[str, str]
    """Variables exported to it, those written before its name included."""

    redirections: tuple[str, ...] = ()


@dataclass(slots=True)
class Script:
    """The commands of a script, and remarks on what could not be followed."""

    commands: list[Command] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    variables: dict[str, list[str]] = field(default_factory=dict)
    exported: dict[str, str] = field(default_factory=dict)

    def remark(self, line: int, text: str) -> None:
        """Note something that was left out or not followed, once."""
        remark = f"line {line}: {text}"
        if remark not in self.remarks:
            self.remarks.append(remark)


def read_script(text: str) -> Script:
    """Follow a script from top to bottom, taking every branch."""
    script = Script()
    words: list[Word] = []
    redirections: list[str] = []
    for token in (*shell_tokens(text), Operator("\n", 0)):
        if isinstance(token, Word):
            words.append(token)
        elif token.is_redirection:
            target = "".join(_fields(script, token.target)) if token.target else ""
            redirections.append(f"{token.text}{target}")
        else:
            if words:
                _simple_command(script, words, tuple(redirections))
            words, redirections = [], []
    return script


def _simple_command(script: Script, words: list[Word], redirections: tuple[str, ...]) -> None:
    line = words[0].line
    while words and words[0].literal in _GROUPING:
        words = words[1:]
    own: dict[str, str] = {}
    while words and (match := _ASSIGNMENT.match(words[0].literal)):
        name, values = _assigned(script, words[0], match)
        own[name] = " ".join(values)
        if len(words) == 1:
            _assign_all(script, {**own}, {name: values})
            return
        words = words[1:]
    fields = tuple(item for word in words for item in _fields(script, word))
    if fields and not _builtin(script, fields, words):
        environment = {**script.exported, **own}
        script.commands.append(Command(fields, line, environment, redirections))


def _builtin(script: Script, fields: tuple[str, ...], words: list[Word]) -> bool:
    """Carry out a command of the shell itself; false for any other."""
    name, line = fields[0], words[0].line
    if name in {"export", "declare", "typeset", "readonly", "local"}:
        _declare(script, words[1:], exports=name == "export" or "-x" in fields)
    elif name in _KEYWORDS:
        script.remark(line, f"`{name}` is not followed; every branch is read")
    elif name in {"source", "."}:
        script.remark(line, f"`{' '.join(fields)}` is not read")
    elif name == "cd" and fields[1:]:
        script.remark(line, f"relative paths start from {fields[-1]}")
    elif name == "unset":
        for variable in fields[1:]:
            script.variables.pop(variable, None)
            script.exported.pop(variable, None)
    return name in _BUILTINS


def _assign_all(script: Script, own: dict[str, str], last: dict[str, list[str]]) -> None:
    for name, value in own.items():
        script.variables[name] = last.get(name, [value])
        if name in script.exported:
            script.exported[name] = value


def _declare(script: Script, words: list[Word], *, exports: bool) -> None:
    for word in words:
        match = _ASSIGNMENT.match(word.literal)
        if match:
            name, values = _assigned(script, word, match)
            script.variables[name] = values
        else:
            name = word.literal
        if exports and name in script.variables:
            script.exported[name] = " ".join(script.variables[name])


def _assigned(script: Script, word: Word, match: re.Match[str]) -> tuple[str, list[str]]:
    """The name and value, or array, that a word like `NAME=value` assigns."""
    name = match["name"]
    before = script.variables.get(name, []) if match["append"] else []
    if word.items is not None:
        return name, [*before, *(item for w in word.items for item in _fields(script, w))]
    rest = _without_prefix(word, match.end())
    value = "".join(_expand(script, piece, word.line) for piece in rest)
    return name, ["".join(before) + value]


def _without_prefix(word: Word, length: int) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for piece in word.pieces:
        cut = min(length, len(piece.text)) if length else 0
        length -= cut
        pieces.append(Piece(piece.kind, piece.text[cut:], piece.is_quoted))
    return tuple(pieces)


def _fields(script: Script, word: Word) -> list[str]:
    """The words that one word expands to: unquoted values are split at blanks."""
    fields: list[str] = []
    open_field = False
    for piece in word.pieces:
        if piece.kind == "parameter" and (values := _all_items(script, piece)) is not None:
            parts = values
        elif piece.kind == "text" or piece.is_quoted:
            parts = [_expand(script, piece, word.line)]
        else:
            value = _expand(script, piece, word.line)
            if open_field and value[:1].isspace():
                open_field = False
            parts = [value] if value.startswith("<") else value.split()
        for i, part in enumerate(parts):
            if i == 0 and open_field:
                fields[-1] += part
            else:
                fields.append(part)
        if parts:
            open_field = True
    return fields


def _all_items(script: Script, piece: Piece) -> list[str] | None:
    """The items of `${NAME[@]}`, or of `$@`, which is nothing here; None for anything else."""
    match = _PARAMETER.fullmatch(piece.text)
    if match and match["index"]:
        return script.variables.get(match["name"], [])
    return [] if piece.text in {"@", "*"} else None


def _expand(script: Script, piece: Piece, line: int) -> str:
    if piece.kind == "text":
        return piece.text
    if piece.kind == "substitution":
        script.remark(line, f"$({piece.text}) is never run here: fill it in")
        return _placeholder(piece.text)
    match = _PARAMETER.fullmatch(piece.text)
    if match is None:
        script.remark(line, f"${{{piece.text}}} is not followed: fill it in")
        return _placeholder(piece.text)
    return _parameter(script, match, line)


def _parameter(script: Script, match: re.Match[str], line: int) -> str:
    name, operator = match["name"], match["operator"] or ""
    values = script.variables.get(name)
    value = None if values is None else " ".join(values)
    if operator in {"-", "=", ":-", ":="}:
        is_missing = value is None or (operator.startswith(":") and not value)
        return _inner(script, match["word"], line) if is_missing else value or ""
    if operator in {"+", ":+"}:
        return _inner(script, match["word"], line) if value else ""
    if value is None:
        script.remark(line, f"${name} is not set in this text: fill it in")
        return _placeholder(name if not name.isdigit() else f"argument {name}")
    if operator[:1] in {"%", "#"}:
        return _trimmed(value, operator, _inner(script, match["word"], line))
    return value


def _inner(script: Script, text: str, line: int) -> str:
    return " ".join(
        "".join(_expand(script, piece, line) for piece in word.pieces) for word in words_in(text)
    )


def _trimmed(value: str, operator: str, pattern: str) -> str:
    """`${NAME%pattern}` and its kin: the shortest or longest matching end or beginning goes."""
    cuts = range(len(value) + 1)
    if operator[0] == "%":
        order = reversed(cuts) if operator == "%" else cuts
        return next((value[:i] for i in order if fnmatchcase(value[i:], pattern)), value)
    order = cuts if operator == "#" else reversed(cuts)
    return next((value[i:] for i in order if fnmatchcase(value[:i], pattern)), value)


def _placeholder(text: str) -> str:
    words = re.sub(r"[<>\s]+", " ", text).strip()
    return f"<{words}>" if words[:1].isalpha() or words[:1] == "_" else f"<value {words}>"
