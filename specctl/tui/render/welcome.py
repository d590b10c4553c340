"""The first run: no workspace was found."""

from __future__ import annotations

from specctl.tui.render.lines import Drawing, Line, middle, wrap


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


LAB = "a practice GPU host on this machine, all of it SIMULATED, with a guide"


def draw_welcome(
    version: str, folder: str, cells: int, rows: int, *, going: str = "", problem: str = ""
) -> Drawing:
    """What specctl is for, the ways to begin, and what is under way or went wrong."""
    looked = f"Looked in {folder}, its parents and $SPECCTL_WORKSPACE."
    writes = f"writes {folder}/remotes and {folder}/profiles with commented examples"
    body: list[Line] = [
        *INTRODUCTION,
        [(middle(looked, cells), "dim")],
        [],
        *_entry("i", "Make one here", writes, cells),
        *_entry("l", "Try the lab", LAB, cells),
        *_entry("o", "Open another folder", "type its path", cells),
        *_entry("q", "Leave", "specctl add SSH_ALIAS does the same from the shell", cells),
        *([(text, "dim")] for text in wrap(PROMISE, cells)),
    ]
    said = [("◐ ", "data", going), ("✗ ", "bad", problem)]
    for mark, token, words in said:
        lines = wrap(words, cells - 2) if words else []
        body += [[(mark if i == 0 else "  ", token), (t, "text")] for i, t in enumerate(lines)]
    return Drawing("No workspace yet", _fitted(body, rows), [(f"specctl {version}", "dim")])


def _fitted(body: list[Line], rows: int) -> list[Line]:
    """Without as many empty lines as there are rows too few, the last first."""
    out = list(body)
    while len(out) > rows and [] in out:
        del out[len(out) - 1 - out[::-1].index([])]
    return out
