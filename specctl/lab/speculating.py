"""Drafting and verifying for a batch, with SGLang's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.lab.drafters import Draftable
from specctl.lab.hashing import fraction
from specctl.lab.outcomes import StepParts, VerifyBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.costs import Costs
    from specctl.lab.drafters import Drafter
    from specctl.lab.live import Live
    from specctl.lab.setting import Setting

SIMULATED_TOKEN = 100
"""What is put out where acceptance is forced."""


class Speculation:
    """What a speculating engine does instead of a plain decode step."""

    def __init__(self, setting: Setting, costs: Costs, drafter: Drafter) -> None:
        if setting.algorithm is None or setting.num_draft_tokens < 1:
            raise ValueError("speculation needs an algorithm and a number of draft tokens")
        self.drafter = drafter
        self._algorithm = setting.algorithm
        self._setting = setting
        self._costs = costs
        self._steps_done = 0

    def cost(self, batch: int) -> StepParts:
        """Of one step for `batch` requests."""
        return self._costs.speculate(
            self._algorithm,
            batch,
            steps=self._setting.num_steps,
            width=self._setting.num_draft_tokens,
        )

    def verify(self, batch: Sequence[Live]) -> tuple[list[Sequence[int]], VerifyBatch]:
        """The tokens each request gets, the bonus token included, and the batch's counts.

        A step that reaches a request's end is counted in full, as SGLang counts it.
        """
        proposed = self._setting.num_draft_tokens - 1
        depth = self._setting.ngram.max_trie_depth
        tails = [live.tail(depth) for live in batch]
        counts = self._count_accepted(batch, tails)
        taken: list[Sequence[int]] = []
        for live, count in zip(batch, counts, strict=True):
            account = live.account
            account.verify_steps += 1
            account.correct_drafts += count
            account.proposed_drafts += proposed
            account.histogram += [0] * (count + 1 - len(account.histogram))
            account.histogram[count] += 1
            taken.append(self._take(live, count))
        if self._setting.learns_at_once:
            tails = [[*tail, *new][-depth:] for tail, new in zip(tails, taken, strict=True)]
        self.drafter.learn(tails)
        return taken, VerifyBatch(len(batch), sum(counts), proposed * len(batch))

    def _count_accepted(self, batch: Sequence[Live], tails: Sequence[list[int]]) -> list[int]:
        self._steps_done += 1
        forced = self._setting.simulated_accept_length
        if forced is not None:
            share = fraction(self._steps_done)
            most = max(1, self._setting.num_steps)
            return [min(most, max(0, int(forced - 1 + share)))] * len(batch)
        most = max(self._setting.num_draft_tokens - 1, 1)
        counts = []
        for live, tail in zip(batch, tails, strict=True):
            shown = Draftable(
                live.request.rid, tail, live.length, live.answer, live.request.temperature
            )
            tree = self.drafter.draft(shown)
            counts.append(tree.count_accepted(live.answer.look_ahead(most)))
        return counts

    def _take(self, live: Live, count: int) -> Sequence[int]:
        tokens = live.answer.take(count + 1)
        if self._setting.simulated_accept_length is None:
            return tokens
        return [SIMULATED_TOKEN] * len(tokens)
