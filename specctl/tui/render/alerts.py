"""Alerts: the list of them, and the words on the panel that each is about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.alerts.rules import RULES, Name
from specctl.tui.render.chrome import simulated
from specctl.tui.render.lines import Drawing, Line, clip, middle, row, width, wrap

if TYPE_CHECKING:
    from collections.abc import Collection

    from specctl.domain.alerts.published import HostAlert
    from specctl.tui.scene import Scene

OF_GPUS = frozenset({"throttle", "memory", "gpu"})
OF_THROUGHPUT = frozenset({"breakeven", "collapsed", "queue"})
OF_SERVER = frozenset({"crashed", "lost", "slow-link"})

HOST_CELLS, RULE_CELLS, TIME_CELLS, LASTS_CELLS, VALUE_CELLS = 14, 9, 5, 10, 15
VALUED_CELLS, RULED_CELLS = 100, 140
"""From these on a row has the value, and the rule."""

INDENT = "    "
SHORTEST_NOTE, LONGEST = 20, 600


def mark(*, is_error: bool) -> tuple[str, str]:
    """The glyph of a severity."""
    return ("✗", "bad") if is_error else ("▲", "warn")


def alert_head(cells: int) -> Line:
    """The names of the columns."""
    heads = [("!", 1), ("SINCE", TIME_CELLS), ("HOST", HOST_CELLS), *_rule("RULE", cells)]
    line = row(*[([(head, "faint")], size) for head, size in heads])
    return [*line, ("  ", ""), *_rest([("WHAT", "faint")], [("VALUE", "faint")],
                                      [("LASTS", "faint")], cells)]  # fmt: skip


def _rule(text: str, cells: int) -> list[tuple[str, int]]:
    """The column of the rule, where the sentence beside it has room enough."""
    return [(text, RULE_CELLS)] if cells >= RULED_CELLS else []


def _rest(words: Line, value: Line, lasts: Line, cells: int) -> Line:
    """What is left of a row beside its first columns; the value goes first, then the rule."""
    left = cells - (1 + TIME_CELLS + HOST_CELLS + 6)
    if cells < VALUED_CELLS:
        return row((words, left - LASTS_CELLS - 2), (lasts, LASTS_CELLS, ">"))
    ruled = RULE_CELLS + 2 if cells >= RULED_CELLS else 0
    size = left - ruled - LASTS_CELLS - VALUE_CELLS - 4
    return row((words, size), (value, VALUE_CELLS), (lasts, LASTS_CELLS, ">"))


def alert_row(scene: Scene, alert: HostAlert, cells: int, *, is_seen: bool) -> Line:
    """One alert; a cleared one, and one that was acknowledged, is dim."""
    is_loud = alert.is_open and not is_seen
    glyph = mark(is_error=alert.severity == "error") if alert.is_open else ("✓", "ok")
    tone, soft = ("text", "dim") if is_loud else ("dim", "faint")
    words = alert.words.removeprefix(f"{alert.host} ")
    line = row(
        ([glyph if is_loud or not alert.is_open else (glyph[0], "dim")], 1),
        ([(figures.clock(alert.raised_at_s, scene.offset_s)[:5], soft)], TIME_CELLS),
        ([(middle(alert.host, HOST_CELLS), "title" if is_loud else "dim")], HOST_CELLS),
        *[([(rule, soft)], size) for rule, size in _rule(alert.rule, cells)],
    )
    value: Line = [(alert.value, "strong" if is_loud else "faint")]
    badge = simulated(scene, alert.host)
    what: Line = [*badge, *([(" ", "")] if badge else []), (words, tone)]
    return [*line, ("  ", ""), *_rest(what, value, [(_lasts(scene, alert), soft)], cells)]


def _lasts(scene: Scene, alert: HostAlert) -> str:
    """`open 3m`, or of a cleared one `lasted 7m`."""
    end_s = scene.now_s if alert.cleared_at_s is None else alert.cleared_at_s
    word = "open" if alert.cleared_at_s is None else "lasted"
    return f"{word} {figures.age(end_s - alert.raised_at_s)}"


def alert_more(scene: Scene, alert: HostAlert, cells: int, *, is_seen: bool) -> list[Line]:
    """Under the chosen one: all of its words, its times, what to do next."""
    room = cells - len(INDENT)
    place = f"{alert.host}/{alert.server}" if alert.server else alert.host
    raised = figures.clock(alert.raised_at_s, scene.offset_s)
    times = f"{place}, raised {raised}"
    if alert.cleared_at_s is not None:
        times += f", cleared {figures.clock(alert.cleared_at_s, scene.offset_s)}"
    value = f", {alert.value}" if alert.value else ""
    seen = ", acknowledged" if is_seen else ""
    out: list[Line] = [[(INDENT, ""), (text, "text")] for text in wrap(alert.words[:LONGEST], room)]
    out += [[(INDENT, ""), (text, "dim")] for text in wrap((times + value + seen)[:LONGEST], room)]
    for n, text in enumerate(wrap(alert.hint[:LONGEST], room - 2)):
        out.append([(INDENT, ""), ("→ " if n == 0 else "  ", "prompt"), (text, "text")])
    rule = wrap(_rule_words(alert.rule)[:LONGEST], room)
    return [*out, *[[(INDENT, ""), (text, "faint")] for text in rule]]


def _rule_words(name: str) -> str:
    """When alerts of a kind are raised, as the rules are without a file."""
    if name not in list(Name):
        return f"rule {name}"
    return f"rule {name}: {RULES[Name(name)].words}; alerts.toml changes its limits and times"


def alert_note(scene: Scene, host: str, rules: Collection[str], server: str | None = None) -> Line:
    """What is wrong with what a panel shows, for its edge: the worst, and how many more."""
    found = [
        alert
        for alert in scene.alerts(host)
        if alert.rule in rules and (server is None or alert.server in {"", server})
    ]
    if not found:
        return []
    worst = min(found, key=lambda alert: not alert.is_error)
    glyph, token = mark(is_error=worst.is_error)
    out: Line = [(f"{glyph} ", token), (worst.words, token)]
    return [*out, (f"  +{len(found) - 1}", "dim")] if len(found) > 1 else out


def noted(drawing: Drawing, words: Line, cells: int) -> Drawing:
    """The drawing with an alert in its bottom edge, as far as there is room beside its note."""
    room = cells - width(drawing.note) - 4
    if not words or room < SHORTEST_NOTE:
        return drawing
    gap: Line = [("  ", "")] if drawing.note else []
    return replace(drawing, note=[*clip(words, room), *gap, *drawing.note])
