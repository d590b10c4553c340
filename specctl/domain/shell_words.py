"""A shell script taken apart into words and operators; nothing is run or looked up.

Quoting as POSIX.1-2017, Shell Command Language 2.2 and 2.3, plus what bash scripts that start
servers use: arrays, `+=`, `$'…'`, `&>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from specctl.domain.errors import UsageError

_PLACEHOLDER = re.compile(r"<[A-Za-z_][\w .-]*>")
_REDIRECTION = re.compile(r"(?:\d*|&)>>?(?:&\d+|&-)?|\d*<<<|\d*<<-?|\d*<&\d+|\d*<")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;|[;&|()\n]")
_ASSIGNS_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=$")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>]+")
_ESCAPED_IN_DOUBLE = frozenset('$`"\\')


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a word: `text`, a `parameter` as between `${` and `}`, or a `substitution`."""

    kind: Literal["text", "parameter", "substitution"]
    text: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Word:
    """One word before expansion; `items` are the words of an array that it assigns."""

    pieces: tuple[Piece, ...]
    line: int
    items: tuple[Word, ...] | None = None

    @property
    def literal(self) -> str:
        """Its text up to the first expansion."""
        text = ""
        for piece in self.pieces:
            if piece.kind != "text":
                break
            text += piece.text
        return text


@dataclass(frozen=True, slots=True)
class Operator:
    """A control operator (`;`, `|`, line end …) or a redirection, which has its target with it."""

    text: str
    line: int
    target: Word | None = None
    is_redirection: bool = False


Token = Word | Operator


def shell_tokens(text: str) -> tuple[Token, ...]:
    """The words and operators of a script; a quote left open is a UsageError with its place."""
    return tuple(_Lexer(text).tokens())


def words_in(text: str) -> tuple[Word, ...]:
    """The words of a text that is one simple command."""
    return tuple(token for token in shell_tokens(text) if isinstance(token, Word))


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        self.at = 0
        self.documents: list[str] = []
        """Ends of here-documents that begin after this line."""

    def tokens(self) -> list[Token]:
        found: list[Token] = []
        while self._skip_blanks():
            found.append(self._token())
        return found

    def _token(self) -> Token:
        line = self._line(self.at)
        if not _PLACEHOLDER.match(self.text, self.at):
            if match := _REDIRECTION.match(self.text, self.at):
                return self._redirection(match, line)
            if match := _OPERATOR.match(self.text, self.at):
                self.at = match.end()
                if match.group() == "\n":
                    self._skip_documents()
                return Operator(match.group(), line)
        return self._word()

    def _skip_documents(self) -> None:
        for end in self.documents:
            match = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(self.text, self.at)
            self.at = match.end() if match else len(self.text)
        self.documents = []

    def _redirection(self, match: re.Match[str], line: int) -> Operator:
        self.at = match.end()
        if "&" in match.group()[1:]:
            return Operator(match.group(), line, is_redirection=True)
        self._skip_blanks()
        target = self._word() if self.at < len(self.text) else None
        if target is not None and match.group().rstrip("-").endswith("<<"):
            self.documents.append("".join(piece.text for piece in target.pieces))
        return Operator(match.group(), line, target, is_redirection=True)

    def _skip_blanks(self) -> bool:
        while self.at < len(self.text):
            if self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] in " \t\r":
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _word(self) -> Word:
        line = self._line(self.at)
        pieces: list[Piece] = []
        while self.at < len(self.text):
            if match := _PLACEHOLDER.match(self.text, self.at):
                self.at = match.end()
                pieces.append(Piece("text", match.group(), is_quoted=True))
                continue
            if self.text[self.at] == "(" and _ASSIGNS_ARRAY.fullmatch(_plain(pieces)):
                self.at += 1
                return Word(tuple(pieces), line, self._array())
            if self.text[self.at] in " \t\r\n;&|()<>":
                break
            pieces += self._pieces()
        return Word(tuple(pieces), line)

    def _array(self) -> tuple[Word, ...]:
        start = self.at - 1
        words: list[Word] = []
        while self._skip_blanks():
            if self.text[self.at] == ")":
                self.at += 1
                return tuple(words)
            if self.text[self.at] == "\n":
                self.at += 1
            else:
                words.append(self._word())
        raise self._unclosed(start, "(")

    def _pieces(self) -> list[Piece]:
        character = self.text[self.at]
        if character == "'":
            return [Piece("text", self._until("'", self.at, 1), is_quoted=True)]
        if character == '"':
            return self._double()
        if character in "$`":
            return [self._expansion(is_quoted=False)]
        if character == "\\":
            self.at += 2
            escaped = self.text[self.at - 1 : self.at]
            return [] if escaped == "\n" else [Piece("text", escaped, is_quoted=True)]
        match = _PLAIN.match(self.text, self.at)
        end = match.end() if match else self.at + 1
        plain, self.at = self.text[self.at : end], end
        return [Piece("text", plain, is_quoted=False)]

    def _double(self) -> list[Piece]:
        start = self.at
        self.at += 1
        pieces: list[Piece] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return pieces or [Piece("text", "", is_quoted=True)]
            if character in "$`":
                pieces.append(self._expansion(is_quoted=True))
                continue
            following = self.text[self.at + 1 : self.at + 2]
            if character == "\\" and (following in _ESCAPED_IN_DOUBLE or following == "\n"):
                self.at += 1
                character = following if following != "\n" else ""
            self.at += 1
            pieces.append(Piece("text", character, is_quoted=True))
        raise self._unclosed(start, '"')

    def _expansion(self, *, is_quoted: bool) -> Piece:
        start = self.at
        if self.text[start] == "`":
            return Piece("substitution", self._until("`", start, 1), is_quoted)
        if self.text.startswith("$'", start) and not is_quoted:
            return Piece("text", _c_escapes(self._until("'", start, 2)), is_quoted=True)
        if self.text.startswith("$(", start):
            return Piece("substitution", self._nested("(", ")").strip(), is_quoted)
        if self.text.startswith("${", start):
            return Piece("parameter", self._nested("{", "}"), is_quoted)
        match = _NAME.match(self.text, start + 1)
        if match is None:
            self.at += 1
            return Piece("text", "$", is_quoted)
        self.at = match.end()
        return Piece("parameter", match.group(), is_quoted)

    def _until(self, closing: str, start: int, skip: int) -> str:
        end = self.text.find(closing, start + skip)
        if end < 0:
            raise self._unclosed(start, closing)
        self.at = end + 1
        return self.text[start + skip : end]

    def _nested(self, opening: str, closing: str) -> str:
        """What stands between a pair of brackets, quotes inside respected."""
        start = self.at
        depth, self.at = 0, start + 1
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "'":
                self._until("'", self.at, 1)
                continue
            depth += (character == opening) - (character == closing)
            self.at += 1
            if depth == 0:
                return self.text[start + 2 : self.at - 1]
        raise self._unclosed(start, "$" + opening)

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _unclosed(self, start: int, mark: str) -> UsageError:
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        shown = self.text[start : start + 30].split("\n", 1)[0]
        return UsageError(
            f"line {self._line(start)}, column {column}: {mark} is never closed: {shown}",
            hint="close the quote or bracket, then import again",
        )


def _plain(pieces: list[Piece]) -> str:
    return "".join(p.text for p in pieces if p.kind == "text" and not p.is_quoted)


def _c_escapes(text: str) -> str:
    for written, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\'", "'"), ("\\\\", "\\")):
        text = text.replace(written, meant)
    return text
