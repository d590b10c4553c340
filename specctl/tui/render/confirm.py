"""A question that needs a yes: what would be done, and the buttons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import Drawing, Line, middle, spread

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what has to be typed to allow it."""

    body: Sequence[Line]
    action: str
    """What the button says, e.g. `Trust it`."""

    needs_typed: str | None = None
    off: str = ""
    """Why the answer cannot be yes; empty when it can."""

    is_safe: bool = False
    """The button that acts is chosen at first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Where the user is in the dialog."""

    typed: str = ""
    on_action: bool = False
    top: int = 0


def is_allowed(question: Question, typed: str) -> bool:
    """Nothing forbids it, and what had to be typed was typed in full."""
    return not question.off and question.needs_typed in {None, typed}


def draw_question(title: str, question: Question, answer: Answer, cells: int, rows: int) -> Drawing:
    """The text above, the buttons in the last row."""
    bottom = [*_field(question, answer.typed), [], _buttons(question, answer, cells)]
    room = max(1, rows - len(bottom))
    top = min(answer.top, max(0, len(question.body) - room))
    shown = list(question.body[top : top + room])
    shown += [[] for _ in range(room - len(shown))]
    return Drawing(title, [*shown, *bottom], [("nothing has been done yet", "dim")])


def last_top(question: Question, rows: int) -> int:
    """How far down the text can be scrolled."""
    return max(0, natural_rows(question) - max(rows, len(_field(question, "")) + 3))


def natural_rows(question: Question) -> int:
    """Rows that show everything."""
    return len(question.body) + len(_field(question, "")) + 2


def _field(question: Question, typed: str) -> list[Line]:
    if question.needs_typed is None or question.off:
        return []
    room = max(cell_len(question.needs_typed) + 4, 20)
    shown = middle(typed, room - 2)
    rest = " " * (room - 2 - cell_len(shown))
    box: Line = [
        (f" {shown}", "strong on panel"),
        ("▏", "accent on panel"),
        (rest, "text on panel"),
    ]
    ask: Line = [("Type ", "text"), (question.needs_typed, "bright"), (" to allow it: ", "text")]
    return [[], [*ask, *box]]


def _buttons(question: Question, answer: Answer, cells: int) -> Line:
    """Cancel and the action; the chosen one is reversed."""
    if question.off:
        return spread(
            [("✗ ", "bad"), (question.off, "text")], [("  Close  esc  ", "chosen")], cells
        )
    allowed = is_allowed(question, answer.typed)
    chosen = answer.on_action and allowed
    act = "dim on panel" if not allowed else "chosen" if chosen else "button on panel"
    cancel = "button on panel" if chosen else "chosen"
    right: Line = [("  Cancel  esc  ", cancel), ("   ", ""), (f"  {question.action}  ", act)]
    return spread(hints([("← →", "choose"), ("enter", "do it")]), right, cells)
