"""Rules over time: an alert is raised when its rule held long enough, and cleared likewise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specctl.domain.alerts.judging import Look, Reading, Says, judge
from specctl.domain.alerts.rules import Name
from specctl.domain.events import AlertsChanged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.alerts.rules import Rule, Rules

Key = tuple[Name, str]
"""Rule and server; the server is empty where the rule is about the host."""


@dataclass(frozen=True, slots=True)
class Track:
    """How far one rule has come towards raising its alert, or clearing it."""

    is_open: bool = False
    held_s: float = 0.0
    """How long the rule has said what would change that, times of not knowing left out."""

    last_s: float | None = None
    """When it last said so; None after not knowing, and before it did."""

    first_level: float | None = None
    """What was measured when the rule began to hold."""

    gpus: frozenset[int] = frozenset()
    """Those that the words of the open alert were about."""


IDLE = Track()


@dataclass(frozen=True, slots=True)
class Watched:
    """The rules of one host over time."""

    tracks: Mapping[Key, Track] = field(default_factory=dict)
    words: Mapping[Key, str] = field(default_factory=dict)
    """Of the open alerts."""


def advance(track: Track, rule: Rule, reading: Reading, now_s: float) -> Track:
    """The track after a reading; what is not known stops the count and changes nothing."""
    if reading.says is Says.MOOT:
        return IDLE
    if reading.says is Says.UNKNOWN:
        return track if track.last_s is None else replace(track, last_s=None)
    wanted = Says.CLEAR if track.is_open else Says.RAISE
    if reading.says is not wanted:
        gpus = track.gpus | reading.gpus if track.is_open else frozenset()
        return Track(track.is_open, gpus=gpus)
    held_s, first = track.held_s, track.first_level
    if track.last_s is None:
        first = reading.level if first is None else first
    else:
        held_s += max(0.0, now_s - track.last_s)
    if held_s < (rule.clear_for_s if track.is_open else rule.for_s):
        return replace(track, held_s=held_s, last_s=now_s, first_level=first)
    if not track.is_open and _has_not_grown(rule, reading, first):
        return Track(last_s=now_s, first_level=reading.level)
    return Track(is_open=not track.is_open, gpus=reading.gpus)


def _has_not_grown(rule: Rule, reading: Reading, first: float | None) -> bool:
    """It is as it was when the count began; one look alone cannot tell."""
    if rule.for_s == 0 or reading.level is None or first is None:
        return False
    return reading.level <= first


def watch(watched: Watched, look: Look, rules: Rules) -> tuple[Watched, list[AlertsChanged]]:
    """The rules of a host after one more look at it, and the alerts that changed by it."""
    tracks, words = dict(watched.tracks), dict(watched.words)
    changes: list[AlertsChanged] = []
    readings = judge(look, rules)
    for reading in readings:
        key = (reading.rule, reading.server)
        before = tracks.get(key, IDLE)
        after = advance(before, rules.by_name[reading.rule], reading, look.lasting_s)
        tracks[key] = after
        is_new = not before.is_open or after.gpus - before.gpus
        if after.is_open and (is_new or _tells_more(reading, words.get(key, ""))):
            words[key] = reading.words
            changes.append(_raised(look, rules, reading))
        elif before.is_open and not after.is_open:
            changes.append(_cleared(look, rules, key, words.pop(key, "")))
    gone = _gone(look, tracks, {(r.rule, r.server) for r in readings})
    opened = [key for key in gone if tracks.pop(key).is_open]
    changes += [_cleared(look, rules, key, words.pop(key, "")) for key in opened]
    return Watched(tracks, words), changes


def _tells_more(reading: Reading, before: str) -> bool:
    """The log of a crashed server was read since, or read further: another cause is the first."""
    return reading.rule is Name.CRASHED and reading.says is Says.RAISE and reading.words != before


def _gone(look: Look, tracks: Mapping[Key, Track], read: set[Key]) -> list[Key]:
    """Rules about servers that are not there any more; while servers are not known, none."""
    return [] if look.state.servers is None else [key for key in tracks if key not in read]


def _raised(look: Look, rules: Rules, reading: Reading) -> AlertsChanged:
    return AlertsChanged(
        look.host, look.now_s, reading.rule.value, is_open=True, words=reading.words,
        server=reading.server, severity=rules.by_name[reading.rule].severity.value,
        value=reading.value, hint=reading.hint,
    )  # fmt: skip


def _cleared(look: Look, rules: Rules, key: Key, words: str) -> AlertsChanged:
    rule, server = key
    return AlertsChanged(
        look.host,
        look.now_s,
        rule.value,
        is_open=False,
        words=words,
        server=server,
        severity=rules.by_name[rule].severity.value,
    )
