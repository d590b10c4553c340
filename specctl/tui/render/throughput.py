"""What a server gives: tokens per second and accept length, against what they must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.history import server_key
from specctl.domain.server import ServerState
from specctl.tui.render import numbers
from specctl.tui.render.lines import UNKNOWN, Drawing, Line, few
from specctl.tui.render.plots import GUTTER, accept_top, area, axis, labels, rate_top, time_axis
from specctl.tui.render.standing import speedup, step_s

if TYPE_CHECKING:
    from specctl.domain.sample import ServerSample
    from specctl.domain.server import Server
    from specctl.tui.scene import Scene
    from specctl.tui.services import ServerDetails

NO_SOURCE = "none"
"""Of a sample that no answer and no log gave: why stands beside its values."""

TALL_ROWS = 10
"""From here on both plots fit."""

ACCEPT_FLOOR = 1.0
"""Accept length cannot be lower: each step emits the bonus token."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A server's numbers at this moment, and what they are held against."""

    host: str
    server: Server
    sample: ServerSample | None
    details: ServerDetails

    @property
    def even(self) -> float | None:
        """The break-even accept length."""
        return figures.known(self.details.reference.even)

    @property
    def baseline(self) -> float | None:
        """The baseline's tokens per second."""
        return figures.known(self.details.reference.tokens_per_s)


def reading(scene: Scene, host: str, server: Server) -> Reading:
    """What is known of a server's throughput."""
    sample = scene.state.host(host).server_samples.get(server.name)
    return Reading(host, server, sample, scene.details(host, server))


def draw_throughput(
    scene: Scene, host: str, server: Server | None, cells: int, rows: int
) -> Drawing:
    """Numbers, the two plots, and the requests behind them."""
    summary: Line = [("t", "key"), (" span ", "dim"), (f"{scene.span.minutes} min", "text")]
    if server is None:
        return Drawing("Throughput", _no_server(scene, host), summary)
    stale = scene.is_stale(host)
    if stale:
        summary = [(f"{figures.spoken(scene.age_s(host))} old", "warn"), ("  ", ""), *summary]
    r = reading(scene, host, server)
    body = (_tall if rows >= TALL_ROWS else _short)(scene, r, cells, rows)
    return Drawing("Throughput", body, summary, is_stale=stale)


def _no_server(scene: Scene, host: str) -> list[Line]:
    if scene.state.host(host).servers is None:
        return [[UNKNOWN, ("  servers were not looked for yet", "faint")]]
    out: list[Line] = [[("No server, so nothing to measure.", "dim")]]
    if scene.is_open(host):
        out.append([("s", "key"), (" starts a profile.", "dim")])
    return out


def _short(scene: Scene, r: Reading, cells: int, rows: int) -> list[Line]:
    first = few([*_now(r), *_accept_items(r, "accept ", "")], cells)
    plot = accept_plot(scene, r, cells, max(1, rows - 3))
    if r.server.algorithm is None:
        plot = rate_plot(scene, r, cells, max(1, rows - 3))
    return [
        first,
        *plot,
        time_axis(cells - GUTTER, scene.span.minutes),
        few(counts(r.sample), cells),
    ]


def _tall(scene: Scene, r: Reading, cells: int, rows: int) -> list[Line]:
    out = [few(_now(r), cells)]
    bottom = [time_axis(cells - GUTTER, scene.span.minutes), few(counts(r.sample), cells)]
    if r.server.algorithm is None:
        out.append(
            [("accept length ", "dim"), ("off", "dim"), (": it runs without speculation", "faint")]
        )
        return [*out, [("tok/s", "dim")], *rate_plot(scene, r, cells, rows - 5), *bottom]
    free = rows - 5
    tall = free * 2 // 3
    out.append(few([*_accept_items(r, "accept length ", " break-even"), *_positions(r)], cells))
    out += accept_plot(scene, r, cells, tall)
    return [*out, [("tok/s", "dim")], *rate_plot(scene, r, cells, free - tall), *bottom]


