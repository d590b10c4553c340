"""Scripts of calls to a matcher, and what came of them.

A script is data: the settings, then operations in order. `play` gives the draft trees in a form
that does not depend on the order of siblings or on which zero is padding.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from specctl.domain.ngram.settings import MatchType, NgramSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.ngram.draft_tree import DraftTree

Operation = tuple[Any, ...]


class AnyMatcher(Protocol):
    """What both matchers can do."""

    def insert(self, tail: Sequence[int]) -> None: ...
    def draft(self, rid: str, tail: Sequence[int], total_length: int) -> DraftTree: ...
    def forget(self, rid: str) -> None: ...
    def reset(self) -> None: ...
    def add_corpus(self, name: str, documents: Sequence[Sequence[int]]) -> int: ...
    def remove_corpus(self, name: str) -> object: ...


@dataclass(frozen=True)
class Script:
    """One case."""

    settings: NgramSettings
    operations: tuple[Operation, ...]


def play(script: Script, matcher: AnyMatcher) -> list[list[tuple[int, ...]]]:
    """The paths of every draft tree, sorted."""
    found = []
    calls: dict[str, Callable[..., object]] = {
        "insert": matcher.insert,
        "forget": matcher.forget,
        "reset": matcher.reset,
        "load": matcher.add_corpus,
        "unload": matcher.remove_corpus,
    }
    for name, *arguments in script.operations:
        if name == "draft":
            found.append(sorted(matcher.draft(*arguments).find_paths()))
        else:
            calls[name](*arguments)
    return found


def make_settings(rng: random.Random) -> NgramSettings:
    depth = rng.choice((2, 3, 5, 9, 18, 24))
    draft_tokens = rng.choice((1, 2, 4, 8, 12, 16, 33))
    low = rng.choice((1, 1, 2, 4))
    return NgramSettings(
        max_trie_depth=depth,
        min_bfs_breadth=low,
        max_bfs_breadth=low + rng.choice((0, 1, 3, 9)),
        num_draft_tokens=draft_tokens,
        match_type=rng.choice((MatchType.BFS, MatchType.PROB)),
        capacity=rng.choice((depth + 1, depth + 7, 3 * depth, 200, 2000, 100_000)),
        external_sam_budget=rng.choice((0, 0, 1, 2, draft_tokens - 1, 40)),
    )


class _Calls:
    """A growing script of calls in any order, about texts that grow."""

    def __init__(self, rng: random.Random, settings: NgramSettings) -> None:
        self.made: list[Operation] = []
        self._rng = rng
        self._depth = settings.max_trie_depth
        self._alphabet = rng.choice((2, 3, 6, 30, 1000))
        self._texts: dict[str, list[int]] = {}
        self._loaded: set[str] = set()

    def tokens(self, most: int) -> list[int]:
        rng = self._rng
        return [int(self._alphabet * rng.random() ** 2) for _ in range(rng.randint(1, most))]

    def add(self) -> None:
        draw, rid = self._rng.random(), self._rng.choice("abcd")
        if draw < 0.35:
            self.made.append(("insert", self.tokens(self._depth + 3)))
        elif draw < 0.85:
            self._draft(rid)
        elif draw < 0.9:
            self._texts.pop(rid, None)
            self.made.append(("forget", rid))
        elif draw < 0.92:
            self._texts.clear()
            self.made.append(("reset",))
        elif rid in self._loaded:
            self._loaded.discard(rid)
            self.made.append(("unload", rid))
        else:
            self._loaded.add(rid)
            documents = [self.tokens(60) for _ in range(self._rng.randint(1, 4))]
            self.made.append(("load", rid, documents))

    def _draft(self, rid: str) -> None:
        text = self._texts.setdefault(rid, [])
        text += self.tokens(self._rng.choice((1, 2, 5, 40)))
        most = self._depth + self._rng.choice((-1, 0, 0, 0, 0, 4))
        self.made.append(("draft", rid, text[-most:], len(text)))
        if self._rng.random() < 0.7:
            self.made.append(("insert", text[-self._depth :]))


def make_calls_script(seed: int, *, operations: int = 60) -> Script:
    """Calls in any order with tokens of a small alphabet, zero included."""
    rng = random.Random(seed)
    settings = make_settings(rng)
    calls = _Calls(rng, settings)
    for _ in range(operations):
        calls.add()
    return Script(settings, tuple(calls.made))


def make_serving_script(
    seed: int, texts: Sequence[Sequence[int]], settings: NgramSettings, *, prompt: int = 12
) -> Script:
    """What a server asks while it puts out `texts`, a few at a time, one step stale.

    Each text's first `prompt` tokens were the prompt. The steps are as long as a coin says, so the
    script does not depend on the matcher that answers it.
    """
    rng = random.Random(seed)
    depth = settings.max_trie_depth
    made: list[Operation] = []
    waiting = [(f"r{number}", list(text), prompt) for number, text in enumerate(texts)]
    running = [waiting.pop(0) for _ in range(min(3, len(waiting)))]
    while running:
        for rid, text, done in running:
            made.append(("draft", rid, text[max(0, done - depth) : done], done))
        for _, text, done in running:
            made.append(("insert", text[max(0, done - depth) : done]))
        moved = [(rid, text, done + rng.choice((1, 1, 1, 2, 3, 6))) for rid, text, done in running]
        running = [entry for entry in moved if entry[2] < len(entry[1])]
        made += [("forget", rid) for rid, text, done in moved if done >= len(text)]
        while waiting and len(running) < 3:
            running.append(waiting.pop(0))
    return Script(settings, tuple(made))
