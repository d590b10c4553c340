"""The scripts whose outcomes are recorded in tests/data/ngram, and the form of the record."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.domain.ngram.settings import MatchType, NgramSettings
from tests.ngram_cpp.scripts import make_calls_script, make_serving_script, play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.ngram_cpp.scripts import AnyMatcher, Script

FOLDER = Path(__file__).parents[1] / "data" / "ngram"
RECORD = FOLDER / "matcher-0.5.23.json"
CALLS = 500


def read_texts() -> list[list[int]]:
    """The words and marks of text.txt as tokens, cut into answers of 300."""
    ids: dict[str, int] = {}
    words = re.findall(r"\w+|\W", (FOLDER / "text.txt").read_text(encoding="utf-8"))
    tokens = [ids.setdefault(word, len(ids) + 1) for word in words]
    return [tokens[start : start + 300] for start in range(0, len(tokens), 250)]


def make_scripts() -> Iterator[tuple[str, Script]]:
    """Every recorded script by name."""
    for seed in range(CALLS):
        yield f"calls-{seed}", make_calls_script(seed)
    texts = read_texts()
    for kind in MatchType:
        for depth, draft_tokens, capacity in (
            (18, 12, 1_000_000),
            (18, 12, 3000),
            (9, 5, 1_000_000),
        ):
            settings = NgramSettings(
                max_trie_depth=depth,
                num_draft_tokens=draft_tokens,
                match_type=kind,
                capacity=capacity,
            )
            name = f"serving-{kind}-{depth}-{draft_tokens}-{capacity}"
            yield name, make_serving_script(7, texts, settings)


def digest(value: object) -> str:
    return f"{zlib.crc32(repr(value).encode()):08x}"


def sum_up(script: Script, matcher: AnyMatcher) -> dict[str, Any]:
    """The record of a script: what was asked and what came out, as checksums, and their sizes."""
    trees = play(script, matcher)
    chosen = script.settings
    sizes = (chosen.max_trie_depth, chosen.min_bfs_breadth, chosen.max_bfs_breadth)
    budget = (chosen.num_draft_tokens, chosen.external_sam_budget, chosen.capacity)
    return {
        "asked": digest((sizes, budget, str(chosen.match_type), script.operations)),
        "trees": len(trees),
        "nodes": sum(sum(path != (0,) for path in tree) for tree in trees),
        "came": digest(trees),
    }


def record_all(make_matcher: Callable[[NgramSettings], AnyMatcher]) -> dict[str, Any]:
    """All records by name."""
    return {name: sum_up(script, make_matcher(script.settings)) for name, script in make_scripts()}
