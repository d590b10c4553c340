"""What is compared of an answer: keys and types, names and labels; never a value."""

from __future__ import annotations

import re
from typing import Any

NULL = "null"
_NAMES = {str: "text", bool: "yes-no", int: "whole", float: "fraction", type(None): NULL}


def shape(value: Any) -> Any:
    """Objects as key to shape, lists as the shapes that occur in them, values as their type."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        found: list[Any] = []
        for item in value:
            one = shape(item)
            if one not in found:
                found.append(one)
        return found
    return _NAMES[type(value)]


def differences(expected: Any, got: Any, place: str = "") -> list[str]:
    """Where two shapes differ; null says nothing of a type, and an empty list of its items."""
    if expected == got or NULL in {_plain(expected), _plain(got)}:
        return []
    if isinstance(expected, dict) and isinstance(got, dict):
        found = [f"{place}: no {key}" for key in expected if key not in got]
        found += [f"{place}: {key} is new" for key in got if key not in expected]
        common = [key for key in expected if key in got]
        for key in common:
            found += differences(expected[key], got[key], f"{place}.{key}")
        if not found and [*expected] != [*got]:
            found.append(f"{place}: keys in another order")
        return found
    if isinstance(expected, list) and isinstance(got, list):
        return _list_differences(expected, got, place)
    return [f"{place}: {expected} became {got}"]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list_differences(expected: list[Any], got: list[Any], place: str) -> list[str]:
    if not expected or not got:
        return []
    found: list[str] = []
    for item in got:
        nearest = min((differences(one, item, f"{place}[]") for one in expected), key=len)
        found += nearest
    return found


_NUMBER = re.compile(r"(?<![\w#])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w])|(?<=[=(\[ ])-?\d[\d.]*")
_STAMP = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( [A-Z]+\d+)*\] ")
_QUOTED = re.compile(r"'[^']*'")
_PORT = re.compile(r"127\.0\.0\.1:\d+")
_ASKED = re.compile(r'"[A-Z]+ \S+ HTTP')
_TYPE = re.compile(r"\b(d?type)[=:] ?[\w.]+")
_RID = re.compile(r"\b[0-9a-f]{32}\b")


def line_shape(line: str) -> str:
    """A log line without its stamp, numbers, quoted words and ids."""
    text = _STAMP.sub("", line.rstrip())
    text = _PORT.sub("ADDRESS", _RID.sub("RID", _QUOTED.sub("'…'", text)))
    text = _TYPE.sub(r"\1=…", _ASKED.sub('"VERB PATH HTTP', text))
    return _NUMBER.sub("N", text)


_SAMPLE = re.compile(r"([^{ ]+)(?:\{(.*)\})? \S+$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def metric_shapes(text: str) -> dict[str, Any]:
    """Family to its type, label names, and the bounds of its buckets."""
    found: dict[str, Any] = {}
    family: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            family = found.setdefault(name, {"type": kind, "labels": [], "bounds": []})
        elif line and not line.startswith("#") and (sample := _SAMPLE.match(line)):
            labels = dict(_LABEL.findall(sample[2] or ""))
            if family["type"] == "histogram" and (bound := labels.pop("le", None)):
                family["bounds"] += [bound] if bound not in family["bounds"] else []
            names = sorted(labels)
            family["labels"] += [names] if names not in family["labels"] else []
    for family in found.values():
        family["labels"].sort()
    return found
