"""Values as JSON has them: dataclasses become objects, enums their value, tuples lists.

A reason becomes its words, a number that is not finite null. `unplain` is the way back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from specctl.domain.missing import Missing

if TYPE_CHECKING:
    from specctl.domain.events import Event


def plain_event(event: Event) -> dict[str, Any]:
    """An event with the name of its kind: a line of `watch --json`, less its schema."""
    return {"event": type(event).__name__, **plain(event)}


def plain(value: Any) -> Any:
    """`value` in terms of dict, list, str, int, float, bool and None."""
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Missing():
            return str(value)
    return _structure(value)


def _structure(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")
