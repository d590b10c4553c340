"""The command line: argparse with every flag of a release, and so its errors in its own words."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from specctl.lab.declaring import field_of
from specctl.lab.dialects import numbers_of, read_dialect_data
from specctl.lab.server.config_file import merge_config

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_RENAMED_SINCE = (0, 5, 5)
"""`sglang serve` came with it, and became the program's name in usage texts."""

_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_arguments(version: str, argv: Sequence[str]) -> argparse.Namespace:
    """`argv` as a namespace of SGLang's own field names.

    Ends the process with status 2 on a wrong command line, as argparse does.
    """
    rows: list[dict[str, Any]] = read_dialect_data(version, "flags")
    parser = _parser(version, rows)
    if any("--config" in row["names"] for row in rows):
        argv = merge_config(argv, rows)
    return parser.parse_args(argv)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n")


def _parser(version: str, rows: list[dict[str, Any]]) -> argparse.ArgumentParser:
    is_new = numbers_of(version) >= _RENAMED_SINCE
    parser = _Parser(prog="sglang serve" if is_new else "launch_server.py")
    for row in rows:
        _add(parser, row)
    return parser


def _add(parser: argparse.ArgumentParser, row: dict[str, Any]) -> None:
    kind, names = row["kind"], row["names"]
    words: dict[str, Any] = {"dest": field_of(row), "default": row.get("default")}
    if kind == "switch":
        words |= {"action": "store_true", "default": row.get("default", False)}
    elif kind.startswith("old"):
        words |= {"action": _OLD[kind], "new": row.get("new")}
        if "choices" in row:
            words["choices"] = row["choices"]
    elif kind == "yes-no":
        words["action"] = argparse.BooleanOptionalAction
    else:
        words["type"] = _TYPES[kind]
        extras = {"nargs": "many", "choices": "choices", "required": "required", "const": "const"}
        words |= {word: row[key] for word, key in extras.items() if key in row}
        words |= {"metavar": row["metavar"]} if "metavar" in row else {}
    if row.get("hidden"):
        words["help"] = argparse.SUPPRESS
    parser.add_argument(*names, **words)


class _OldSwitch(argparse.Action):
    """A retired switch: heeded, with a warning that names what replaced it."""

    def __init__(self, *words: Any, new: str | None = None, **more: Any) -> None:
        super().__init__(*words, **{**more, "nargs": 0, "default": False})
        self.new = new

    def __call__(self, _parser: Any, namespace: Any, _values: Any, option: Any = None) -> None:
        instead = f" Use '{self.new}' instead." if self.new else ""
        words = f"'{option}' is deprecated and will be removed in a future release.{instead}"
        sys.stderr.write(f"\033[1;33m{words}\033[0m\n")
        setattr(namespace, self.dest, True)


class _OldValue(_OldSwitch):
    """A retired flag with a value, of which one meaning is left."""

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        self.nargs = None


_OLD: dict[str, type[argparse.Action]] = {
    "old-switch": _OldSwitch,
    "old": _OldSwitch,
    "old-value": _OldValue,
}


def human_readable_int(text: str) -> int:
    """`64k` as 64000; argparse prints this function's name when it fails."""
    number, unit = text, text[-1:].lower()
    if unit in _UNITS:
        number = text[:-1]
        return int(float(number) * _UNITS[unit])
    return int(number)


def json_list_type(text: str) -> list[Any]:
    """A JSON list in one argument."""
    found = json.loads(text)
    if not isinstance(found, list):
        raise argparse.ArgumentTypeError(f"a JSON list, not {text}")
    return found


_TYPES: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "json": json.loads,
    "human_readable_int": human_readable_int,
    "json_list_type": json_list_type,
}
