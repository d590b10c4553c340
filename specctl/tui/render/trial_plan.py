"""A trial before it begins: what it is asked as, what it would do, and the buttons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.tui.asked import SETTINGS
from specctl.tui.render.chrome import hints
from specctl.tui.render.confirm import Answer, Question, draw_question
from specctl.tui.render.lines import (
    Drawing,
    Line,
    clip,
    error_lines,
    middle,
    picked,
    safe,
    width,
    wrap,
)

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk
    from specctl.tui.editor import Editor
    from specctl.tui.scene import Scene

NAME_CELLS = 14
MOST_COMPLETIONS = 4
TYPED_ONLY = {"over": "  type num-steps=1,3,5"}
"""Settings without values to turn to."""


@dataclass(frozen=True, slots=True)
class Form:
    """Where the user is in the dialog."""

    at: int = len(SETTINGS)
    """The setting under the cursor; past the last one are the buttons."""

    answer: Answer = field(default_factory=Answer)
    editor: Editor | None = None
    """The value being typed."""

    wrong: tuple[str, str] = ("", "")
    """Why the value that was typed cannot be taken, and what to write."""


def question_of(
    scene: Scene,
    ask: TrialAsk | None,
    proposal: Proposal | ScreeningProposal,
    form: Form,
    cells: int,
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
    what = "screening" if ask is not None and ask.is_screened else "trial"
    return Question(
        body,
        "Go on with it" if ask is None else f"Begin the {what}",
        needs_typed=proposal.plan.host if in_use else None,
        off=off,
    )


def requests_running(scene: Scene, proposal: Proposal | ScreeningProposal) -> int:
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
        label: Line = [(f"{name:<{NAME_CELLS}}", "dim")]
        if index != form.at:
            tone = "faint" if ask.words(name) in {"none", "no", "no limit"} else "strong"
            out.append(clip([*label, (ask.words(name), tone)], cells))
        elif form.editor is None:
            out.append(picked(_chosen(ask, name, label, cells), cells))
        else:
            out += _edited(ask, name, form.editor, label, cells)
            out += _wrong(form, cells)
    return [*out, []]


def _chosen(ask: TrialAsk, name: str, label: Line, cells: int) -> Line:
    """The setting under the cursor, and what can be done to it."""
    keys: Line = [("  ← →", "key"), (" turn it, or type", "dim")]
    if name in TYPED_ONLY:
        keys = [(TYPED_ONLY[name], "dim")]
    room = cells - NAME_CELLS - width(keys)
    return [*label, *clip([(ask.words(name), "strong")], room), *keys]


def _edited(ask: TrialAsk, name: str, editor: Editor, label: Line, cells: int) -> list[Line]:
    """The setting that is being typed, and how it could go on."""
    found = ask.completions(name, editor.text)
    keys: Line = [
        ("  enter", "key"),
        (" keeps it  ", "dim"),
        ("esc", "key"),
        (" gives it up", "dim"),
    ]
    if found:
        keys = [("  tab", "key"), (" completes", "dim"), *keys]
    out = [picked([*label, *clip(editor.line(), cells - NAME_CELLS - width(keys)), *keys], cells)]
    shown = found[:MOST_COMPLETIONS]
    gap = " " * NAME_CELLS
    out += [[(gap, ""), (middle(safe(one), cells - NAME_CELLS), "dim")] for one in shown]
    if len(found) > len(shown):
        out.append([(gap, ""), (f"{len(found) - len(shown)} more", "faint")])
    return out


def _wrong(form: Form, cells: int) -> list[Line]:
    words, hint = form.wrong
    if not words:
        return []
    texts = [*wrap(words, cells - NAME_CELLS - 2), *wrap(hint, cells - NAME_CELLS - 2)]
    return [[(" " * NAME_CELLS, ""), ("✗ " if i == 0 else "  ", "bad"), (text, "text")]
            for i, text in enumerate(texts)]  # fmt: skip


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
    pairs = [("↑ ↓", "settings"), ("← →", "turn, or type"), ("enter", "to the buttons")]
    note = hints(pairs if form.at < len(SETTINGS) else pairs[:1])
    return Drawing(title, drawing.body, drawing.summary, note)
