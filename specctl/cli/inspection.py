"""`specctl inspect [HOST] [ALGORITHM]`."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.running import fleet_of, run
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.cli.invocation import Invocation
    from specctl.domain.source import Algorithm, Install, Tree
    from specctl.services.inspection import OpenTree


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be inspected, and what is to be shown."""

    host: str | None
    algorithm: str | None = None
    tree: Path | None = None
    python: str | None = None
    files: bool = False
    flags: bool = False
    find: str | None = None
    diff: str | None = None
    file: str | None = None
    as_json: bool = False


@click.command()
@click.argument("host", required=False)
@click.argument("algorithm", required=False)
@click.option("--files", is_flag=True, help="List the files that implement each algorithm.")
@click.option("--flags", is_flag=True, help="List the flags of speculation with their defaults.")
@click.option("--find", metavar="PATTERN", help="Files, flags and algorithms whose name fits.")
@click.option("--diff", metavar="OTHER", help="What differs in OTHER: a host, version or DIR.")
@click.option("--file", metavar="FILE", help="With --diff: the textual diff of one file.")
@click.option(
    "--tree", type=click.Path(path_type=Path), metavar="DIR",
    help="A tree of this machine in place of a host's.",
)  # fmt: skip
@click.option("--python", metavar="PATH", help="The tree of this interpreter of the host.")
@json_option
@click.pass_obj
def command(invocation: Invocation, /, **options: Any) -> None:
    """Read what the SGLang installed on a host can do, without importing it.

    A second look at a tree that has not changed transfers nothing. A VERSION to compare with is
    one that was looked at before from this machine; nothing is downloaded.

    \b
    specctl inspect gpu8                 algorithms, workers, rules, flags
    specctl inspect gpu8 NGRAM           one algorithm: files, drafts, rules
    specctl inspect gpu8 --find ngram
    specctl inspect gpu8 --diff 0.5.16
    specctl inspect --tree ~/sglang --json
    """  # noqa: D301  click reads \b
    asked = Asked(**_renamed(options))
    if asked.host is None and asked.tree is None:
        raise UsageError("nothing is named to inspect", hint="specctl inspect HOST, or --tree DIR.")
    run(_inspect(invocation, asked))


def _renamed(options: dict[str, Any]) -> dict[str, Any]:
    """With --tree the only argument is the algorithm."""
    if options["tree"] is not None and options["algorithm"] is None:
        options["algorithm"], options["host"] = options["host"], None
    return options


async def _inspect(invocation: Invocation, asked: Asked) -> None:
    if asked.diff is not None:
        from specctl.cli.inspection_diff import show_difference

        return await show_difference(invocation, asked)
    async with opened(invocation, asked, with_installs=True) as (tree, installs):
        if asked.find is not None:
            from specctl.cli.inspection_found import show_found

            show_found(tree.tree, asked.find, as_json=asked.as_json)
        else:
            _show(tree, installs, asked)
    return None


@asynccontextmanager
async def opened(
    invocation: Invocation, asked: Asked, *, with_installs: bool = False
) -> AsyncIterator[tuple[OpenTree, tuple[Install, ...]]]:
    """The tree that is asked for, with the way to its machine open; and the host's other ones."""
    from specctl.services import inspection

    if asked.tree is not None or asked.host is None:
        yield await inspection.open_tree_here(asked.tree or Path()), ()
        return
    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(asked.host)
        opening = inspection.open_tree(connection, python=asked.python)
        if not with_installs:
            yield await opening, ()
            return
        tree, installs = await asyncio.gather(opening, inspection.find_installs(connection))
        yield tree, installs


def _show(opened_tree: OpenTree, installs: tuple[Install, ...], asked: Asked) -> None:
    from specctl.cli import inspection_text as text

    tree = opened_tree.tree
    algorithm = chosen(tree, asked.algorithm) if asked.algorithm else None
    if asked.as_json:
        write_json("inspect", text.as_json(opened_tree, installs, asked, algorithm))
        return
    lines = text.heading(asked.host, opened_tree, installs)
    if algorithm is not None:
        lines += text.algorithm_lines(tree, algorithm)
    else:
        lines += text.overview(tree, with_files=asked.files, with_flags=asked.flags)
        lines += text.next_steps(tree, asked)
    write("\n".join(lines))


def chosen(tree: Tree, name: str) -> Algorithm:
    """The algorithm called `name`; UsageError names those there are."""
    found = tree.algorithm(name)
    if found is None and tree.has_speculation and not tree.algorithms:
        raise UsageError(
            f"the algorithms of SGLang {tree.version or 'there'} could not be read",
            hint="specctl inspect without an algorithm lists what could not be read, and why.",
        )
    if found is None:
        names = ", ".join(a.name for a in tree.algorithms) or "none at all"
        raise UsageError(
            f"SGLang {tree.version or 'there'} has no algorithm {name}", hint=f"It has {names}."
        )
    return found
