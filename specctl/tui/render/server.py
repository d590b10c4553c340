"""One server: its state with the evidence, who started it, and its profile against what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from specctl.domain import figures
from specctl.domain.server import Milestone, ServerState
from specctl.tui.render import numbers
from specctl.tui.render.lines import UNKNOWN, Drawing, Line, clip, few, middle, row, width, wrap
from specctl.tui.render.plots import bar
from specctl.tui.render.standing import gpu_span, server_standing, short_model
from specctl.tui.services import Argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.tui.scene import Scene
    from specctl.tui.services import ServerDetails

LABEL_CELLS = 9
SHORTEST_TABLE = 3
FACT_ROWS = 2
SPECULATIVE = "--speculative-"


def draw_server(scene: Scene, host: str, server: Server | None, cells: int, rows: int) -> Drawing:
    """Everything about one server that is not a rate."""
    state = scene.state.host(host)
    if server is None:
        return Drawing("Server", _none(scene, host, state, cells))
    stale = scene.is_stale(host)
    details = scene.details(host, server)
    body = [*state_lines(scene, host, server, cells), *_facts(scene, server, details, cells)]
    if server.state is ServerState.STARTING:
        body += [[], *milestone_lines(server.milestone, max(0, rows - len(body) - 1))]
    else:
        body += _argument_lines(server, details, cells, rows - len(body))
        body += _position_lines(details, rows - len(body))
    return Drawing(_title(state, server), body, _summary(server), _note(details), is_stale=stale)


def _title(state: HostState, server: Server) -> str:
    servers = state.servers or ()
    if len(servers) <= 1:
        return "Server"
    at = next((i for i, s in enumerate(servers, 1) if s.name == server.name), 1)
    return f"Server {at} of {len(servers)}"


def _summary(server: Server) -> Line:
    return [(f"SGLang {server.version}", "dim")] if server.version else []


def _note(details: ServerDetails) -> Line:
    badge = drift_badge(details)
    return [*badge, ("  ", ""), ("d", "key"), (" explain", "dim")] if badge else []


def drift_badge(details: ServerDetails) -> Line:
    """`≠ 1 drift  2 rewritten`: what a new start would change, what the engine changes alike."""
    drift = details.drift
    drifted = len(drift.drifted) if drift else sum(is_drift(a) for a in details.arguments)
    out: Line = [("≠ ", "warn"), (f"{drifted} drift", "dim")] if drifted else []
    if drift is not None and drift.rewritten:
        out += [("  ", "")] if out else []
        out.append((f"{len(drift.rewritten)} rewritten", "dim"))
    return out


def is_drift(argument: Argument) -> bool:
    """The running value differs from the one asked for, and both are known."""
    return None not in {argument.wanted, argument.running} and argument.wanted != argument.running


def _none(scene: Scene, host: str, state: HostState, cells: int) -> list[Line]:
    if state.servers is None:
        return [[UNKNOWN, ("  servers were not looked for yet", "faint")]]
    out: list[Line] = [[("· ", "faint"), (f"No server on {host}.", "strong")]]
    if scene.is_read_only(host):
        return [*out, [("Start is off: the host is read-only.", "dim")]]
    if scene.is_open(host):
        out.append([("s", "key"), (" starts a profile.", "dim")])
    if state.activity:
        out.append([("◐ ", "data"), (middle(state.activity, cells - 2), "text")])
    return out


def state_lines(scene: Scene, host: str, server: Server, cells: int) -> list[Line]:
    """Glyph, word, and the evidence for it: beside the word, or under it when it is long."""
    line = state_line(scene, host, server)
    words = "" if scene.is_stale(host) else server.why
    if not words:
        return [line]
    if width(line) + 2 + cell_len(words) <= cells:
        return [[*line, ("  " + words, "dim")]]
    return [line, *[[("  " + text, "dim")] for text in wrap(words, cells - 2)[:3]]]


def state_line(scene: Scene, host: str, server: Server) -> Line:
    """Glyph and word; what is old says when it was seen."""
    if scene.is_stale(host):
        at_s = scene.state.host(host).sample_at_s or scene.now_s
        seen = figures.clock(at_s, scene.offset_s)
        word = f"was {server.state.value}"
        return [("◌ ", "warn"), (word, "strong"), (f"  last seen {seen}", "dim")]
    standing = server_standing(server, scene.state.host(host).activity)
    glyph, token = standing.glyph
    out: Line = [(glyph + " ", token), (standing.word, "strong")]
    if server.state in {ServerState.FOREIGN, ServerState.STARTING} and standing.rest:
        out.append((f" {standing.rest}", "dim"))
    return out


def _facts(scene: Scene, server: Server, details: ServerDetails, cells: int) -> list[Line]:
    room = cells - LABEL_CELLS - 1
    up = details.started_at_s
    process: Line = [UNKNOWN]
    if server.identity is not None:
        process = [(str(server.identity.pid), "text")]
        process += [(" port ", "dim"), numbers.number(figures.fixed(server.port))]
    if up is not None:
        process += [(" up ", "dim"), (figures.spoken(scene.now_s - up), "text")]
    profile: Line = (
        [UNKNOWN] if server.profile is None else [(middle(server.profile, room - 8), "text")]
    )
    if details.revision:
        profile.append((" " + details.revision, "faint"))
    model: Line = [UNKNOWN] if server.model is None else [(middle(server.model, room), "text")]
    out = [
        _fact("profile", profile, room),
        _fact("model", model, room),
        _fact("process", process, room),
    ]
    if server.gpus:
        out.append(_fact("GPUs", [(gpu_span(server.gpus), "text")], room))
    out.append(_fact("launch", _launch(server), room))
    return out


def _fact(name: str, value: Line, room: int) -> Line:
    return row(([(name, "dim")], LABEL_CELLS), (value, room), gap=1)


def _launch(server: Server) -> Line:
    if server.is_multi_node:
        return [("one rank of a server over several hosts", "text")]
    if not server.is_ours:
        words: Line = [("not by specctl", "text")]
        return [*words, ("  ", ""), ("a", "key"), (" adopts it", "dim")]
    out: Line = [(server.launch_id or "adopted", "text")]
    if server.launched_by:
        out += [(" by ", "dim"), (server.launched_by, "text")]
    return out


def milestone_lines(reached: Milestone | None, rows: int) -> list[Line]:
    """The way to ready: what was passed, what it is at, what is left."""
    order = list(Milestone)
    at = -1 if reached is None else order.index(reached)
    out: list[Line] = []
    for i, milestone in enumerate(order):
        if i < at:
            out.append([("✓ ", "ok"), (milestone.value, "text")])
        elif i == at:
            out.append([("◐ ", "data"), (milestone.value, "strong")])
        else:
            out.append([("· ", "faint"), (milestone.value, "faint")])
    return out[-max(0, rows) :] if rows < len(out) else out


def _argument_lines(server: Server, details: ServerDetails, cells: int, rows: int) -> list[Line]:
    arguments = details.arguments or speculative_arguments(server.argv)
    if not arguments or rows < SHORTEST_TABLE:
        return []
    name = min(17, max(len(a.name) for a in arguments))
    compared = any(a.wanted is not None for a in arguments)
    wanted = 9 if compared else 0
    room = cells - name - wanted - 4
    head = row(
        ([], name),
        ([("PROFILE", "faint")] if compared else [], wanted),
        ([("  RUNNING", "faint")], room + 2),
        gap=1,
    )
    ordered = (
        sorted(arguments, key=lambda a: not is_drift(a)) if len(arguments) > rows - 2 else arguments
    )
    lines = [_argument(a, name, wanted, room) for a in ordered[: rows - 2]]
    return [[], head, *lines]


def _argument(argument: Argument, name: int, wanted: int, room: int) -> Line:
    drift = is_drift(argument)
    running = argument.running
    value: Line = [("≠ ", "warn") if drift else ("  ", "")]
    if running is None:
        value.append(UNKNOWN)
    else:
        value.append((middle(running, room), "warnb" if drift else "text"))
    if drift and argument.who and len(running or "") + len(argument.who) + 1 <= room:
        value.append((" " + argument.who, "dim"))
    return row(
        ([(middle(argument.name, name), "dim")], name),
        ([(middle(argument.wanted or "", wanted), "text")], wanted),
        (value, room + 2),
        gap=1,
    )


def speculative_arguments(argv: Sequence[str]) -> tuple[Argument, ...]:
    """The speculative arguments of a command line, as it was typed."""
    out: list[Argument] = []
    for i, word in enumerate(argv):
        if not word.startswith(SPECULATIVE):
            continue
        name, equals, value = word[len(SPECULATIVE) :].partition("=")
        if not equals:
            following = argv[i + 1] if i + 1 < len(argv) else "--"
            value = "on" if following.startswith("--") else following
        out.append(Argument(name, None, value))
    return tuple(out)


def _position_lines(details: ServerDetails, rows: int) -> list[Line]:
    shares = details.accepted_by_position
    if not shares or rows < len(shares[:5]) + 2:
        return []
    out: list[Line] = [[], [("ACCEPTED BY POSITION", "faint")]]
    for i, value in enumerate(shares[:5], 1):
        out.append([(f"{i}  ", "dim"), *bar(value, 14), (f"{value:5.0%}", "text")])
    return out


def draw_short_server(
    scene: Scene, host: str, server: Server | None, cells: int, rows: int
) -> Drawing:
    """The server in the shared slot of a short screen."""
    state = scene.state.host(host)
    if server is None:
        return Drawing("Server", _none(scene, host, state, cells)[:rows])
    details = scene.details(host, server)
    first = state_line(scene, host, server)
    items: list[Line] = [[(server.profile or short_model(server.model) or server.name, "text")]]
    if server.identity is not None:
        items.append([("pid ", "dim"), (str(server.identity.pid), "text")])
    items.append([("port ", "dim"), numbers.number(figures.fixed(server.port))])
    if details.started_at_s is not None:
        items.append([("up ", "dim"), (figures.spoken(scene.now_s - details.started_at_s), "text")])
    body = [
        [*first, ("  ", ""), *few(items, cells - width(first) - 2, gap=2)],
        few(_short_arguments(server, details), cells),
    ]
    why: list[Line] = [[(line, "dim")] for line in wrap(server.why, cells)] if server.why else []
    if server.state is ServerState.CRASHED:
        body[1:1] = why if len(why) < rows else [clip([(server.why, "dim")], cells)]
    elif rows > FACT_ROWS:
        body += why
    badge = drift_badge(details)
    return Drawing(_title(state, server), body[:rows], badge, is_stale=scene.is_stale(host))


def _short_arguments(server: Server, details: ServerDetails) -> list[Line]:
    if server.algorithm is None:
        return [[("no speculation", "dim")]]
    arguments = details.arguments or speculative_arguments(server.argv)
    out: list[Line] = [[(server.algorithm, "text")]]
    for a in sorted(arguments, key=lambda a: not is_drift(a)):
        if is_drift(a):
            out.append([("≠ ", "warn"), (f"{a.name} {a.running}, profile says {a.wanted}", "text")])
        elif a.name != "algorithm":
            out.append([(a.name + " ", "dim"), (middle(a.running or UNKNOWN[0], 24), "text")])
    return out
