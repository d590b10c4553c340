"""The command and variables of a systemd service unit, read as systemd reads them.

Source: systemd.syntax(7), systemd.exec(5), systemd.service(5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from specctl.domain.shell_words import Piece, words_in

_PREFIXES = "@-:+!|"
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_QUIET = frozenset({"Type", "Restart", "RestartSec", "TimeoutStartSec", "KillMode"})


@dataclass(slots=True)
class Unit:
    """What a service unit starts."""

    words: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def looks_like_unit(text: str) -> bool:
    """The text has a [Service] section."""
    return re.search(r"^\s*\[Service\]\s*$", text, re.MULTILINE) is not None


def read_unit(text: str) -> Unit:
    """The [Service] section of a unit; later ExecStart lines win."""
    unit = Unit()
    section = ""
    for line in _lines(text):
        if line.startswith("["):
            section = line
        elif section == "[Service]":
            key, _, value = line.partition("=")
            _setting(unit, key.strip(), value.strip())
    unit.words = tuple(_with_variables(unit, word) for word in unit.words)
    return unit


def _lines(text: str) -> list[str]:
    joined = re.sub(r"\\\n(?:[ \t]*[#;][^\n]*\n)*", " ", text.replace("\r\n", "\n"))
    lines = (line.strip() for line in joined.split("\n"))
    return [line for line in lines if line and line[0] not in "#;"]


def _setting(unit: Unit, key: str, value: str) -> None:
    if key == "Environment":
        for word in _words(value):
            name, equals, content = word.partition("=")
            if equals:
                unit.environment[name] = content
    elif key == "ExecStart":
        unit.words = tuple(_words(value.lstrip(_PREFIXES)))
    elif key == "EnvironmentFile":
        unit.remarks.append(f"EnvironmentFile {value.lstrip('-')} is not read: add what it sets")
    elif key not in _QUIET:
        unit.remarks.append(f"{key}={value} is left out")


def _words(text: str) -> list[str]:
    """Quoting is the shell's here, expansion is not: `$NAME` is put back for systemd's own."""
    return ["".join(_raw(piece) for piece in word.pieces) for word in words_in(text)]


def _raw(piece: Piece) -> str:
    if piece.kind == "parameter":
        return f"${{{piece.text}}}"
    return f"$({piece.text})" if piece.kind == "substitution" else piece.text


def _with_variables(unit: Unit, word: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name not in unit.environment:
            unit.remarks.append(f"${name} is not set in this unit: fill it in")
        return unit.environment.get(name, f"<{name}>")

    return _VARIABLE.sub(value, word)
