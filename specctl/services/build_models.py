"""Which model classes the installed SGLang of a host has, told by a search of its sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.checkpoint.build import CAPTURES
from specctl.domain.checkpoint.values import BuildModels
from specctl.domain.errors import AgentAnswerError, DeadlineError
from specctl.facts.readings import read_text, whole
from specctl.facts.source.wanted import NOT_ENTERED
from specctl.services.preflight import find_build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.services.connection import Connection

SEARCH_S = 15.0
MODELS = r"^srt/models/.*\.py$"
_CLASS = re.compile(r"class (\w+)")


async def find_models(connection: Connection, architectures: Sequence[str]) -> BuildModels | None:
    """Where those classes are defined; None where no tree can be told, searched, or understood."""
    names = [name for name in architectures if name.isidentifier()]
    build = await _find_tree(connection) if names else None
    if build is None:
        return None
    path, version = build
    pattern = rf"^class (?:{'|'.join(names)})\b|def {CAPTURES}\b"
    classes: dict[str, str] = {}
    captures: set[str] = set()
    try:
        async with connection.agent.stream(
            "tree_search", root=path, pattern=pattern, listed=MODELS,
            not_entered=NOT_ENTERED, seconds_max=SEARCH_S,
        ) as found:  # fmt: skip
            async for row in found:
                file, text = read_text(row.get("file")), read_text(row.get("text"))
                match = _CLASS.match(text)
                if match is None:
                    captures.add(file)
                else:
                    classes[match[1]] = f"{file}:{whole(row.get('line'))}"
            is_whole = (found.end or {}).get("truncated") is None
    except (AgentAnswerError, DeadlineError):
        return None
    if not is_whole or not (classes or captures):
        return None
    return BuildModels(path, version, classes, frozenset(captures))


async def _find_tree(connection: Connection) -> tuple[str, str | None] | None:
    """Path and version: of the host's interpreter, else of the only one that has SGLang.

    The other interpreters of a host are looked for only where its file names none.
    """
    python = connection.host.python
    if python is None:
        build = await find_build(connection)
        return None if build is None or build.path is None else (build.path, build.version)
    try:
        found = await connection.agent.call("tree_changes", python=python)
    except (AgentAnswerError, DeadlineError):
        return None
    return read_text(found.get("path")), read_text(found.get("version")) or None
