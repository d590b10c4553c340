"""From JSON back to events: the other direction of `plain`, strict about every value.

A key that is not there takes the field's default, so that lines written before the field existed
can still be read; everything else that does not fit is refused with its path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from specctl.domain.events import Event, HostDescribed, LinkChanged
from specctl.domain.missing import Missing, Reasons, Why
from specctl.domain.open_loop import OpenLoop
from specctl.domain.probe import ProbeResult
from specctl.domain.sample import Sample, ServerSample
from specctl.domain.server import Server
from specctl.domain.state import Link
from specctl.domain.training import TrainedOn

if TYPE_CHECKING:
    from enum import Enum

T = TypeVar("T")

SCHEMA = "specctl/event/1"
KINDS: Mapping[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}
"""Every kind of event by the name that its JSON carries as `event`."""

_NAMES: dict[str, Any] = {
    "Mapping": Mapping,
    "Missing": Missing,
    "OpenLoop": OpenLoop,
    "ProbeResult": ProbeResult,
    "Reasons": Reasons,
    "Sample": Sample,
    "Server": Server,
    "ServerSample": ServerSample,
    "TrainedOn": TrainedOn,
}
"""What the annotations of events name and their modules import for type checkers only."""

_TYPES: dict[type[Any], Mapping[str, Any]] = {}
"""Looking them up takes longer than all the rest."""


def event_of(value: Mapping[str, Any]) -> Event:
    """The event whose JSON is `value`; raises ValueError with the path of what is wrong."""
    rest = dict(value)
    schema, kind = rest.pop("schema", SCHEMA), rest.pop("event", None)
    if schema != SCHEMA:
        raise _wrong("schema", f"must be {SCHEMA}", schema)
    if not isinstance(kind, str) or kind not in KINDS:
        raise _wrong("event", f"must be one of {', '.join(KINDS)}", kind)
    if kind != HostDescribed.__name__:
        rest.pop("simulated", None)  # of the line: the host's own description has said so
    event: Event = _object(KINDS[kind], rest, "")
    if isinstance(event, LinkChanged):
        _enum(Link, event.link, "link")
    return event


def object_of(kind: type[T], value: Mapping[str, Any], names: Mapping[str, Any]) -> T:
    """The dataclass whose JSON is `value`; raises ValueError with the path of what is wrong.

    `names` are those that its annotations import for type checkers only.
    """
    named = [one for one in names.values() if isinstance(one, type) and is_dataclass(one)]
    for known in (kind, *named):
        if known not in _TYPES:
            _TYPES[known] = get_type_hints(known, localns={**_NAMES, **names})
    found: T = _object(kind, value, "")
    return found


def missing_of(text: str) -> Missing:
    """A reason from its words, `why` or `why: detail`; raises ValueError when it is none."""
    why, _, detail = text.partition(": ")
    return Missing(Why(why), detail)


def field_types(kind: type[Any]) -> Mapping[str, Any]:
    """The types of a dataclass's fields by name."""
    if kind not in _TYPES:
        _TYPES[kind] = get_type_hints(kind, localns=_NAMES)
    return _TYPES[kind]


def _object(kind: type[Any], value: Any, path: str) -> Any:
    found = _mapping(value, path)
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(found.keys() - known.keys()):
        raise ValueError(f"{_join(path, unknown[0])}: {kind.__name__} has no such field")
    types = field_types(kind)
    given = {}
    for name, field in known.items():
        if name in found:
            given[name] = _value(types[name], found[name], _join(path, name))
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{_join(path, name)}: is not there")
    return kind(**given)


def _value(kind: Any, value: Any, path: str) -> Any:
    origin = get_origin(kind)
    if origin in _GENERIC:
        return _GENERIC[origin](get_args(kind), value, path)
    if kind in _SCALARS:
        return _SCALARS[kind](value, path)
    read: Callable[[Any, Any, str], Any] = _object if is_dataclass(kind) else _enum
    return read(kind, value, path)


def _optional(options: tuple[Any, ...], value: Any, path: str) -> Any:
    if value is None and NoneType in options:
        return None
    (kind,) = (option for option in options if option is not NoneType)
    return _value(kind, value, path)


def _items(kinds: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(path, "must be an array", value)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    elif len(kinds) != len(value):
        raise ValueError(f"{path}: must have {len(kinds)} items, not {len(value)}")
    pairs = zip(kinds, value, strict=True)
    return tuple(_value(kind, item, f"{path}[{n}]") for n, (kind, item) in enumerate(pairs))


def _entries(kinds: tuple[Any, ...], value: Any, path: str) -> dict[Any, Any]:
    of_key, of_item = kinds
    return {
        _value(of_key, key, path): _value(of_item, item, _join(path, key))
        for key, item in _mapping(value, path).items()
    }


def _choice(choices: tuple[Any, ...], value: Any, path: str) -> Any:
    if value not in choices:
        raise _wrong(path, f"must be one of {', '.join(map(str, choices))}", value)
    return value


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(path, "must be an object", value)
    return value


def _enum(kind: type[Enum], value: Any, path: str) -> Enum:
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(str(member.value) for member in kind)
        raise _wrong(path, f"must be one of {words}", value) from None


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _wrong(path, "must be text", value)
    return value


def _flag(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(path, "must be true or false", value)
    return value


def _whole(value: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(path, "must be a whole number", value)
    return value


def _number(value: Any, path: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not _is_finite(value):
        raise _wrong(path, "must be a number", value)
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond what a float can hold
        return False


def _reason(value: Any, path: str) -> Missing:
    try:
        return missing_of(_text(value, path))
    except ValueError:
        kinds = ", ".join(Why)
        raise _wrong(path, f"must begin with one of {kinds}", value) from None


def _anything(value: Any, _path: str) -> Any:
    return value


_SCALARS: Mapping[Any, Callable[[Any, str], Any]] = {
    str: _text,
    bool: _flag,
    int: _whole,
    float: _number,
    Missing: _reason,
    Any: _anything,
}
_GENERIC: Mapping[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    Union: _optional,
    UnionType: _optional,
    tuple: _items,
    Mapping: _entries,
    dict: _entries,
    Literal: _choice,
}


def _join(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _wrong(path: str, words: str, value: Any) -> ValueError:
    shown = repr(value)
    return ValueError(f"{path or 'event'}: {words}, not {shown if len(shown) < 80 else 'that'}")  # noqa: PLR2004
