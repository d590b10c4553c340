"""A plan before it is carried out: what stops, the steps, the checks, the exact command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from specctl.domain import figures
from specctl.domain.plan import Level
from specctl.facts.plan_shown import shown_plan
from specctl.tui.render import numbers
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import Drawing, Line, guard, middle, row, spread, width, wrap
from specctl.tui.render.standing import server_standing, short_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.plan import Check, Plan, Step
    from specctl.domain.server import Server
    from specctl.tui.scene import Scene

CHECK_MARKS = {
    Level.PASS: ("✓  ", "ok"),
    Level.WARN: ("▲  ", "warn"),
    Level.REFUSE: ("✗  ", "bad"),
}
STEP_CELLS = 26
VERBS = {"start": "Start", "stop": "Stop", "adopt": "Adopt", "replace": "Stop and start"}


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the user is in the dialog."""

    typed: str = ""
    on_action: bool = False
    """The button that acts is the chosen one."""

    lists_passed: bool = False
    top: int = 0


def title(plan: Plan) -> str:
    """`Start kimi-k2.5-ngram on pro6k-01`."""
    server = plan.target or (plan.stops[0] if plan.stops else None)
    what = plan.profile or (server.name if server else "")
    verb = VERBS["start" if plan.kind == "replace" else plan.kind]
    return f"{verb} {what} on {plan.host}".replace("  ", " ")


def is_allowed(plan: Plan, typed: str) -> bool:
    """Nothing refuses the plan, and what had to be typed was typed in full."""
    if plan.is_refused or not plan.steps:
        return False
    return plan.needs_typed is None or typed == plan.needs_typed


def plan_body(scene: Scene, plan: Plan, cells: int, *, lists_passed: bool) -> list[Line]:
    """The dialog's text, as long as it is."""
    blocks = [
        _stops(scene, plan, cells),
        _steps(plan, cells),
        _checks(plan, cells, lists_passed=lists_passed),
        _command(plan, cells),
    ]
    out: list[Line] = []
    for block in blocks:
        if block:
            out += [*([[]] if out else []), *block]
    return out


def draw_plan(scene: Scene, plan: Plan, cells: int, rows: int, choice: Choice) -> Drawing:
    """The dialog: its text above, the buttons always in the last row."""
    body = plan_body(scene, plan, cells, lists_passed=choice.lists_passed)
    bottom = [*_typed(plan, choice.typed), [], buttons(plan, choice, cells)]
    room = max(1, rows - len(bottom) - 1)
    top = min(choice.top, max(0, len(body) - room))
    shown = body[top : top + room]
    shown += [[] for _ in range(room - len(shown))]
    note: Line = []
    if len(body) > room:
        note = [(f"{top + 1}-{top + room} of {len(body)}  ", "dim"), *hints([("↓ ↑", "scroll")])]
    summary: Line = [("nothing has been done yet", "dim")]
    return Drawing(title(plan), [*shown, [], *bottom], summary, note)


def last_top(scene: Scene, plan: Plan, cells: int, rows: int, choice: Choice) -> int:
    """How far down the text can be scrolled."""
    return max(0, natural_rows(scene, plan, cells, choice) - rows)


def natural_rows(scene: Scene, plan: Plan, cells: int, choice: Choice) -> int:
    """Rows the dialog needs to show everything."""
    body = plan_body(scene, plan, cells, lists_passed=choice.lists_passed)
    return len(body) + len(_typed(plan, choice.typed)) + 3


def _section(name: str, right: Line, cells: int) -> Line:
    return spread([(name, "faint")], right, cells)


def _stops(scene: Scene, plan: Plan, cells: int) -> list[Line]:
    if not plan.stops:
        return []
    out: list[Line] = [_section("STOPS", [], cells)]
    for server in plan.stops:
        out += _stopped(scene, plan.host, server, cells)
    return out


def _stopped(scene: Scene, host: str, server: Server, cells: int) -> list[Line]:
    seen = scene.state.host(host).server(server.name)
    glyph, token = server_standing(seen or server).glyph
    line: Line = [
        (glyph + "  ", token),
        (server.profile or short_model(server.model) or server.name, "strong"),
    ]
    if server.identity is not None:
        line += [("  pid ", "dim"), (str(server.identity.pid), "text")]
    line += [("  port ", "dim"), numbers.number(figures.fixed(server.port))]
    by = server.launched_by or server.owner
    if by:
        line += [("  started by ", "dim"), (by, "text")]
    started = scene.details(host, server).started_at_s
    if started is not None:
        line += [("  up ", "dim"), (figures.spoken(scene.now_s - started), "text")]
    out = [line]
    if not server.is_ours:
        out.append([("▲  ", "warn"), ("specctl did not start it", "warnb")])
    sample = scene.state.host(host).server_samples.get(server.name)
    running = (sample.running_requests if sample else None) or 0
    noun = "request is" if running == 1 else "requests are"
    own = scene.measuring(host, server)
    if own:
        words = f"{own}: it would be spoiled"
        count = f"; {running} {noun} running" if running else ""
        out += [
            [("▲  " if i == 0 else "   ", "warn"), (text, "warnb")]
            for i, text in enumerate(wrap(words + count, cells - 3))
        ]
    elif running:
        out.append([("▲  ", "warn"), (f"{running} {noun} running on it", "warnb")])
    return out


def _steps(plan: Plan, cells: int) -> list[Line]:
    if not plan.steps:
        return [_section("STEPS", [], cells), [("Nothing to do: it is so already.", "text")]]
    total: Line = []
    if plan.expected_s is not None:
        total = [("about ", "dim"), (figures.about(plan.expected_s), "text")]
        if plan.expected_from:
            total.append((f" ({plan.expected_from})", "faint"))
    elif plan.expected_missing:
        total = [(f"unknown how long: {plan.expected_missing}", "faint")]
    out = [_section("STEPS", total, cells)]
    for n, step in enumerate(plan.steps, 1):
        out += _step(n, step, cells)
    return out


