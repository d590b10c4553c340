"""A recording: events of hosts as lines of JSON, and what its first line says of them; pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from specctl.domain.freshness import SAMPLED_EVERY_S
from specctl.domain.plain import plain, plain_event
from specctl.domain.text import clean
from specctl.domain.unplain import SCHEMA as EVENT_SCHEMA
from specctl.domain.unplain import event_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.events import Event

SCHEMA = "specctl/recording/1"
FREQUENT = frozenset({"HostSampled", "ServerSampled", "ServersSeen", "LogRead"})
"""Kinds whose last half hour says all: of the others every one counts for what came after."""

LATEST_S = 32_503_680_000.0
"""The year 3000: a later time is no time."""

_KIND = re.compile(rb'"event": ?"([A-Za-z]{1,40})"')
_TIME = re.compile(rb'"time_s": ?([0-9]{1,12}(?:\.[0-9]{1,12})?)\b')
INTERVAL_MOST_S = 3600.0
HEAD_BYTES = 600
"""Of a line that specctl wrote, kind and time lie in its first bytes."""


@dataclass(frozen=True, slots=True)
class RecordingHead:
    """The first line of a recording."""

    began_at_s: float
    """By the recorder's clock, Unix seconds."""

    hosts: tuple[str, ...]
    simulated_hosts: tuple[str, ...] = ()
    """Those of them that are practice hosts of the lab."""

    made_by: str = ""
    """The version of specctl."""

    interval_s: float = SAMPLED_EVERY_S
    """How often the hosts were sampled."""

    words: str = "What happened on hosts, as specctl saw it; specctl replay FILE shows it."


def head_line(head: RecordingHead) -> bytes:
    """The first line."""
    document = {"schema": SCHEMA, "simulated": bool(head.simulated_hosts), **plain(head)}
    return _line(document)


def event_line(event: Event, *, is_simulated: bool) -> bytes:
    """One event, as `watch --json` prints it."""
    document = {"schema": EVENT_SCHEMA, "simulated": is_simulated, **plain_event(event)}
    return _line(document)


def _line(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def read_document(line: bytes) -> dict[str, Any]:
    """A line's JSON object, its texts made safe; raises ValueError for anything else."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_constant=_refuse)
        value = _cleaned(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(value, dict):
        return value
    raise ValueError("it is no JSON object")


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _cleaned(value: Any) -> Any:
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {clean(key): _cleaned(item) for key, item in value.items()}
    return value


def read_head(document: Mapping[str, Any]) -> RecordingHead | None:
    """The head in a first line; None for an event, which needs none. Raises ValueError."""
    schema = document.get("schema")
    if schema == EVENT_SCHEMA:
        return None
    if schema != SCHEMA:
        raise ValueError(f"its first line is no {SCHEMA} and no {EVENT_SCHEMA}")
    began_at_s = document.get("began_at_s")
    if not is_time(began_at_s):
        raise ValueError("its first line has no began_at_s")
    return RecordingHead(
        float(began_at_s),
        _names(document.get("hosts")),
        _names(document.get("simulated_hosts")),
        str(document.get("made_by") or ""),
        _interval_s(document.get("interval_s")),
    )


def _interval_s(value: object) -> float:
    """As written; the usual one where none is, or none that can be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return SAMPLED_EVERY_S
    return float(value) if 0 < value <= INTERVAL_MOST_S else SAMPLED_EVERY_S


def _names(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else []
    return tuple(name for name in found if isinstance(name, str))


def read_event(line: bytes) -> Event:
    """The event of a line; raises ValueError with what is wrong."""
    event = event_of(read_document(line))
    if not is_time(event.time_s):
        raise ValueError("time_s: is no time")
    return event


def is_time(value: object) -> TypeGuard[float]:
    """It is a number of Unix seconds that a clock can show."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < LATEST_S


@dataclass(frozen=True, slots=True)
class Peeked:
    """What the beginning of a line says, without all of it being read."""

    kind: str
    time_s: float


def peek(line: bytes) -> Peeked | None:
    """Kind and time of an event's line; None for what is no event."""
    head = line[:HEAD_BYTES]
    kind, time_s = _KIND.search(head), _TIME.search(head)
    if kind is not None and time_s is not None:
        return Peeked(kind[1].decode("ascii"), float(time_s[1]))
    try:
        document = read_document(line)
    except ValueError:
        return None
    name, at_s = document.get("event"), document.get("time_s")
    if not isinstance(name, str) or not is_time(at_s):
        return None
    return Peeked(name, float(at_s))
