"""The flags of a release, written as Python in the form in which that release declares them.

Since 0.5.20: annotated fields of the classes below `srt/arg_groups/fields`. Before 0.5.14: fields
of the dataclass `ServerArgs`, and a call of `add_argument` for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.lab.dialects import numbers_of, read_dialect_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Row = dict[str, Any]
_ANNOTATED_SINCE = (0, 5, 14)
_TYPES = {
    "int": "int", "float": "float", "human_readable_int": "int",
    "switch": "bool", "yes-no": "bool", "old-switch": "bool",
}  # fmt: skip
_PARSERS = {"json": "json.loads", "json_list_type": "json.loads", "human_readable_int": "int"}

_FIELDS_HEAD = '''\
"""Flags of `{path}`."""

from __future__ import annotations

import argparse
import json
from typing import List, Optional

import msgspec

from sglang.srt.arg_groups.arg_utils import A, Arg
'''
_GROUP = '''


class {group}(msgspec.Struct):
    """What these flags come to."""

    _NS_PATH = "{path}"
'''
_COLLECTING = '''\
"""The arguments of a server: the fields of all groups, and the flags that no group has."""

from __future__ import annotations

import argparse
import dataclasses

from sglang.srt.arg_groups.fields import collect_input_fields


class ServerArgs:
    """Every flag of the command line by its field."""

    fields = collect_input_fields()

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
'''
_DATACLASS = '''\
"""The arguments of a server: a field for each, and the flag that sets it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import List, Optional


@dataclasses.dataclass
class ServerArgs:
    """What a server is started with."""

'''
_COLLECT = '''\
"""The groups of flags."""

from __future__ import annotations

import importlib

GROUPS = {groups}


def collect_input_fields():
    """Field to group, over all groups."""
    found = {{}}
    for name, group in GROUPS:
        module = importlib.import_module(f"sglang.srt.arg_groups.fields.{{name}}")
        found.update(dict.fromkeys(getattr(module, group).__annotations__, group))
    return found
'''


def declare_flags(version: str) -> Mapping[str, str]:
    """Path in the package to text of every file that declares flags."""
    rows: list[Row] = read_dialect_data(version, "flags")
    if numbers_of(version) < _ANNOTATED_SINCE:
        return {"srt/server_args.py": _dataclass(rows)}
    return _annotated(rows)


def field_of(row: Mapping[str, Any]) -> str:
    """The field of the resolved arguments that a flag sets."""
    return str(row.get("dest") or row["names"][0].lstrip("-").replace("-", "_"))


def _annotated(rows: list[Row]) -> dict[str, str]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if "at" in row:
            file, _, group = row["at"].partition(":")
            groups.setdefault((file, group), []).append(row)
    files: dict[str, str] = {}
    for (file, group), members in groups.items():
        name = f"srt/arg_groups/fields/{file}"
        path = file.removesuffix(".py").rstrip("_")
        text = _GROUP.format(group=group, path=path) + _lines(_annotated_field(r) for r in members)
        files[name] = files.get(name, _FIELDS_HEAD.format(path=path)) + text
    names = tuple((file.removesuffix(".py"), group) for file, group in groups)
    files["srt/arg_groups/fields/__init__.py"] = _COLLECT.format(groups=names)
    loose = [row for row in rows if "at" not in row]
    files["srt/server_args.py"] = _COLLECTING + _lines(_added(row, "dataclasses") for row in loose)
    return files


def _lines(parts: Iterable[str]) -> str:
    return "".join(f"{part}\n" for part in parts)


def _type(row: Row) -> str:
    inner = _TYPES.get(row["kind"], "str")
    if row.get("many") in {"+", "*"}:
        inner = f"List[{inner}]"
    is_optional = row["kind"] != "switch" and "default" not in row and not row.get("required")
    return f"Optional[{inner}]" if is_optional else inner


def _default(row: Row) -> str:
    return repr(row.get("default", False if row["kind"] == "switch" else None))


def _annotated_field(row: Row) -> str:
    extras = [f'help="{row.get("help", "")}"']
    name = row["names"][0]
    if name != "--" + field_of(row).replace("_", "-"):
        extras.append(f'cli_name="{name}"')
    if row["names"][1:]:
        extras.append(f"aliases={row['names'][1:]}")
    if row.get("choices"):
        extras.append(f"choices={row['choices']}")
    if row["kind"] == "yes-no":
        extras.append("action=argparse.BooleanOptionalAction")
    if row["kind"] in _PARSERS:
        extras.append(f"type_parser={_PARSERS[row['kind']]}")
    if row.get("many") not in {None, "+"}:
        extras.append(f'nargs="{row["many"]}"')
    end = "" if row.get("required") else f" = {_default(row)}"
    return f"    {field_of(row)}: A[{_type(row)}, Arg({', '.join(extras)})]{end}"


def _dataclass(rows: list[Row]) -> str:
    required = [row for row in rows if row.get("required")]
    rest = [row for row in rows if not row.get("required") and field_of(row) != "config"]
    fields = [f"    {field_of(row)}: {_type(row)}" for row in required]
    seen = {field_of(row) for row in required}
    for row in rest:
        if field_of(row) not in seen:
            fields.append(f"    {field_of(row)}: {_type(row)} = {_default(row)}")
        seen.add(field_of(row))
    method = "\n    @staticmethod\n    def add_cli_args(parser: argparse.ArgumentParser):\n"
    return _DATACLASS + _lines(fields) + method + _lines(_added(row, "ServerArgs") for row in rows)


def _added(row: Row, source: str) -> str:
    words = [f'"{name}"' for name in row["names"]]
    field = field_of(row)
    if "--" + field.replace("_", "-") != row["names"][0]:
        words.append(f'dest="{field}"')
    words += _kind_words(row)
    if row.get("many"):
        words.append(f'nargs="{row["many"]}"')
    if row.get("choices"):
        words.append(f"choices={row['choices']}")
    if row.get("required"):
        words.append("required=True")
    elif source == "ServerArgs" and field != "config":
        words.append(f"default=ServerArgs.{field}")
    elif "default" in row:
        words.append(f"default={_default(row)}")
    words.append(f'help="{_help(row)}"')
    return f"        parser.add_argument({', '.join(words)})"


def _help(row: Row) -> str:
    if row["kind"].startswith("old"):
        return f"Deprecated. Use {row['new']}." if "new" in row else "Deprecated."
    return str(row.get("help", ""))


def _kind_words(row: Row) -> list[str]:
    kind = row["kind"]
    if kind in {"switch", "old-switch", "old"}:
        return ['action="store_true"']
    if kind == "yes-no":
        return ["action=argparse.BooleanOptionalAction"]
    return [f"type={_PARSERS.get(kind) or _TYPES.get(kind, 'str')}"]
