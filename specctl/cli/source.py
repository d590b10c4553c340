"""`specctl source HOST FILE[:LINE]` and `specctl source HOST --grep REGEX`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specctl.cli import diagnostics
from specctl.cli.inspection import Asked, opened
from specctl.cli.invocation import Seconds, json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.running import run
from specctl.domain.errors import AgentAnswerError, DeadlineError, UsageError
from specctl.domain.plain import plain
from specctl.domain.published_source import SourceMatch, SourceText
from specctl.domain.text import clean, clean_lines

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.services.inspection import OpenTree

AROUND = 12
_PLACE = re.compile(r"^(?P<file>.+?)(?::(?P<line>\d{1,7}))?$")


@click.command()
@click.argument("host", required=False)
@click.argument("place", required=False, metavar="[FILE[:LINE]]")
@click.option("--grep", "pattern", metavar="REGEX", help="Lines of its files that match.")
@click.option("-i", "--ignore-case", is_flag=True, help="With --grep: whatever the case.")
@click.option(
    "--max", "matches_max", type=click.IntRange(1, 100_000), default=1000, show_default=True,
    help="With --grep: stop after so many.",
)  # fmt: skip
@click.option(
    "--for", "seconds_max", type=Seconds(0.1, 600), default=20.0, show_default=True,
    help="With --grep: stop after so many seconds.",
)  # fmt: skip
@click.option(
    "--tree", type=click.Path(path_type=Path), metavar="DIR",
    help="A tree of this machine in place of a host's.",
)  # fmt: skip
@click.option("--python", metavar="PATH", help="The tree of this interpreter of the host.")
@json_option
@click.pass_obj
def command(invocation: Invocation, /, **options: Any) -> None:
    """Print a file of a host's SGLang, or search its files; only what is inside the tree.

    A pattern is Python's; the search runs beside the agent and is ended when the time is up.

    \b
    specctl source gpu8 srt/speculative/ngram_worker.py
    specctl source gpu8 srt/server_args.py:120
    specctl source gpu8 --grep 'page_size.*> 1'
    """  # noqa: D301  click reads \b
    asked = Wanted(**options)
    if asked.tree is not None and asked.place is None:
        asked = replace(asked, host=None, place=asked.host)
    if asked.host is None and asked.tree is None:
        raise UsageError("no host is named", hint="specctl source HOST FILE, or --tree DIR.")
    if (asked.place is None) == (asked.pattern is None):
        raise UsageError("name a file, or a pattern with --grep", hint="specctl source --help")
    run(_source(invocation, asked))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tree, and what of it."""

    host: str | None
    place: str | None
    tree: Path | None
    python: str | None
    pattern: str | None
    ignore_case: bool
    matches_max: int
    seconds_max: float
    as_json: bool


async def _source(invocation: Invocation, asked: Wanted) -> None:
    place = Asked(asked.host, tree=asked.tree, python=asked.python)
    async with opened(invocation, place) as (tree, _):
        if asked.place is None:
            await _search(tree, asked)
        else:
            where = asked.host or f"--tree {asked.tree}"
            await _print(tree, asked.place, where, as_json=asked.as_json)


async def _print(tree: OpenTree, place: str, where: str, *, as_json: bool) -> None:
    match = _PLACE.match(place)
    file = match["file"] if match is not None else place
    line = int(match["line"]) if match is not None and match["line"] else None
    lines = clean_lines(await tree.file(file))
    first, last = (1, len(lines)) if line is None else (max(1, line - AROUND), line + AROUND)
    if line is not None and not 1 <= line <= len(lines):
        raise UsageError(f"{file} has {len(lines)} lines", hint=f"specctl source {where} {file}")
    shown = lines[first - 1 : last]
    if as_json:
        text = SourceText(tree.tree.path, file, line, first, "\n".join(shown), (), None, None)
        write_json("source", plain(text))
    elif line is None:
        write("\n".join(shown))
    else:
        for number, words in enumerate(shown, first):
            mark = "▌" if number == line else " "
            write(f"{mark}{style(f'{number:>6}', 'dim')}  {words}")


async def _search(tree: OpenTree, search: Wanted) -> None:
    stream = tree.search(
        search.pattern or "", ignore_case=search.ignore_case, matches_max=search.matches_max,
        seconds_max=search.seconds_max,
    )  # fmt: skip
    found: list[SourceMatch] = []
    try:
        async for item in stream:
            match = read_match(item)
            found.append(match)
            if not search.as_json:
                write(f"{match.file}:{style(str(match.line), 'dim')}: {match.content}")
    except AgentAnswerError as error:
        if error.kind != "bad_request":
            raise
        raise UsageError(error.message, hint="A pattern as Python's re has it.") from None
    finally:
        await stream.aclose()
    end = stream.end or {}
    truncated, at = clean(str(end.get("truncated") or "")), clean(str(end.get("at") or ""))
    if search.as_json:
        files = end.get("files")
        text = SourceText(
            tree.tree.path, None, None, None, None, tuple(found), truncated or None,
            files if isinstance(files, int) else None,
        )  # fmt: skip
        write_json("source", plain(text))
    if truncated == "time":
        raise DeadlineError(
            f"the search was ended after {search.seconds_max:g} s in {at}; what is above is "
            "what it found until then",
            hint="A pattern such as (a+)+$ may take for ever on one line; --for gives it longer.",
        )
    if truncated:
        words = f"stopped after {search.matches_max} matches, in {at}"
        diagnostics.warn(f"{words}; --max asks for more")


def read_match(item: dict[str, object]) -> SourceMatch:
    """One match, its text made safe to show."""
    line = item.get("line")
    return SourceMatch(
        clean(str(item.get("file"))), line if isinstance(line, int) else 0,
        clean(str(item.get("text"))),
    )  # fmt: skip