def _now(r: Reading) -> list[Line]:
    """tok/s, its ratio to the baseline, the time of a step: whole items."""
    sample = r.sample
    if sample is None:
        return [[UNKNOWN, (" tok/s", "dim")], [(_unread(r.server), "faint")]]
    if sample.is_idle:
        return [
            [("▁ ", "track"), ("idle", "strong"), (", no request since the last sample", "dim")]
        ]
    value = figures.rate(sample.tokens_per_s)
    items: list[Line] = [[UNKNOWN if value == UNKNOWN[0] else (value, "bright"), (" tok/s", "dim")]]
    if value == UNKNOWN[0]:
        items.append([(str(sample.reason("tokens_per_s")), "faint")])
    ratio = speedup(sample, r.details.reference)
    if ratio is not None:
        tone = "okb" if ratio >= 1 else "warnb"
        items.append([(f"{ratio:.2f}×", tone), (f" of baseline {figures.rate(r.baseline)}", "dim")])
    step = step_s(sample)
    if step is not None:
        items.append([("step ", "dim"), *numbers.milliseconds(step)])
    return items


def _unread(server: Server) -> str:
    """Why there is no sample."""
    return "it has crashed" if server.state is ServerState.CRASHED else "not yet read"


def _accept_items(r: Reading, name: str, tail: str) -> list[Line]:
    if r.server.algorithm is None or r.sample is None or r.sample.is_idle:
        return []
    value = figures.known(r.sample.accept_length)
    line: Line = [(name, "dim"), *numbers.accept(value, r.even)]
    if value is None:
        line.append((f" {r.sample.reason('accept_length')}", "faint"))
    elif r.even is not None and tail:
        line.append((tail, "ref"))
    elif r.sample.accept_length_scope == "lifetime":
        line.append((" since start", "dim"))
    return [line]


def _positions(r: Reading) -> list[Line]:
    shares = r.details.accepted_by_position
    if not shares:
        return []
    words = " ".join(f"{share * 100:.0f}" for share in shares[:6])
    return [[("by position ", "dim"), (words, "strong"), (" %", "dim")]]


def accept_plot(scene: Scene, r: Reading, cells: int, rows: int) -> list[Line]:
    """Accept length from 1.00, which it cannot be under, with its break-even."""
    key = server_key(r.host, r.server.name, "accept_length")
    values = scene.history.values(key, scene.span, scene.now_s, cells - GUTTER)
    high = accept_top(values, r.even)
    even = r.even
    if even is None and all(value is None for value in values):
        return _nothing_yet(r, rows)
    plot = area(values, rows, low=ACCEPT_FLOOR, high=high, line_at=even)
    line = None if even is None else (even, f"{even:.2f}")
    return axis(plot, labels(rows, (ACCEPT_FLOOR, "1.00"), (high, f"{high:.2f}"), line))


def _nothing_yet(r: Reading, rows: int) -> list[Line]:
    """Instead of an axis without a point on it: why there is none."""
    if r.sample is None:
        why = _unread(r.server)
    elif r.sample.is_idle:
        why = "idle: no accept length in this span"
    else:
        why = str(r.sample.reason("accept_length"))
    first: Line = [(" " * GUTTER, ""), UNKNOWN, (f" {why}", "faint")]
    return [first, *([] for _ in range(rows - 1))]


def rate_plot(scene: Scene, r: Reading, cells: int, rows: int) -> list[Line]:
    """Tokens per second from 0, with the baseline's."""
    key = server_key(r.host, r.server.name, "tokens_per_s")
    values = scene.history.values(key, scene.span, scene.now_s, cells - GUTTER)
    base = r.baseline
    high = rate_top(values, base)
    plot = area(values, rows, low=0, high=high, tone="data2", line_at=base)
    line = None if base is None else (base, figures.rate(base))
    return axis(plot, labels(rows, (0, "0"), (high, f"{high:,.0f}"), line))


def counts(sample: ServerSample | None) -> list[Line]:
    """What the server is working on: whole items, the most telling first."""
    if sample is None:
        return []
    usage = None if figures.known(sample.token_usage) is None else (sample.token_usage or 0) * 100
    items: list[Line] = [
        [("running ", "dim"), _strong(figures.fixed(sample.running_requests))],
        [("queued ", "dim"), _strong(figures.fixed(sample.queued_requests))],
        [("KV ", "dim"), _strong(figures.fixed(usage, 1)), ("%", "dim")],
    ]
    if sample.ttft_p50_s is not None:
        items.append([("TTFT p50 ", "dim"), *numbers.milliseconds(sample.ttft_p50_s)])
    if sample.ttft_p95_s is not None:
        items.append([("p95 ", "dim"), *numbers.milliseconds(sample.ttft_p95_s)])
    if sample.source != NO_SOURCE:
        items.append([("from ", "faint"), (sample.source, "faint")])
    return items


def _strong(text: str) -> tuple[str, str]:
    return UNKNOWN if text == UNKNOWN[0] else (text, "strong")
