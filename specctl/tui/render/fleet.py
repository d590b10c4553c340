"""The table of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.tui.render import numbers
from specctl.tui.render.glyphs import ORDER
from specctl.tui.render.lines import UNKNOWN, Drawing, Line, middle, picked, row
from specctl.tui.render.plots import spark
from specctl.tui.render.standing import (
    Standing,
    gpu_words,
    host_standing,
    memory_share,
    worst,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.sample import GpuSample, ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.tui.scene import Scene

IDLE_PERCENT = 5
UTIL_CELLS = 8
SHORTEST_REST = 3


@dataclass(frozen=True, slots=True)
class HostRow:
    """What a row of the table is drawn from."""

    name: str
    host: HostState
    standing: Standing
    server: Server | None
    sample: ServerSample | None
    even: float | None
    warnings: int
    errors: int
    age_s: float | None

    @property
    def is_stale(self) -> bool:
        """Its values are old."""
        return self.standing.state == "stale" and self.host.sample is not None


@dataclass(frozen=True, slots=True)
class Column:
    """One column: how wide, and how early it goes when there is no room."""

    head: str
    cells: int
    wide_cells: int
    align: str
    goes: int
    """0 stays; the highest number goes first."""

    draw: Callable[[HostRow, int], Line]


def _host(r: HostRow, cells: int) -> Line:
    glyph, token = r.standing.glyph
    return [(glyph + " ", token), (middle(r.name, cells - 2), "title")]


def _gpus(r: HostRow, cells: int) -> Line:
    words = gpu_words(r.host.sample)
    return [(middle(words, cells), "dim")] if words else [UNKNOWN]


def mini(gpus: Sequence[GpuSample], *, stale: bool = False) -> Line:
    """One cell a GPU, its height the utilisation; above eight, two GPUs to a cell."""
    if not gpus:
        return [UNKNOWN]
    size = 1 if len(gpus) <= UTIL_CELLS else -(-len(gpus) // UTIL_CELLS)
    groups = [gpus[i : i + size] for i in range(0, len(gpus), size)]
    return [_mini_cell(group, stale=stale) for group in groups]


def _mini_cell(group: Sequence[GpuSample], *, stale: bool) -> tuple[str, str]:
    if any(gpu.lost for gpu in group):
        return ("✗", "bad")
    levels = [v for gpu in group if (v := figures.known(gpu.utilization_percent)) is not None]
    if not levels:
        return UNKNOWN
    highest = max(levels)
    busy = "stale" if stale else "data"
    return (spark(highest, 0, 100), "track" if highest < IDLE_PERCENT else busy)


def _util(r: HostRow, cells: int) -> Line:
    sample = r.host.sample
    if sample is None:
        return [UNKNOWN]
    if not sample.gpus and (cpu := figures.known(sample.host.cpu_percent)) is not None:
        return [(f"CPU {cpu:.0f}%"[:cells], "stale" if r.is_stale else "dim")]
    return mini(sample.gpus, stale=r.is_stale)


def _mem(r: HostRow, cells: int) -> Line:
    del cells
    used = memory_share(r.host.sample.gpus) if r.host.sample else None
    return _value(r, figures.percent(used))


def _value(r: HostRow, text: str, tone: str = "text") -> Line:
    if text == UNKNOWN[0]:
        return [UNKNOWN]
    return [(text, "stale" if r.is_stale else tone)]


def _server(r: HostRow, cells: int) -> Line:
    out: Line = [(r.standing.word, r.standing.token)]
    if r.host.simulated:
        return [*out, (" ", ""), ("SIMULATED", "badge")]
    room = cells - len(r.standing.word) - 1
    return (
        [*out, (" " + _short(r.standing.rest, room), "dim")]
        if r.standing.rest and room > SHORTEST_REST
        else out
    )


def _short(text: str, cells: int) -> str:
    """The first words that fit; a cause is told in full elsewhere."""
    if len(text) <= cells:
        return text
    cut = text[:cells].rsplit(" ", 1)[0]
    return cut if len(cut) > cells // 2 else text[: cells - 1] + "…"


def _profile(r: HostRow, cells: int) -> Line:
    name = r.server.profile if r.server else None
    return [(middle(name, cells), "dim")] if name else [UNKNOWN]


def _rate(r: HostRow, cells: int) -> Line:
    del cells
    if r.sample is not None and r.sample.is_idle:
        return [("▁", "track")]
    return _value(r, figures.rate(r.sample.tokens_per_s if r.sample else None), "strong")


def _accept(r: HostRow, cells: int) -> Line:
    del cells
    running = r.server is not None and r.server.state in {ServerState.READY, ServerState.BUSY}
    if running and r.server is not None and r.server.algorithm is None:
        return [("off", "dim")]
    if r.sample is None or r.sample.is_idle:
        return [UNKNOWN]
    line = numbers.accept(r.sample.accept_length, r.even)
    return [(text, "stale") for text, _ in line] if r.is_stale and line[0] != UNKNOWN else line


def _alerts(r: HostRow, cells: int) -> Line:
    del cells
    if r.errors:
        return [(f"✗{r.errors}", "bad")]
    return [(f"▲{r.warnings}", "warn")] if r.warnings else []


def _age(r: HostRow, cells: int) -> Line:
    del cells
    if r.age_s is None:
        return [UNKNOWN]
    return [(figures.age(r.age_s), "warn" if r.is_stale else "faint")]


def _power(r: HostRow, cells: int) -> Line:
    del cells
    gpus = r.host.sample.gpus if r.host.sample else ()
    if not gpus or any(gpu.power_w is None for gpu in gpus if not gpu.lost):
        return [UNKNOWN]
    text, unit = figures.watts(sum(gpu.power_w or 0 for gpu in gpus))
    return _value(r, f"{text}{unit}")


def _ttft(r: HostRow, cells: int) -> Line:
    del cells
    line = numbers.milliseconds(r.sample.ttft_p50_s if r.sample else None)
    return _value(r, "".join(text for text, _ in line))


def _queue(r: HostRow, cells: int) -> Line:
    del cells
    return _value(r, figures.fixed(r.sample.queued_requests if r.sample else None))


def _model(r: HostRow, cells: int) -> Line:
    model = r.server.model if r.server else None
    return [(middle(model, cells), "dim")] if model else [UNKNOWN]


def _labels(r: HostRow, cells: int) -> Line:
    words = " ".join(f"{k}={v}" for k, v in sorted(r.host.labels.items()) if k != "group")
    return [(middle(words, cells), "faint")]


COLUMNS = (
    Column("  HOST", 11, 20, "<", 0, _host),
    Column("GPUS", 14, 18, "<", 1, _gpus),
    Column("UTIL", 8, 8, "<", 0, _util),
    Column("MEM", 4, 4, ">", 3, _mem),
    Column("POWER", 6, 6, ">", 5, _power),
    Column("SERVER", 21, 24, "<", 0, _server),
    Column("PROFILE", 18, 28, "<", 2, _profile),
    Column("MODEL", 24, 24, "<", 8, _model),
    Column("TOK/S", 6, 6, ">", 0, _rate),
    Column("ACCEPT EVEN", 11, 11, "<", 0, _accept),
    Column("TTFT", 7, 7, ">", 6, _ttft),
    Column("QUEUE", 5, 5, ">", 7, _queue),
    Column("LABELS", 16, 16, "<", 9, _labels),
    Column("!", 2, 2, "<", 0, _alerts),
    Column("AGE", 3, 3, ">", 4, _age),
)
WIDE_CELLS = 150


def columns(cells: int) -> list[tuple[Column, int]]:
    """The columns that fit, each with its width."""
    wide = cells >= WIDE_CELLS
    chosen = [(c, c.wide_cells if wide else c.cells) for c in COLUMNS]
    while sum(size for _, size in chosen) + 2 * (len(chosen) - 1) > cells:
        latest = max(chosen, key=lambda item: item[0].goes)
        if latest[0].goes == 0:
            break
        chosen.remove(latest)
    return chosen


def host_row(scene: Scene, name: str) -> HostRow:
    """Everything the row of `name` shows."""
    host = scene.state.host(name)
    server = worst(host)
    alerts = scene.alerts(name).values()
    sample = host.server_samples.get(server.name) if server else None
    even = scene.details(name, server).reference.even if server else None
    errors = sum(alert.is_error for alert in alerts)
    return HostRow(
        name, host, host_standing(scene, name), server, sample, even,
        len(alerts) - errors, errors, scene.age_s(name),
    )  # fmt: skip


def arranged(scene: Scene, names: Sequence[str], order: str) -> list[tuple[str, list[str]]]:
    """Hosts by group, by name; or worst first, without groups."""
    if order == "worst":
        by_state = sorted(names, key=lambda n: (ORDER.index(host_standing(scene, n).state), n))
        return [("", by_state)] if by_state else []
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(scene.state.host(name).labels.get("group", ""), []).append(name)
    return sorted(groups.items())


def matches(scene: Scene, name: str, terms: str) -> bool:
    """Every word of a filter is found in the row, or is not where it begins with `!`."""
    r = host_row(scene, name)
    server = r.server
    labels = [f"{k}={v}" for k, v in r.host.labels.items()]
    texts = [name, r.standing.word, r.standing.rest, gpu_words(r.host.sample), *labels]
    if server is not None:
        texts += [
            server.profile or "",
            server.model or "",
            server.algorithm or "",
            server.owner or "",
        ]
    text = " ".join(texts).lower()
    return all((t[1:] not in text) if t[:1] == "!" else t in text for t in terms.lower().split())


def draw_fleet(
    scene: Scene, names: Sequence[str], cells: int, rows: int, *,
    selected: str | None, order: str = "name", terms: str = "",
) -> tuple[Drawing, list[str | None]]:  # fmt: skip
    """The table, and which host each of its lines is about."""
    chosen = columns(cells)
    head: Line = row(*[([(c.head, "faint")], size, c.align) for c, size in chosen])
    body: list[Line] = []
    owners: list[str | None] = []
    groups = arranged(scene, names, order)
    for group, members in groups:
        if group or len(groups) > 1:
            body.append(
                [("▾ ", "faint"), (group or "no group", "dim"), (f" {len(members)}", "faint")]
            )
            owners.append(None)
        for name in members:
            r = host_row(scene, name)
            line = row(*[(c.draw(r, size), size, c.align) for c, size in chosen])
            body.append(picked(line, cells) if name == selected else line)
            owners.append(name)
    top = _top(owners, selected, max(1, rows - 1))
    shown = body[top : top + max(1, rows - 1)]
    owners = [None, *owners[top : top + len(shown)]]
    cursor = owners.index(selected) if selected in owners and selected is not None else None
    summary = _summary(scene, names, order, terms)
    note: Line = []
    if len(body) > len(shown):
        note = [(f"{top + 1}-{top + len(shown)} of {len(body)}", "dim")]
    if not names:
        shown = _nothing(scene, terms)
    return Drawing("Hosts", [head, *shown], summary, note, cursor), owners


def _top(owners: Sequence[str | None], selected: str | None, rows: int) -> int:
    """The first line shown, so that the selected one is in sight."""
    if len(owners) <= rows or selected not in owners:
        return 0
    at = owners.index(selected)
    return min(max(0, at - rows // 2), len(owners) - rows)


def _summary(scene: Scene, names: Sequence[str], order: str, terms: str) -> Line:
    how = " worst first" if order == "worst" else " by name"
    if any(scene.state.host(name).labels.get("group") for name in names) and order != "worst":
        how = " by group, by name"
    out: Line = [(str(len(names)), "text"), (how, "dim")]
    return [("/" + terms, "key"), ("  ", ""), *out] if terms else out


def _nothing(scene: Scene, terms: str) -> list[Line]:
    if terms and scene.hosts:
        return [
            [],
            [
                (f"Nothing matches {terms}. ", "text"),
                ("esc", "key"),
                (" clears the filter.", "text"),
            ],
        ]
    return [
        [],
        [("No hosts in this workspace yet.", "text")],
        [
            ("specctl add SSH_ALIAS", "strong"),
            (" finds SGLang on a host and writes ", "dim"),
            ("remotes/SSH_ALIAS.toml", "text"),
            (".", "dim"),
        ],
    ]


def reachable(scene: Scene) -> tuple[int, int]:
    """How many hosts are linked, of how many."""
    up = sum(scene.state.host(name).link is Link.UP for name in scene.hosts)
    return up, len(scene.hosts)
