"""The first run: no workspace was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.lines import Drawing, Line, middle, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence


def _entry(key: str, words: str, more: str, cells: int) -> list[Line]:
    return [
        [(f" {key} ", "keybox"), ("  ", ""), (words, "bright")],
        [("     ", ""), (middle(more, cells - 5), "dim")],
        [],
    ]


INTRODUCTION: list[Line] = [
    [],
    [("specctl", "accent"), (" answers one question: is speculative decoding worth it,", "text")],
    [("for this model, on this host, for this traffic, and with which setting?", "text")],
    [],
    [
        ("It found no workspace: a folder with ", "text"), ("remotes/", "strong"),
        (" and ", "text"), ("profiles/", "strong"), (", kept in git.", "text"),
    ],
]  # fmt: skip
PROMISE = "Nothing is installed on any host: one SSH connection each, gone when you quit."


def draw_welcome(
    version: str, looked_in: str, folder: str, cells: int, problems: Sequence[str] = ()
) -> Drawing:
    """What specctl is for, and the ways to begin."""
    looked = f"Looked in {looked_in}, its parents and $SPECCTL_WORKSPACE."
    writes = f"writes {folder}/remotes and {folder}/profiles with commented examples"
    body: list[Line] = [
        *INTRODUCTION,
        [(middle(looked, cells), "dim")],
        [],
        *_entry("i", "Make one here", writes, cells),
        *_entry("o", "Open another folder", "type its path", cells),
        *_entry("q", "Leave", "specctl add SSH_ALIAS does the same from the shell", cells),
        *([(text, "dim")] for text in wrap(PROMISE, cells)),
    ]
    for problem in problems:
        lines = wrap(problem, cells - 2)
        body += [[("✗ " if i == 0 else "  ", "bad"), (t, "text")] for i, t in enumerate(lines)]
    return Drawing("No workspace yet", body, [(f"specctl {version}", "dim")])
