"""Where the answers of two arms part first, as far as their hashes tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.trial.running import kept_blocks

if TYPE_CHECKING:
    from specctl.domain.probe import RequestResult
    from specctl.domain.trial.running import TrialBlock, TrialPlan


@dataclass(frozen=True, slots=True)
class Parting:
    """The first prompt that two launches answer differently."""

    prompt: int
    """From 1, in the order of the workload."""

    category: str
    launches: tuple[int, int]
    """Of the baseline and of the other arm, by place from 1."""

    tokens: tuple[int | None, int | None]
    finishes: tuple[str | None, str | None]

    @property
    def words(self) -> str:
        """One sentence; the ledger keeps hashes of answers, so the token is not known."""
        a, b = self.launches
        lengths = " and ".join("—" if count is None else f"{count:,}" for count in self.tokens)
        ends = sorted({finish for finish in self.finishes if finish})
        ended = f", ended by {' and '.join(ends)}" if ends else ""
        return (
            f"first apart: prompt {self.prompt} ({self.category}) in launches {a} and {b}, "
            f"{lengths} tokens{ended}; at which token is not kept, only hashes are"
        )


def first_parting(plan: TrialPlan, blocks: tuple[TrialBlock, ...]) -> Parting | None:
    """None where every compared answer is the same, and where answers are sampled."""
    if plan.temperature != 0:
        return None
    kept = [block for _, block in sorted(kept_blocks(plan, blocks).items())]
    base = [(b.place, _answers(b)) for b in kept if b.side == "A"]
    other = [(b.place, _answers(b)) for b in kept if b.side == "B"]
    found = [
        (index, at, to, left[index], right[index])
        for at, left in base
        for to, right in other
        for index in left.keys() & right.keys()
        if left[index].text_sha256 != right[index].text_sha256
    ]
    if not found:
        return None
    index, at, to, one, two = min(found, key=lambda pair: pair[:3])
    return Parting(
        index + 1, one.category, (at + 1, to + 1),
        (one.completion_tokens, two.completion_tokens), (one.finish, two.finish),
    )  # fmt: skip


def _answers(block: TrialBlock) -> dict[int, RequestResult]:
    """By prompt, of the primary concurrency; failed requests have none."""
    requests = block.results[0].requests if block.results else ()
    return {r.index: r for r in requests if r.error is None and r.text_sha256 is not None}
