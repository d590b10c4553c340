"""The cursor's host on the fleet screen: its sentence, its plots, its GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.alerts.rules import Name
from specctl.tui.render.gpus import gpu_brief, host_lines
from specctl.tui.render.headline import headline
from specctl.tui.render.lines import Drawing, Line, beside, clip, few, width, wrap
from specctl.tui.render.plots import GUTTER, time_axis
from specctl.tui.render.standing import gpu_words, worst
from specctl.tui.render.throughput import accept_plot, counts, rate_plot, reading

if TYPE_CHECKING:
    from specctl.domain.alerts.alert import Alert
    from specctl.domain.server import Server
    from specctl.tui.scene import Scene

RIGHT_CELLS, GAP_CELLS = 46, 4
SHORTEST_PREVIEW = 6
ALERT_CELLS = 8
FIRST_ROWS, MOST_FIRST = 3, 3
FEW_ROWS, MOST_ROWS = 2, 5
"""Of one alert, where there is little room and where there is enough."""

INDENT = "  "


def draw_preview(scene: Scene, host: str | None, cells: int, rows: int) -> Drawing:
    """Everything about one host that answers whether it needs a look."""
    if host is None:
        return Drawing("No host", [[("Nothing is selected.", "faint")]])
    first, second = headline(scene, host)
    stale = scene.is_stale(host)
    told = _folded(first, cells, min(MOST_FIRST, max(1, rows - 2)))
    body: list[Line] = [*told, second, []]
    free = rows - len(body)
    sample = scene.state.host(host).sample
    server = worst(scene.state.host(host))
    if free >= SHORTEST_PREVIEW - FIRST_ROWS and sample is not None:
        left_cells = cells - RIGHT_CELLS - GAP_CELLS
        right = _right(scene, host, RIGHT_CELLS, free)
        left = _left(scene, host, server, left_cells, free)
        body += beside(left, left_cells + GAP_CELLS, right, free)
    return Drawing(host, body[:rows], _summary(scene, host, server), is_stale=stale)


def _folded(line: Line, cells: int, rows: int) -> list[Line]:
    """A sentence that is too long for its row goes on in the next ones, in its last tone."""
    *head, (text, tone) = line
    before = width(head)
    if width(line) <= cells or before > cells // 2:
        return [line]
    mark = "x" * (before - len(INDENT))
    texts = wrap(mark + text, cells - len(INDENT))
    out: list[Line] = [[*head, (texts[0].removeprefix(mark), tone)]]
    out += [[(INDENT, ""), (one, tone)] for one in texts[1:rows]]
    if len(texts) > rows:
        out[-1] = clip([*out[-1], (" " + texts[rows], tone)], cells)
    return out


def draw_strip(scene: Scene, host: str | None) -> Drawing:
    """What is left of the preview on a short screen: the sentence."""
    if host is None:
        return Drawing("No host", [])
    first, _ = headline(scene, host)
    server = worst(scene.state.host(host))
    profile = server.profile if server else None
    return Drawing(host, [first], [(profile, "dim")] if profile else [])


def _summary(scene: Scene, host: str, server: Server | None) -> Line:
    sample = scene.state.host(host).sample
    out: Line = [(gpu_words(sample), "dim")] if sample else []
    if server is not None and server.version:
        out += [("  ", ""), (f"SGLang {server.version}", "dim")]
    round_trip_s = scene.state.host(host).round_trip_s
    if round_trip_s is not None and not scene.is_stale(host):
        is_slow = any(alert.rule == Name.SLOW_LINK for alert in scene.alerts(host))
        words = f"link {round_trip_s * 1000:.0f} ms"
        out += [("  ", ""), (words, "warn" if is_slow else "dim")]
    if scene.is_stale(host):
        out += [("  ", ""), (f"{figures.spoken(scene.age_s(host))} old", "warn")]
    return out


def _left(scene: Scene, host: str, server: Server | None, cells: int, rows: int) -> list[Line]:
    sample = scene.state.host(host).sample
    if server is None:
        return host_lines(sample.host, scene, host, cells) if sample else []
    r = reading(scene, host, server)
    bottom = [time_axis(cells - GUTTER, scene.span.minutes), few(counts(r.sample), cells)]
    if server.algorithm is None:
        return [[("tok/s", "dim")], *rate_plot(scene, r, cells, max(1, rows - 3)), *bottom]
    free = rows - 4
    tall = (free * 3 + 4) // 5
    if free - tall <= 1:
        return [
            [("accept length", "dim")],
            *accept_plot(scene, r, cells, max(1, rows - 3)),
            *bottom,
        ]
    return [
        [("accept length", "dim")],
        *accept_plot(scene, r, cells, tall),
        [("tok/s", "dim")],
        *rate_plot(scene, r, cells, free - tall),
        *bottom,
    ]


def _right(scene: Scene, host: str, cells: int, rows: int) -> list[Line]:
    sample = scene.state.host(host).sample
    out: list[Line] = []
    if sample is not None and sample.gpus:
        out += [*gpu_brief(sample.gpus[:16], cells, stale=scene.is_stale(host)), []]
    alerts = sorted(scene.alerts(host), key=lambda alert: not alert.is_error)
    whole = [line for alert in alerts for line in _alert(scene, alert, cells, MOST_ROWS)]
    if len(out) + len(whole) <= rows:
        return [*out, *whole]
    return [*out, *(line for alert in alerts for line in _alert(scene, alert, cells, FEW_ROWS))]


def _alert(scene: Scene, alert: Alert, cells: int, rows: int) -> list[Line]:
    """Since when, and the words under each other."""
    glyph, token = ("✗ ", "bad") if alert.is_error else ("▲ ", "warn")
    since = figures.clock(alert.raised_at_s, scene.offset_s)[:5]
    first, *rest = wrap(alert.words[: MOST_ROWS * cells], cells - ALERT_CELLS) or [""]
    lines: list[Line] = [[(glyph, token), (since + " ", "dim"), (first, "text")]]
    return [*lines, *([(" " * ALERT_CELLS, ""), (text, "text")] for text in rest[: rows - 1])]
