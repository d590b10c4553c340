"""Prompts: the command line with its completions, and the list of profiles to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from specctl.tui.commands import usage
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import (
    BLANK,
    UNKNOWN,
    Drawing,
    Line,
    middle,
    picked,
    row,
    spread,
    width,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.tui.commands import Completion
    from specctl.tui.editor import Editor
    from specctl.tui.services import ProfileChoice

MOST_ROWS = 8
PROFILES_HEAD = 3
"""Rows over the first profile: the field, a blank one, the names of the columns."""

DRAFT_CELLS, MODEL_CELLS, CHECK_CELLS = 10, 22, 6
WIDE_CELLS = 86


def first_completion(chosen: int, total: int) -> int:
    """The first one in sight."""
    return max(0, min(chosen - MOST_ROWS + 1, total - MOST_ROWS))


def draw_completions(
    text: str, found: Sequence[Completion], chosen: int, cells: int, error: str = ""
) -> Drawing:
    """What can follow, the chosen one marked."""
    top = first_completion(chosen, len(found))
    body: list[Line] = []
    for i, completion in enumerate(found[top : top + MOST_ROWS], top):
        before = completion.text[: len(completion.text) - len(completion.word)]
        word = completion.word
        at = word.find(completion.typed) if completion.typed else -1
        line: Line = [(":" + before, "dim")]
        if at >= 0:
            end = at + len(completion.typed)
            line += [(word[:at], "text"), (word[at:end], "prompt"), (word[end:], "text")]
        else:
            line.append((word, "text"))
        line = row(
            (line, min(44, cells // 2)),
            ([(completion.note, "dim")], cells - min(44, cells // 2) - 2),
        )
        body.append(picked(line, cells) if i == chosen else line)
    if error:
        body = [[("✗ ", "bad"), (error, "text")]]
    elif not body:
        body = [[("Nothing completes this.", "dim")]]
    cursor = chosen - top if found and not error and 0 <= chosen < len(found) else None
    note = hints([("tab", "complete"), ("↑ ↓", "choose"), ("ctrl+r", "history")])
    summary: Line = [(f"{len(found)} ways on", "dim")] if found else []
    return Drawing(usage(text), body, summary, note, cursor)


def command_bar(editor: Editor, ghost: str, cells: int) -> Line:
    """The prompt itself, over the footer: what completing would add stands faintly behind."""
    right = [*hints([("enter", "runs it"), ("esc", "cancel")]), BLANK]
    left: Line = [(":", "prompt"), *editor.line(cells - width(right) - 1)]
    if ghost and editor.at == len(editor.text):
        left.insert(2, (ghost, "faint"))
    return spread(left, right, cells)


def ask_bar(label: str, editor: Editor, words: str, enter: str, cells: int) -> Line:
    """A line being typed, over the footer: what it is for, how far it has come, the ways out."""
    right: Line = [(words, "dim"), ("  ", "")] if words else []
    right += [*hints([("enter", enter), ("esc", "clears")]), (" ", "")]
    asked: Line = [(f" {label}", "prompt")]
    return spread([*asked, *editor.line(cells - width(asked) - width(right) - 1)], right, cells)


def draw_profiles(
    host: str,
    choices: Sequence[ProfileChoice],
    search: Editor,
    cells: int,
    rows: int,
    *,
    chosen: int,
    top: int = 0,
) -> Drawing:
    """The profiles that could be started on a host."""
    field: Line = [("/ ", "prompt"), *search.line()]
    if not search.text:
        field.append(("type to narrow", "faint"))
    room = max(1, rows - PROFILES_HEAD)
    name, model, note_cells = _columns(choices, cells)
    head = row(
        ([("PROFILE", "faint")], name),
        ([("DRAFT", "faint")], DRAFT_CELLS),
        *([([("MODEL", "faint")], model)] if model else []),
        ([("CHECK", "faint")], CHECK_CELLS),
        ([("KNOWN", "faint")], note_cells),
    )
    body: list[Line] = [field, [], head]
    for i, choice in enumerate(choices[top : top + room], top):
        line = _profile_line(choice, name, model, note_cells)
        body.append(picked(line, cells) if i == chosen else line)
    if not choices:
        body.append(
            [("No profile matches.", "dim")]
            if search.text
            else [("No profiles in this workspace yet.", "dim")]
        )
    body += _whole_note(choices, chosen, cells, note_cells, rows - len(body))
    cursor = PROFILES_HEAD + chosen - top if choices else None
    noun = "profile" if len(choices) == 1 else "profiles"
    note = hints([("enter", "shows the plan"), ("esc", "cancel")])
    return Drawing(
        f"Start a profile on {host}", body, [(f"{len(choices)} {noun}", "dim")], note, cursor
    )


def _columns(choices: Sequence[ProfileChoice], cells: int) -> tuple[int, int, int]:
    """Cells of name, model and note."""
    name = min(32, cells // 3, max((len(choice.name) for choice in choices), default=0) + 2)
    model = MODEL_CELLS if cells >= WIDE_CELLS else 0
    gaps = 8 if model else 6
    return name, model, max(0, cells - name - DRAFT_CELLS - model - CHECK_CELLS - gaps)


def note_rows(choices: Sequence[ProfileChoice], cells: int) -> int:
    """Rows that the longest note takes below, where the rows of the list cut one."""
    room = _columns(choices, cells)[2]
    cut = [choice.note for choice in choices if cell_len(choice.note) > room]
    return max((1 + len(wrap(note, cells)) for note in cut), default=0)


def _whole_note(
    choices: Sequence[ProfileChoice], chosen: int, cells: int, note_cells: int, rows: int
) -> list[Line]:
    """What is known of the chosen one, where its row had to cut that and rows are left."""
    note = choices[chosen].note if chosen < len(choices) else ""
    lines: list[Line] = [[(text, "dim")] for text in wrap(note, cells)]
    is_cut = cell_len(note) > note_cells
    return [[], *lines] if is_cut and len(lines) < rows else []


def _profile_line(choice: ProfileChoice, name: int, model_cells: int, note_cells: int) -> Line:
    lint: Line = [("✓", "ok")]
    if choice.problems or choice.warnings:
        lint = [(f"✗{choice.problems}", "bad")] if choice.problems else []
        lint += (
            [(" " if lint else "", ""), (f"▲{choice.warnings}", "warn")] if choice.warnings else []
        )
    draft: Line = [(choice.algorithm, "text")] if choice.algorithm else [("none", "dim")]
    model: Line = [(middle(choice.model, model_cells), "dim")] if choice.model else [UNKNOWN]
    return row(
        ([(middle(choice.name, name), "title")], name),
        (draft, DRAFT_CELLS),
        *([(model, model_cells)] if model_cells else []),
        (lint, CHECK_CELLS),
        ([(choice.note, "dim")], note_cells),
    )
