"""TOML text from values, laid out as a person would: keys first, then tables, JSON inline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from specctl.domain.text import clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
)


def to_toml(values: Mapping[str, Any], *, comments: Sequence[str] = (), schema: str = "") -> str:
    """A file's text: comments on top, plain keys, then one [table] for each mapping.

    None is left out; mappings below the first level are written inline.
    """
    lines = [f"#:schema {schema}"] if schema else []
    lines += [f"# {line}".rstrip() for comment in comments for line in clean_lines(comment)]
    body = [f"{key_text(k)} = {value_text(v)}" for k, v in _plain(values)]
    blocks = ["\n".join(part) for part in (lines, body) if part]
    for name, table in values.items():
        if isinstance(table, Mapping) and table:
            rows = (f"{key_text(k)} = {value_text(v)}" for k, v in table.items() if v is not None)
            blocks.append("\n".join((f"[{key_text(name)}]", *rows)))
    return "\n\n".join(blocks) + "\n"


def _plain(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if value is not None and not isinstance(value, Mapping):
            yield key, value


def key_text(key: str) -> str:
    """A key, quoted where TOML needs it."""
    return key if _BARE.fullmatch(key) else string_text(key)


def value_text(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key_text(key)} = {value_text(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return f"[{', '.join(value_text(item) for item in value)}]"


def string_text(text: str) -> str:
    """A string in double quotes; control characters and lone surrogates replaced."""
    escaped = text.translate(_ESCAPES)
    return '"' + "".join(c if c.isprintable() else _code(ord(c)) for c in escaped) + '"'


def _code(number: int) -> str:
    if 0xD800 <= number <= 0xDFFF:  # noqa: PLR2004
        return "\ufffd"  # half of a surrogate pair has no place in TOML
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # noqa: PLR2004
