"""TOML files: read from disk with the line of every key, syntax errors put in words."""

from __future__ import annotations

import codecs
import re
import stat
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.adapters.toml_positions import positions
from specctl.domain.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from specctl.adapters.toml_positions import Path as KeyPath

MAX_FILE_BYTES = 1 << 20
INTEGER_MAX = (1 << 63) - 1
"""TOML 1.0: what cannot be held losslessly is an error; 64 bits are what every reader has."""
HUGE = "holds a whole number of more than 64 bits"

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PLACE = re.compile(r"^(?P<what>.*?) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end .*)\)$")

_TWICE = re.compile(r"^Cannot declare \((?P<path>.*?),?\) twice$")

_WORDS = {
    "Invalid statement": "this is neither `key = value` nor a [table]",
    "Expected '=' after a key in a key/value pair": "an equals sign must follow the key",
    "Expected ']' at the end of a table declaration": "the closing ] of the table name is missing",
    "Expected ']]' at the end of an array declaration": "the closing ]] is missing",
    "Expected newline or end of document after a statement": "one line holds one `key = value`",
    "Unterminated string": "the closing quote is missing",
    "Illegal character '\\n'": "the line ends inside a string: the closing quote is missing",
    "Invalid value": "the value is missing, or is text without quotes",
    "Invalid initial character for a key part": "a key is made of letters, digits, - and _",
    "Unclosed array": "the closing ] of a list is missing",
    "Unclosed inline table": "the closing } of a table is missing",
    "Cannot overwrite a value": "this key already has a value above",
    "Unescaped '\\' in a string": "write \\\\ for a backslash, or use 'single quotes'",
}


@dataclass(frozen=True, slots=True)
class TomlFile:
    """What one file holds, and where; empty when it has a problem of syntax."""

    file: str
    """As the user would type it."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    problem: Problem | None = None

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the innermost table around it that is written down."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None


def read_toml(path: Path, file: str) -> TomlFile:
    """One file from disk; never raises for what is in it."""
    try:
        data = read_plain(path, MAX_FILE_BYTES)
    except OSError as error:
        return _unusable(file, f"cannot be read: {error.strerror or type(error).__name__}")
    except ValueError as error:
        return _unusable(file, str(error))
    return parse_toml(data, file)


def read_plain(path: Path, limit_bytes: int) -> bytes:
    """A file's content; raises ValueError for what is too large, or no file and never ends."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError("is no plain file")
    with path.open("rb") as stream:
        data = stream.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise ValueError(f"is larger than {limit_bytes >> 20} MiB")
    return data


def _unusable(file: str, message: str, line: int | None = None) -> TomlFile:
    return TomlFile(file, problem=Problem(file, line, "", message))


def parse_toml(data: bytes, file: str) -> TomlFile:
    """The bytes of one file; a byte order mark and Windows line ends are accepted."""
    if data.startswith(_UTF16):
        return _unusable(file, "is UTF-16 text: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _unusable(file, f"byte 0x{data[error.start]:02x} is not UTF-8 text", line)
    return _parse_text(text, file)


def _parse_text(text: str, file: str) -> TomlFile:
    try:
        values = tomllib.loads(text)
        is_huge = any(abs(number) > INTEGER_MAX for number in _integers(values))
    except tomllib.TOMLDecodeError as error:
        return TomlFile(file, problem=syntax_problem(str(error), text, file))
    except RecursionError:
        return _unusable(file, "is nested too deeply")
    except ValueError:  # of int(): Python reads no number of more than 4300 digits
        return _unusable(file, HUGE)
    return _unusable(file, HUGE) if is_huge else TomlFile(file, values, positions(text))


def _integers(value: Any) -> Iterator[int]:
    """Every whole number in a value, at any depth."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _integers(item)
    elif isinstance(value, int):
        yield value


def syntax_problem(message: str, text: str, file: str) -> Problem:
    """A tomllib message as a problem with its line, the column in words."""
    match = _PLACE.match(message)
    what = match["what"] if match else message
    words = _WORDS.get(what) or _declared_twice(what) or what[:1].lower() + what[1:]
    if match is None or match["line"] is None:
        line = text.count("\n", 0, len(text.rstrip())) + 1
        return Problem(file, line, "", f"the file ends too early: {words}")
    return Problem(file, int(match["line"]), "", f"column {match['column']}: {words}")


def _declared_twice(message: str) -> str:
    match = _TWICE.match(message)
    if match is None:
        return ""
    name = ".".join(part.strip(" '\"") for part in match["path"].split(","))
    return f"[{name}] stands above already"
