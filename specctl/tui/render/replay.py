"""A replay: where it is, the keys that move it, and why nothing in it can be acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.action import Action, Kind
from specctl.tui.render.lines import Line, few, width
from specctl.tui.render.plots import bar

if TYPE_CHECKING:
    from specctl.services.replaying import Standing

BAR_CELLS = (8, 24)
KEYS = (
    ("space", ""), (", .", "step"), ("< >", "a minute"), ("( )", "speed"),
)  # fmt: skip
WORKS = frozenset(
    {"copy.selection", "live.span", "live.pause", "sibling.next", "sibling.previous", "row.open"}
)
NEEDS_HOSTS = frozenset(
    {"profiles.open", "source.open", "trials.open", "source.grep", "drift.show"}
)
"""Places whose content is read from hosts or files, which a recording does not hold."""


def off_in_replay(action: Action) -> str:
    """Why an action has no place in a replay; empty where it works as ever."""
    if action.verb or action.id in NEEDS_HOSTS:
        return "This is a replay: what it shows is over, and nothing in it can be acted on."
    if action.kind is Kind.NAMED and action.id != "theme.choose":
        return "This is a replay: nothing in it can be acted on."
    if action.kind is Kind.ACT and action.id.endswith((".read", ".add")):
        return "This is a replay: there is no host to read."
    return ""


def speed_words(speed: float) -> str:
    """`4x`, `0.25x`."""
    return f"{speed:g}x"


def replay_state(standing: Standing) -> Line:
    """Whether it goes, in the footer's place for how live a host is."""
    if standing.is_over:
        return [("■ at the end", "dim")]
    if standing.is_paused:
        return [("‖ paused", "warn")]
    return [("▸ replay", "data"), (f" {speed_words(standing.speed)}", "text")]


def replay_bar(standing: Standing, cells: int) -> Line:
    """Where it is, how fast it goes, and what moves it."""
    left: Line = [(" ", ""), (" REPLAY ", "badge"), ("  ", "")]
    at, length = figures.duration(standing.at_s), figures.duration(standing.length_s)
    where: Line = [(at, "bright"), (f" of {length}", "dim")]
    pace: Line = [(speed_words(standing.speed), "text")]
    verb = "goes on" if standing.is_paused or standing.is_over else "pauses"
    keys: list[Line] = [[(key, "key"), (f" {words or verb}", "dim")] for key, words in KEYS]
    rest = cells - width(left) - width(where) - width(pace) - 6
    fewest = sum(width(key) + 3 for key in keys)
    size = min(BAR_CELLS[1], max(BAR_CELLS[0], rest - fewest))
    share = standing.at_s / standing.length_s if standing.length_s > 0 else 1.0
    out = [*left, *bar(share, size), ("  ", ""), *where, ("  ", ""), *pace, ("  ", "")]
    return [*out, *few(keys, cells - width(out) - 1)]
