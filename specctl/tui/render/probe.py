"""A probe: what it would send, how far it is, what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.training import warm_words
from specctl.tui.render import numbers
from specctl.tui.render.chrome import hints
from specctl.tui.render.glyphs import SPINNER
from specctl.tui.render.lines import (
    UNKNOWN,
    Drawing,
    Line,
    clip,
    middle,
    picked,
    row,
    safe,
    spread,
    wrap,
)
from specctl.tui.render.plots import bar
from specctl.tui.services import COLD

if TYPE_CHECKING:
    from specctl.domain.events import ProbeProgressed
    from specctl.domain.probe import ProbeResult
    from specctl.tui.editor import Editor
    from specctl.tui.scene import Scene
    from specctl.tui.services import ProbePlan, Reference

LABEL_CELLS = 18
MOST_COMPLETIONS = 4


@dataclass(frozen=True, slots=True)
class ProbeForm:
    """Where the user is in the dialog."""

    is_training: bool = False
    """At the training set; else at the number of requests."""

    editor: Editor | None = None
    """The training set being typed."""


BEGINNING = ProbeForm()


def _title(plan: ProbePlan) -> str:
    return f"Probe {plan.host}/{plan.server}"


def _pair(name: str, *value: tuple[str, str]) -> Line:
    return [*row(([(name, "dim")], LABEL_CELLS)), *value]


def draw_probe_plan(plan: ProbePlan, cells: int, rows: int, form: ProbeForm = BEGINNING) -> Drawing:
    """What would be sent, before it is."""
    body = probe_plan_lines(plan, cells, form)
    body += [[] for _ in range(rows - len(body) - 1)]
    button = ("  Probe  ", "faint" if plan.off[0] or form.editor else "chosen")
    body.append(spread(hints(_keys(plan, form)), [button], cells))
    return Drawing(_title(plan), body, [("nothing was sent yet", "dim")])


def probe_plan_lines(plan: ProbePlan, cells: int, form: ProbeForm) -> list[Line]:
    """All that stands above the keys."""
    requests = _pair(
        "requests", (f"{plan.requests:,}", "strong"), (f", {plan.concurrency} at a time", "dim")
    )
    body: list[Line] = [
        _pair("workload", (plan.workload, "strong")),
        requests if form.is_training else picked(requests, cells),
        *_training(plan, cells, form),
    ]
    words, hint = plan.off
    if words:
        body += [[("✗ " if i == 0 else "  ", "bad"), (text, "text")]
                 for i, text in enumerate(wrap(words, cells - 2))]  # fmt: skip
        body += [[("  ", ""), (text, "dim")] for text in wrap(hint, cells - 2)]
    if plan.expected_s is not None:
        about = [("about ", "dim"), (figures.about(plan.expected_s), "text")]
        body.append(_pair("takes", *about, (f", {plan.expected_words}", "dim")))
    elif plan.expected_words:
        body += _notes("takes", plan.expected_words, cells)
    for note in plan.notes:
        body += [
            [("▲ " if i == 0 else "  ", "warn"), (text, "text")]
            for i, text in enumerate(wrap(note, cells - 2))
        ]
    return body


def _training(plan: ProbePlan, cells: int, form: ProbeForm) -> list[Line]:
    """What is sent before; while it is typed, how it could go on."""
    name, room = "trained on", cells - LABEL_CELLS
    if form.editor is None:
        chosen = plan.trained_on or COLD
        line = _pair(name, (middle(safe(chosen), room), "strong" if plan.trained_on else "faint"))
        lines = [picked(line, cells) if form.is_training else line]
        return lines + (_notes("", plan.training_words, cells) if plan.training_words else [])
    found = plan.completions(form.editor.text)
    out = [picked(_pair(name, *clip(form.editor.line(), room)), cells)]
    out += [_pair("", (middle(safe(one), room), "dim")) for one in found[:MOST_COMPLETIONS]]
    if len(found) > MOST_COMPLETIONS:
        out.append(_pair("", (f"{len(found) - MOST_COMPLETIONS} more", "faint")))
    return out


def _notes(name: str, words: str, cells: int) -> list[Line]:
    lines = wrap(words, cells - LABEL_CELLS)
    return [_pair(name if i == 0 else "", (text, "text")) for i, text in enumerate(lines)]


def _keys(plan: ProbePlan, form: ProbeForm) -> list[tuple[str, str]]:
    if form.editor is not None:
        return [("tab", "completes"), ("enter", "keeps it"), ("esc", "gives it up")]
    turn = [("← →", "fewer, more requests")] if plan.most else []
    if form.is_training:
        turn = [("← →", "turn it, or type")]
    return [("enter", "probes"), *turn, ("↑ ↓", "settings"), ("esc", "cancels")]


def draw_probing(
    scene: Scene, plan: ProbePlan, progress: ProbeProgressed | None, cells: int, began_s: float
) -> Drawing:
    """A probe on its way."""
    spin = SPINNER[int(scene.clock_s * 4) % 4]
    words = progress.words if progress else "beginning"
    body: list[Line] = [[(spin + " ", "data"), (words, "bright")], []]
    if progress is not None and progress.total:
        share = progress.done / progress.total
        body.append(
            [
                *bar(share, min(50, cells - 14)),
                (f" {progress.done:,} of {progress.total:,}", "text"),
            ]
        )
    if progress is not None and progress.remaining_s:
        body.append(
            [("about ", "dim"), (figures.about(progress.remaining_s), "text"), (" left", "dim")]
        )
    body += [[], [("esc", "key"), (" leaves this dialog; the probe goes on", "dim")]]
    return Drawing(_title(plan), body, [(figures.duration(scene.clock_s - began_s), "text")])


def draw_failure(plan: ProbePlan, words: str, hint: str, cells: int) -> Drawing:
    """A probe that could not be done."""
    body: list[Line] = [
        [("✗ " if i == 0 else "  ", "bad"), (text, "bright")]
        for i, text in enumerate(wrap(words, cells - 2))
    ]
    body += [[], *[[("  ", ""), (text, "dim")] for text in wrap(hint, cells - 2)]]
    return Drawing(_title(plan), body, [("no result", "bad")], hints([("esc", "closes")]))


def draw_result(
    plan: ProbePlan, result: ProbeResult, reference: Reference, cells: int, rows: int
) -> Drawing:
    """What a probe found: the answer first, then its numbers and what they rest on."""
    body = [
        _answer(result, reference),
        *_open_loop(result, cells),
        [],
        *_numbers(result, reference),
    ]
    if result.histogram and len(body) + len(result.histogram) + 2 <= rows:
        body += [[], *_histogram(result.histogram, cells)]
    for words in result.notes:
        body += [[("· ", "faint"), (text, "dim")] for text in wrap(words, cells - 2)[:2]]
    state: Line = [("void", "warnb")] if result.void else [("measured", "ok")]
    if words := warm_words(result.trained_on):
        state.append((words, "dim"))
    return Drawing(_title(plan), body[:rows], state, hints([("y", "copy"), ("esc", "closes")]))


def _answer(result: ProbeResult, reference: Reference) -> Line:
    if result.void:
        return [("▲ ", "warn"), ("Not to be used: ", "warnb"), (result.void[0], "text")]
    if result.tokens_per_s is None:
        reason = result.missing.get("tokens_per_s")
        return [
            ("✗ ", "bad"),
            ("No rate was measured", "bright"),
            (f": {reason}" if reason else "", "text"),
        ]
    out: Line = [("● ", "ok"), (f"{figures.rate(result.tokens_per_s)} tok/s", "bright")]
    ratio = figures.share(result.tokens_per_s, reference.tokens_per_s)
    if ratio is not None:
        tone = "okb" if ratio >= 1 else "warnb"
        out += [
            ("  ", ""),
            (f"{ratio:.2f}×", tone),
            (f" of baseline {figures.rate(reference.tokens_per_s)}", "dim"),
        ]
    return out


def _open_loop(result: ProbeResult, cells: int) -> list[Line]:
    """Whether a server keeps up with the rate that was asked for, and at which latency."""
    found = result.open_loop
    if found is None:
        return []
    mark: dict[bool | None, Line] = {
        True: [("● ", "ok"), ("It keeps up", "bright")],
        False: [("▲ ", "warn"), ("It cannot keep up", "warnb")],
        None: [("· ", "faint"), ("Whether it keeps up is not known", "text")],
    }
    achieved, offered = (
        figures.fixed(found.achieved_per_s, 2),
        figures.fixed(found.offered_per_s, 2),
    )
    rates = f": {achieved} answers of {offered} requests a second"
    out: list[Line] = [[*mark[found.keeps_up], (rates, "text")]]
    out += [[("  ", ""), (text, "dim")] for text in wrap(found.pace, cells - 2) if found.pace]
    latency = numbers.milliseconds(found.e2e_p50_s), numbers.milliseconds(found.e2e_p95_s)
    return [*out, _pair("latency p50 p95", *latency[0], ("  ", ""), *latency[1])]


def _numbers(result: ProbeResult, reference: Reference) -> list[Line]:
    failed = sum(r.error is not None for r in result.requests)
    total = len(result.requests)
    served: Line = [(f"{total - failed:,}", "strong"), (f" of {total:,}", "dim")]
    if failed:
        first = next(r.error for r in result.requests if r.error)
        served.append((f"  {failed} failed: {first}", "bad"))
    return [
        _pair(
            "accept length",
            *_known(result, "accept_length", numbers.accept(result.accept_length, reference.even)),
        ),
        _pair("step", *_known(result, "step_s", numbers.milliseconds(result.step_s))),
        _pair(
            "TTFT p50 p95",
            *numbers.milliseconds(result.ttft_p50_s),
            ("  ", ""),
            *numbers.milliseconds(result.ttft_p95_s),
        ),
        _pair(
            "gap p50 p95",
            *numbers.milliseconds(result.inter_token_p50_s),
            ("  ", ""),
            *numbers.milliseconds(result.inter_token_p95_s),
        ),
        _pair(
            "one user sees",
            (figures.rate(result.tokens_per_s_per_request), "strong"),
            (" tok/s", "dim"),
        ),
        _pair("energy", *_known(result, "energy_per_token_j", _energy(result))),
        _pair("requests", *served),
        _pair("cached tokens", (figures.fixed(result.cached_tokens), "text")),
    ]


def _energy(result: ProbeResult) -> Line:
    if result.energy_per_token_j is None:
        return [UNKNOWN]
    return [(f"{result.energy_per_token_j:.3g}", "strong"), (" J/token", "dim")]


def _known(result: ProbeResult, name: str, line: Line) -> Line:
    if line != [UNKNOWN]:
        return line
    reason = result.missing.get(name)
    return [UNKNOWN, (f"  {reason}", "faint")] if reason else line


def _histogram(histogram: tuple[int, ...], cells: int) -> list[Line]:
    steps = sum(histogram)
    out: list[Line] = [[("DRAFTS ACCEPTED PER STEP", "faint")]]
    for accepted, count in enumerate(histogram):
        share = count / steps if steps else None
        out.append(
            [
                (f"{accepted:>2}  ", "dim"),
                *bar(share, min(40, cells - 22)),
                (f"{figures.percent(share):>6}", "text"),
                (f"{count:>8,}", "dim"),
            ]
        )
    return out
