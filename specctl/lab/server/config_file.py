"""`--config FILE`: flags from a YAML mapping, put before those of the command line.

Only the two-word form is heeded; keys are flags without their dashes. The YAML of such files is
read here as far as they go: one `key: value` a line, values in JSON, plain words, or flow lists.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def merge_config(argv: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """`argv` without `--config FILE`, the file's flags before the others: the last one counts.

    Raises ValueError for two files, a missing one, or one that is no mapping.
    """
    words = list(argv)
    places = [place for place, word in enumerate(words) if word == "--config"]
    if len(places) > 1:
        raise ValueError("Multiple config files specified! Only one allowed.")
    if not places or places[0] + 1 >= len(words):
        return words
    path = Path(words[places[0] + 1])
    if not path.exists():
        raise ValueError(f"Config file not found: {path}")
    rest = words[: places[0]] + words[places[0] + 2 :]
    return [*_as_flags(path.read_text(), rows), *rest]


def _as_flags(text: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    switches = {
        name for row in rows if row["kind"] in {"switch", "old-switch"} for name in row["names"]
    }
    yes_no = {name for row in rows if row["kind"] == "yes-no" for name in row["names"]}
    words: list[str] = []
    for key, value in _entries(text):
        flag = f"--{key}"
        if flag in yes_no:
            raise ValueError(f"Unsupported action for option: {key}")
        if flag in switches:
            words += [flag] if value is True else []
        elif isinstance(value, list):
            words += [flag, *(str(item) for item in value)]
        elif value is not None:
            words += [flag, value if isinstance(value, str) else json.dumps(value)]
    return words


def _names(rows: Sequence[Mapping[str, Any]], *kinds: str) -> set[str]:
    return {name for row in rows if row["kind"] in kinds for name in row["names"]}


def _entries(text: str) -> Iterator[tuple[str, Any]]:
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.partition(":")
        if not colon or line[0].isspace():
            raise ValueError("Config file must contain a dictionary at root level")
        yield key.strip().strip("'\""), _scalar(value.strip())


_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def _scalar(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    return text.partition(" #")[0].strip()
