"""Which model architectures of a build are drafts, and of which algorithm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTRY = re.compile(r"^EntryClass\s*(?::[^=\n]*)?=\s*(\[[^\]]*\]|\([^)]*\)|\w+)", re.MULTILINE)
_NAME = re.compile(r"\b[A-Za-z]\w*")
_COMMENT = re.compile(r"#[^\n]*")
_AHEAD = r"(?:NextN$|MTP$|MTPHead$)"
_KINDS = {
    "EAGLE": re.compile(rf"Eagle$|{_AHEAD}"),
    "EAGLE3": re.compile(r"Eagle3"),
    "DFLASH": re.compile(r"DFlash|LiLiCorrDraft"),
    "DSPARK": re.compile(r"DSpark"),
    "FROZEN_KV_MTP": re.compile(r"^Gemma4\w*Assistant"),
}
"""By how SGLang names its draft models; STANDALONE takes any, NGRAM and UNO none."""


def read_architectures(models: Mapping[str, str]) -> tuple[str, ...]:
    """Every architecture that a build can load, from the `EntryClass` lines of its models."""
    found: set[str] = set()
    for text in models.values():
        for value in _ENTRY.findall(text):
            found.update(_NAME.findall(_COMMENT.sub("", value)))
    return tuple(sorted(found))


def drafts_of(algorithm: str, architectures: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are drafts of one algorithm by their name."""
    kind = _KINDS.get(algorithm)
    return tuple(name for name in architectures if kind is not None and kind.search(name))