def _step(n: int, step: Step, cells: int) -> list[Line]:
    """Number, what, how, how long; `how` takes further lines when it needs them."""
    name = min(STEP_CELLS, cells // 3)
    room = cells - name - 13
    took = "" if step.expected_s is None else figures.duration(step.expected_s)
    what, how = wrap(step.words, name), wrap(step.how, room)
    return [
        row(
            ([(str(n), "faint")] if i == 0 else [], 1),
            ([(what[i], "strong")] if i < len(what) else [], name),
            ([(how[i], "dim")] if i < len(how) else [], room),
            ([(took, "text")] if i == 0 else [], 6, ">"),
        )
        for i in range(max(len(what), len(how), 1))
    ]


def _checks(plan: Plan, cells: int, *, lists_passed: bool) -> list[Line]:
    if not plan.checks:
        return []
    passed = [check for check in plan.checks if check.level is Level.PASS]
    right: Line = []
    if passed:
        word = " fold" if lists_passed else " list"
        right = [(f"{len(passed)} passed  ", "dim"), ("tab", "key"), (word, "dim")]
    out = [_section("CHECKS", right, cells)]
    shown = [*plan.refusals, *plan.warnings, *(passed if lists_passed else [])]
    for check in shown:
        out += _check(check, cells)
    return out


def _check(check: Check, cells: int) -> list[Line]:
    mark = CHECK_MARKS[check.level]
    name = middle(check.name, 18)
    refuses = check.level is Level.REFUSE
    out: list[Line] = []
    for i, text in enumerate(wrap(check.words, cells - 22)):
        left: Line = [mark if i == 0 else ("   ", ""), (text, "badb" if refuses else "text")]
        out.append(spread(left, [(name, "faint")] if i == 0 else [], cells))
    if check.level is not Level.PASS:
        out += [[("   ", ""), (text, "dim")] for text in wrap(check.next_step, cells - 3)]
    return out


def _command(plan: Plan, cells: int) -> list[Line]:
    if not plan.argv:
        return []
    plan = shown_plan(plan)
    is_typed = plan.needs_typed is not None and not plan.is_refused  # y is a letter then
    out = [_section("COMMAND", [] if is_typed else hints([("y", "copy")]), cells)]
    out += [
        [
            (name, "text"),
            ("=", "dim"),
            (middle(value, cells - len(name) - 4), "text"),
            (" \\", "faint"),
        ]
        for name, value in plan.environment.items()
    ]
    out += command_lines(plan.argv, cells)
    for secret in plan.secrets:
        words = f"secret {secret.name} goes to {secret.destination} by {secret.words}"
        out += [
            [("   " if i else "•  ", "faint"), (t, "dim")]
            for i, t in enumerate(wrap(words, cells - 3))
        ]
    return out


def command_lines(argv: Sequence[str], cells: int) -> list[Line]:
    """A command over several lines: options dim, values plain, speculation bright."""
    out: list[Line] = []
    line: Line = []
    for group in _options(argv):
        if line and width(line) + width(group) + 3 > cells:
            out.append([*line, (" \\", "faint")])
            line = [("  ", "")]
        line += [*([(" ", "")] if line and line[-1][0].strip() else []), *group]
    return [guard(part) for part in [*out, line]]


def _options(argv: Sequence[str]) -> list[Line]:
    """The words grouped so that an option stays with its values."""
    groups: list[Line] = []
    tone = "text"
    for word in argv:
        if word.startswith("--"):
            tone = "strong" if word.startswith("--speculative") else "text"
            groups.append([(word, "dim")])
        elif groups and groups[-1][0][0].startswith("--"):
            groups[-1] = [*groups[-1], (" " + word, tone)]
        else:
            groups.append([(word, "text")])
    return groups


def _typed(plan: Plan, typed: str) -> list[Line]:
    """Why something has to be typed, and the field for it."""
    if plan.needs_typed is None or plan.is_refused or not plan.steps:
        return []
    room = max(cell_len(plan.needs_typed) + 4, 20)
    shown = middle(typed, room - 2)
    rest = " " * (room - 2 - cell_len(shown))
    field: Line = [
        (f" {shown}", "strong on panel"),
        ("▏", "accent on panel"),
        (rest, "text on panel"),
    ]
    why: Line = [("▲  ", "warn"), (plan.why_typed, "text")] if plan.why_typed else []
    ask: Line = [
        ("Type ", "text"),
        (plan.needs_typed, "bright"),
        (" to allow it: ", "text"),
        *field,
    ]
    return [why, ask] if why else [ask]


def buttons(plan: Plan, choice: Choice, cells: int) -> Line:
    """Cancel and the action; the chosen one is reversed, one that is off is struck."""
    if not plan.steps:
        return spread([], [("  Close  esc  ", "chosen")], cells)
    if plan.refusals:
        others = f" (and {more} more)" if (more := len(plan.refusals) - 1) else ""
        reason: Line = [("✗ ", "bad"), (f"Refused{others}: {plan.refusals[0].words}", "text")]
        close: Line = [("  Close  esc  ", "chosen")]
        return spread(reason, close, cells)
    label = f"  {VERBS[plan.kind]}  "
    allowed = is_allowed(plan, choice.typed)
    act = "dim on panel" if not allowed else "chosen" if choice.on_action else "button on panel"
    cancel = "button on panel" if choice.on_action and allowed else "chosen"
    enter: Line = hints([("← →", "choose"), ("enter", "do it")])
    return spread(enter, [("  Cancel  esc  ", cancel), ("   ", ""), (label, act)], cells)
