"""`specctl inspect HOST --diff OTHER`."""

from __future__ import annotations

import difflib
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.cli.diagnostics import warn
from specctl.cli.inspection import Asked, opened
from specctl.cli.output import style, write, write_json
from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest
from specctl.domain.plain import plain
from specctl.domain.published_source import InspectedDifference, compared_tree
from specctl.domain.source_difference import compare_trees
from specctl.domain.text import clean_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.cli.invocation import Invocation
    from specctl.domain.source import Tree
    from specctl.domain.source_difference import Differences
    from specctl.services.inspection import OpenTree

FILES_SHOWN = 40


async def show_difference(invocation: Invocation, asked: Asked) -> None:
    """From the tree that is named first to OTHER."""
    async with opened(invocation, asked) as (before, _), _other(invocation, asked) as after:
        name, other = asked.host or str(asked.tree), str(asked.diff)
        text = await _text(before, after, asked.file, (name, other)) if asked.file else None
        found = compare_trees(before.tree, after.tree)
        shown = InspectedDifference(
            compared_tree(name, before.tree), compared_tree(other, after.tree),
            found.algorithms, found.flags, found.files, text,
        )  # fmt: skip
        if asked.as_json:
            write_json("difference", plain(shown))
        else:
            write("\n".join(_lines(shown, before.tree)))
        for label, tree in ((name, before.tree), (other, after.tree)):
            if not tree.has_all_flags or (tree.has_speculation and not tree.algorithms):
                warn(
                    f"not all of {label} could be read, it may have more: specctl inspect says why"
                )


@asynccontextmanager
async def _other(invocation: Invocation, asked: Asked) -> AsyncIterator[OpenTree]:
    """A directory, a host of the workspace, or a version that was looked at before."""
    from specctl.services import inspection

    name = str(asked.diff)
    if "/" in name or name in {".", ".."} or _is_directory(name):
        yield await inspection.open_tree_here(Path(name))
        return
    hosts = _hosts(invocation)
    if name in hosts:
        async with opened(invocation, Asked(name)) as (found, _):
            yield found
        return
    kept = inspection.kept_tree(name)
    if kept is None:
        raise _unknown(name, hosts, tuple(inspection.kept_versions()))
    yield kept


def _is_directory(name: str) -> bool:
    return Path(name).is_dir()


def _hosts(invocation: Invocation) -> tuple[str, ...]:
    try:
        return tuple(invocation.workspace().hosts())
    except UsageError:  # a directory or a version can be compared without a workspace
        return ()


def _unknown(name: str, hosts: tuple[str, ...], versions: tuple[str, ...]) -> UsageError:
    close = nearest(name, [*hosts, *versions])
    near = f"; nearest: {close}" if close else ""
    known = ", ".join(versions) or "none yet"
    return UsageError(
        f"{name} is no host, no directory and no version that was looked at from here{near}",
        hint=f"Versions looked at: {known}. Another: pip download --no-deps sglang==VERSION, "
        "unzip it, and name the directory.",
    )


async def _text(before: OpenTree, after: OpenTree, file: str, names: tuple[str, str]) -> str:
    old, new = await _file(before, file), await _file(after, file)
    if old is None and new is None:
        where = f"--tree {names[0]}" if _is_directory(names[0]) else names[0]
        raise UsageError(f"neither tree has {file}", hint=f"specctl inspect {where} --find NAME")
    lines = difflib.unified_diff(
        clean_lines(old or ""), clean_lines(new or ""),
        f"{names[0]}/{file}", f"{names[1]}/{file}", lineterm="",
    )  # fmt: skip
    return "\n".join(lines)


async def _file(opened_tree: OpenTree, file: str) -> str | None:
    if file not in opened_tree.tree.files:
        return None
    return await opened_tree.file(file)


def _lines(shown: InspectedDifference, before: Tree) -> list[str]:
    old, new = shown.before, shown.after
    lines = [
        f"{style(old.name, 'bold')} {old.version or '—'}  →  "
        f"{style(new.name, 'bold')} {new.version or '—'}"
    ]
    if all(part.is_empty for part in (shown.algorithms, shown.flags, shown.files)):
        return [*lines, "The same: algorithms, flags and every file."]
    lines += _part("ALGORITHMS", shown.algorithms)
    lines += _part("FLAGS", shown.flags)
    lines += _file_lines(shown.files, before)
    if shown.diff is not None:
        lines += ["", *(_coloured(line) for line in shown.diff.split("\n"))]
    return lines


def _part(title: str, found: Differences) -> list[str]:
    if found.is_empty:
        return ["", style(f"{title}  the same", "dim")]
    lines = ["", style(title, "dim")]
    lines += [style(f"  + {name}", "green") for name in found.added]
    lines += [style(f"  - {name}", "red") for name in found.removed]
    lines += [f"  ~ {c.name}  {c.aspect}: {c.before} → {c.after}" for c in found.changed]
    return lines


def _file_lines(found: Differences, before: Tree) -> list[str]:
    """Those that algorithms are made of first; the rest is counted."""
    counts = f"+{len(found.added)} -{len(found.removed)} ~{len(found.changed)}"
    if found.is_empty:
        return ["", style("FILES  the same", "dim")]
    own = {name for one in before.algorithms for name in one.files}
    changed = sorted({c.name for c in found.changed}, key=lambda name: (name not in own, name))
    lines = ["", style(f"FILES  {counts}", "dim")]
    lines += [f"  ~ {name}" for name in changed[:FILES_SHOWN]]
    if len(changed) > FILES_SHOWN:
        lines.append(style(f"  and {len(changed) - FILES_SHOWN} more; --json has all", "dim"))
    return lines


def _coloured(line: str) -> str:
    if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
        return style(line, "green" if line.startswith("+") else "red")
    return style(line, "cyan") if line.startswith("@@") else line
