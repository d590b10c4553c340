"""Where drafts come from; whether they are right is found out by comparing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from specctl.domain.ngram.draft_tree import Children, DraftTree
from specctl.domain.ngram.matcher import Matcher
from specctl.lab.hashing import fraction, mix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.setting import Setting
    from specctl.lab.text_model import Continuation

SAMPLED_LOSS = 0.12
"""Share of its acceptance that a drafter loses at temperature 1, where the target surprises it."""

MISSED_AGAIN = 0.7
"""Share of the misses that remain when twice as many choices are proposed."""


@dataclass(slots=True)
class Draftable:
    """What a drafter is shown of a running request."""

    rid: str
    tail: Sequence[int]
    """The end of the text, as far as n-grams look back."""

    length: int
    """Of the whole text."""

    answer: Continuation
    temperature: float


class Drafter(Protocol):
    """One per engine."""

    @property
    def has_model(self) -> bool:
        """Whether it takes part in prefill."""

    def draft(self, request: Draftable) -> DraftTree:
        """The tree to verify."""

    def learn(self, tails: Sequence[Sequence[int]]) -> None:
        """What the batch's texts ended in before this step."""

    def forget(self, rid: str) -> None:
        """A request has left."""

    def flush(self) -> None:
        """Drop what was learned from outputs."""


class NgramDrafter:
    """Drafts what followed the same tokens before."""

    has_model = False

    def __init__(self, setting: Setting) -> None:
        self.matcher = Matcher(setting.ngram)

    def draft(self, request: Draftable) -> DraftTree:
        """The matcher's tree."""
        return self.matcher.draft(request.rid, request.tail, request.length)

    def learn(self, tails: Sequence[Sequence[int]]) -> None:
        """Every text's end, in the order of the batch."""
        for tail in tails:
            self.matcher.insert(tail)

    def forget(self, rid: str) -> None:
        """A request has left the batch."""
        self.matcher.forget(rid)

    def flush(self) -> None:
        """Empty the trie."""
        self.matcher.reset()


@dataclass(frozen=True, slots=True)
class Skill:
    """How good a draft model is.

    `accept[k]` is the probability that its first choice at place k is right when all before it
    were; the last entry holds for all later places. `by_category` multiplies it.
    """

    accept: tuple[float, ...]
    by_category: Mapping[str, float]

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Skill:
        """From `{"accept": [0.36, 0.33, 0.3], "by_category": {"code": 1.2}}`."""
        accept = tuple(float(share) for share in table["accept"])
        if not accept or not all(0 <= share <= 1 for share in accept):
            raise ValueError("accept must be a list of probabilities")
        factors = table.get("by_category", {})
        return cls(accept, {name: float(factor) for name, factor in factors.items()})

    def at(self, place: int, category: str, temperature: float) -> float:
        """The probability at `place`, from 0."""
        share = self.accept[min(place, len(self.accept) - 1)] * self.by_category.get(category, 1.0)
        return min(1.0, share * (1 - SAMPLED_LOSS * min(1.0, temperature)))


class ModelDrafter:
    """A draft model: a chain, or with top-k a tree whose first choices are followed.

    It knows the right token as often as its skill says and proposes another plausible one
    otherwise. Each doubling of `topk` finds a share of what fewer choices missed, an assumption
    that holds roughly for EAGLE drafters.
    """

    has_model = True

    def __init__(self, setting: Setting, skill: Skill, seed: int) -> None:
        self._steps = setting.num_steps
        self._topk = setting.eagle_topk
        self._places = setting.num_draft_tokens - 1
        self._skill = skill
        self._seed = seed

    def draft(self, request: Draftable) -> DraftTree:
        """Level by level, as many levels as there are steps and places for."""
        children: list[Children] = [{}]
        parent = 0
        for place in range(self._steps):
            room = self._places - (len(children) - 1)
            if room <= 0:
                break
            tokens = self._choose(request, place)[: min(self._topk, room)]
            for token in tokens:
                children[parent][token] = len(children)
                children.append({})
            parent = children[parent][self._find_best(request, place, tokens)]
        return DraftTree(children)

    def learn(self, tails: Sequence[Sequence[int]]) -> None:
        """Nothing."""

    def forget(self, rid: str) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing is kept."""

    def _choose(self, request: Draftable, place: int) -> list[int]:
        """`topk` different tokens, the right one among them if the draw is good."""
        answer = request.answer
        right = answer.look_ahead(place + 1)[place]
        draw = mix(answer.digest_at(place) ^ self._seed + place)
        share = self._skill.at(place, answer.category, request.temperature)
        missed = (1 - share) * MISSED_AGAIN ** (self._topk.bit_length() - 1)
        other = answer.guess_otherwise(place)
        found = [other + step for step in range(self._topk + 1)]
        wrong = [token for token in found if token != right][: self._topk]
        return [right, *wrong[:-1]] if fraction(draw) >= missed and share > 0 else wrong

    def _find_best(self, request: Draftable, place: int, tokens: Sequence[int]) -> int:
        """The branch that is followed: the right one if it is there."""
        right = request.answer.look_ahead(place + 1)[place]
        return right if right in tokens else tokens[0]
