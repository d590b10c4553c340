"""A trial before it begins: what it is asked as, what it would do, and the buttons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.tui.render.chrome import hints
from specctl.tui.render.confirm import Answer, Question, draw_question
from specctl.tui.render.lines import Drawing, Line, error_lines, picked, wrap

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.services.trial_plan import Proposal
    from specctl.tui.scene import Scene
    from specctl.tui.trials import TrialAsk

SETTINGS = ("baseline", "workload", "prompts", "concurrency", "launches", "margin")
NAME_CELLS = 14


@dataclass(frozen=True, slots=True)
class Form:
    """Where the user is in the dialog."""

    at: int = len(SETTINGS)
    """The setting under the cursor; past the last one are the buttons."""

    answer: Answer = field(default_factory=Answer)


def setting_words(ask: TrialAsk, name: str) -> str:
    """A setting's value."""
    return {
        "baseline": ask.baseline,
        "workload": ask.workload,
        "prompts": "all of it" if ask.prompts is None else f"the first {ask.prompts}",
        "concurrency": f"{ask.concurrency}",
        "launches": f"{ask.launches} of each arm at most",
        "margin": f"±{ask.margin:.0%}",
    }[name]


def question_of(
    scene: Scene, ask: TrialAsk | None, proposal: Proposal, form: Form, cells: int
) -> Question:
    """All of it; servers in use have to be named to make way."""
    body: list[Line] = [*_settings(ask, form, cells), [("PLAN", "faint")]]
    for number, words in enumerate(proposal.words, start=1):
        for i, part in enumerate(wrap(words, max(10, cells - 4))):
            body.append([(f"{number:>2}  " if i == 0 else "    ", "dim"), (part, "text")])
    in_use = requests_running(scene, proposal)
    if in_use:
        noun = "request is" if in_use == 1 else "requests are"
        words = f"{in_use} {noun} running on what makes way."
        body += [[], [("▲   ", "warn"), (words, "text")]]
    for check in proposal.refusals:
        body += [[], *_refusal(check.words, check.next_step, cells)]
    off = "Nothing can be begun." if proposal.refusals else ""
    return Question(
        body,
        "Go on with it" if ask is None else "Begin the trial",
        needs_typed=proposal.plan.host if in_use else None,
        off=off,
    )


def requests_running(scene: Scene, proposal: Proposal) -> int:
    """On the servers that would be stopped, as far as known."""
    samples = scene.state.host(proposal.plan.host).server_samples
    found = [
        samples.get(former.server.name) for former in proposal.formers if former.server is not None
    ]
    return sum(sample.running_requests or 0 for sample in found if sample is not None)


def _settings(ask: TrialAsk | None, form: Form, cells: int) -> list[Line]:
    if ask is None:
        return []
    out: list[Line] = []
    for index, name in enumerate(SETTINGS):
        value = setting_words(ask, name)
        line: Line = [(f"{name:<{NAME_CELLS}}", "dim"), (value, "strong")]
        if index == form.at:
            line = picked([*line, ("  ← →", "key"), (" changes it", "dim")], cells)
        out.append(line)
    return [*out, []]


def _refusal(words: str, step: str, cells: int) -> list[Line]:
    parts = wrap(words, max(10, cells - 4))
    out: list[Line] = [[("✗   " if i == 0 else "    ", "bad"), (t, "text")]
                       for i, t in enumerate(parts)]  # fmt: skip
    return [*out, *[[("    ", ""), (part, "dim")] for part in wrap(step, max(10, cells - 4))]]


def draw_waiting(
    title: str, ask: TrialAsk | None, form: Form, waits_for: SpecctlError | str, cells: int
) -> Drawing:
    """While the plan is made, or where none can be: words, or the error."""
    body = _settings(ask, form, cells)
    if isinstance(waits_for, str):
        body.append([("◐ ", "data"), (waits_for, "text")])
    else:
        body += error_lines(waits_for, cells)
    note = hints([("↑ ↓", "settings"), ("esc", "cancel")])
    return Drawing(title, body, [("nothing has been done yet", "dim")], note)


def draw_form(title: str, question: Question, form: Form, cells: int, rows: int) -> Drawing:
    """Settings, plan, buttons."""
    drawing = draw_question(title, question, form.answer, cells, rows)
    pairs = [("↑ ↓", "settings"), ("← →", "change"), ("enter", "to the buttons")]
    note = hints(pairs if form.at < len(SETTINGS) else pairs[:1])
    return Drawing(title, drawing.body, drawing.summary, note)
