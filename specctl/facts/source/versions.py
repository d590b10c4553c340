"""A tree's version, from the first of four places that tells it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LITERAL = re.compile(
    r"^(?:__version__|version)\s*(?::\s*\w+\s*)?=[^'\"\n]*['\"]([^'\"\n]+)['\"]", re.MULTILINE
)
_METADATA = re.compile(r"^sglang-(.+?)\.(?:dist|egg)-info$")
_DESCRIBED = re.compile(r"^v?(\d[\w.]*)(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$")
_UNBUILT = "0.0.0.dev0"


def read_version(texts: Mapping[str, str]) -> str | None:
    """Of `_version.py`, else a literal in `version.py`."""
    for name in ("_version.py", "version.py"):
        found = _LITERAL.search(texts.get(name, ""))
        if found is not None and found.group(1) != _UNBUILT:
            return clean(found.group(1))[:80]
    return None


def fallback_version(metadata: Sequence[str], described: str | None) -> str | None:
    """Of the metadata folder's name, else of `git describe`."""
    for name in metadata:
        match = _METADATA.match(name)
        if match is not None:
            return clean(match.group(1))[:80]
    return _of_tag(described or "")


def _of_tag(described: str) -> str | None:
    """`v0.5.22-14-gabc` is fourteen commits after 0.5.22."""
    match = _DESCRIBED.match(described.strip())
    if match is None:
        return None
    tag, ahead, commit, _ = match.groups()
    return tag if ahead is None else f"{tag}+{ahead}.g{commit}"
