"""The help: the actions of this screen, from the table."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from specctl.tui.action import is_guarded
from specctl.tui.actions import Kind, actions_on, refusal
from specctl.tui.commands import COMMANDS
from specctl.tui.footers import CALLED
from specctl.tui.render.lines import Drawing, Line, fit, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.tui.actions import Action, Target
    from specctl.tui.editor import Editor

HOW = (
    "A capital key goes to a place, a small one acts on what is selected. "
    "Nothing that stops or replaces a server runs before its plan was shown."
)
GAP_CELLS = 2
COLUMN_CELLS = 32
FIELD_ROWS = 2
FOUND_CELLS = 16


def help_lines(
    screen: str,
    target: Target,
    terms: str,
    cells: int,
    why: Callable[[Action, Target], str] = refusal,
) -> list[Line]:
    """Keys and commands that mean something here; with terms, those that hold them."""
    return found(screen, target, terms, cells, why) if terms else blocks(screen, target, cells)


def draw_help(
    screen: str, search: Editor, body: Sequence[Line], rows: int, *, top: int = 0
) -> Drawing:
    """Those of them that are in sight; typing searches."""
    field: Line = [("/ ", "prompt"), *search.line()]
    if not search.text:
        field.append(("type to search keys and commands", "faint"))
    room = max(1, rows - FIELD_ROWS)
    title = f"Keys on this screen: {screen.capitalize()}"
    note: Line = [("esc", "key"), (" closes", "dim")]
    if len(body) > room:
        note = [
            (f"{top + 1}-{min(len(body), top + room)} of {len(body)}", "dim"),
            ("  ", ""),
            ("↓ ↑", "key"),
            ("  ", ""),
            *note,
        ]
    return Drawing(title, [field, [], *body[top : top + room]], note=note)


def blocks(screen: str, target: Target, cells: int) -> list[Line]:
    """The help in as many columns as fit."""
    actions = actions_on(screen)
    here = _block(
        f"HERE: {screen.upper()}", [a for a in actions if a.kind is Kind.ACT], target, screen
    )
    go = _block("GO TO", [a for a in actions if a.kind is Kind.GO], target, screen)
    tools = _block("TOOLS", [a for a in actions if a.kind is Kind.TOOL], target, screen)
    named = _block("BY NAME", [a for a in actions if a.kind is Kind.NAMED], target, screen)
    move = _block("MOVE", [a for a in actions if a.kind is Kind.MOVE], target, screen)
    count = min(3, max(1, cells // COLUMN_CELLS))
    size = (cells - GAP_CELLS * (count - 1)) // count
    how: list[Line] = [
        [("HOW KEYS WORK", "faint")],
        *[[(text, "dim")] for text in wrap(HOW, size - 2)],
    ]
    columns = {
        1: [[*here, [], *go, [], *tools, [], *named, [], *move]],
        2: [[*here, [], *tools, [], *named], [*go, [], *move]],
        3: [[*here, [], *how], [*go, [], *tools], [*move, [], *named]],
    }[count]
    return [_joined(parts, size) for parts in zip_longest(*columns, fillvalue=[])]


def _joined(parts: Sequence[Line], size: int) -> Line:
    out: Line = []
    for i, part in enumerate(parts):
        out += [*([(" " * GAP_CELLS, "")] if i else []), *fit(part, size)]
    return out


def _block(name: str, actions: Sequence[Action], target: Target, screen: str) -> list[Line]:
    size = max((len(a.key) for a in actions), default=0) + 2
    return [[(name, "faint")], *[_entry(a, size, target, screen) for a in actions]]


def _entry(action: Action, size: int, target: Target, screen: str) -> Line:
    off = is_guarded(action, target)
    out = [
        *fit([(action.key, "strike" if off else "key")], size),
        (CALLED.get((screen, action.id), action.help), "faint" if off else "text"),
    ]
    return [*out, (" (read-only)", "faint")] if off else out


def found(
    screen: str,
    target: Target,
    terms: str,
    cells: int,
    why: Callable[[Action, Target], str] = refusal,
) -> list[Line]:
    """Every key and command that has all the words, with why one is off."""
    words = terms.lower().split()
    out: list[Line] = []
    for action in actions_on(screen):
        text = f"{action.key} {action.title} {action.help} {action.id} {action.verb}".lower()
        if all(word in text for word in words):
            out.append(_entry(action, FOUND_CELLS, target, screen))
            reason = why(action, target)
            if reason and action.kind is Kind.ACT:
                parts = wrap(reason, max(10, cells - FOUND_CELLS))
                out += [[(" " * FOUND_CELLS, ""), (part, "faint")] for part in parts]
    for command in COMMANDS:
        text = f"{command.usage} {command.help} {' '.join(command.aliases)}".lower()
        if all(word in text for word in words):
            out.append([*fit([(":" + command.usage, "key")], 26), (command.help, "text")])
    return out or [[("Nothing matches ", "text"), (terms, "strong"), (".", "text")]]
