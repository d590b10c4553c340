"""What of a tree has a name that fits a pattern."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from specctl.cli.inspection_text import flag_lines
from specctl.cli.output import style, write, write_json
from specctl.domain.plain import plain
from specctl.domain.published_source import FoundFiles, shown_flag

if TYPE_CHECKING:
    from specctl.domain.source import Tree


def show_found(tree: Tree, pattern: str, *, as_json: bool) -> None:
    """Files, flags and algorithms; a pattern without `*` and `?` fits anywhere in a name."""
    files = [name for name in sorted(tree.files) if _fits(name, pattern)]
    flags = [flag for flag in tree.flags if any(_fits(name, pattern) for name in flag.names)]
    names = [one.name for one in tree.algorithms if _fits(one.name, pattern)]
    if as_json:
        shown = tuple(shown_flag(flag) for flag in flags)
        found = FoundFiles(pattern, tree.path, tuple(files), shown, tuple(names))
        write_json("found", plain(found))
        return
    lines = [*names, *files]
    if flags:
        lines += ["", *flag_lines(flags)]
    write("\n".join(lines) if lines else style(f"nothing is called like {pattern}", "dim"))


def _fits(name: str, pattern: str) -> bool:
    wanted, lowered = pattern.lower(), name.lower()
    if not any(mark in wanted for mark in "*?["):
        return wanted in lowered
    return fnmatchcase(lowered, wanted) or fnmatchcase(lowered.rpartition("/")[2], wanted)
