"""The verdict of a trial: two analyses that have to agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.levels import find_levels
from specctl.domain.trial.looks import Look, Word, take_look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.blocks import Block
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.levels import Levels

COMPLETED_LEAST = 0.98
"""Share of the prompts that each arm has to answer for a word on speed."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """One reading of the launches."""

    levels: Levels | None
    look: Look | None
    """None before the first look, or when no prompt is left."""

    left_out: tuple[str, ...] = ()
    """Why launches are not in it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the launches so far say."""

    word: Word | None
    """None: the trial goes on, or one launch per arm is all there is."""

    clean: Analysis
    """Without the launches that something disturbed."""

    as_it_ran: Analysis
    """With them."""

    asked: int
    """Prompts of the workload."""

    completed: tuple[float, float]
    """Share of the prompts answered in every launch, by arm."""

    @property
    def is_contradicted(self) -> bool:
        """The two analyses say different words."""
        looks = (self.clean.look, self.as_it_ran.look)
        words = [look.word for look in looks if look is not None and look.word is not None]
        return len(set(words)) > 1


def judge(blocks: Sequence[Block], design: Design, *, asked: int) -> Verdict:
    """The verdict after the launches in `blocks`, in the order in which they ran."""
    usable = tuple(block for block in blocks if not block.disturbed)
    why = tuple(block.disturbed for block in blocks if block.disturbed)
    clean = _analyse(usable, design, why)
    as_it_ran = clean if not why else _analyse(blocks, design, ())
    completed = (_completed(blocks, "A", asked), _completed(blocks, "B", asked))
    word = _agreed(clean.look, as_it_ran.look, blocks, design)
    if word is not None and min(completed) < COMPLETED_LEAST:
        word = Word.NOT_ENOUGH_EVIDENCE
    return Verdict(word, clean, as_it_ran, asked, completed)


def _analyse(blocks: Sequence[Block], design: Design, left_out: tuple[str, ...]) -> Analysis:
    levels = find_levels(blocks) if blocks else None
    if levels is None:
        return Analysis(None, None, left_out)
    fit = fit_levels(levels.y, levels.sides, levels.middles_s, floor=design.floor)
    return Analysis(levels, take_look(fit, design) if fit else None, left_out)


def _agreed(
    clean: Look | None, as_it_ran: Look | None, blocks: Sequence[Block], design: Design
) -> Word | None:
    words = {look.word if look else None for look in (clean, as_it_ran)}
    if Word.NOT_ENOUGH_EVIDENCE in words:
        return Word.NOT_ENOUGH_EVIDENCE
    if len(words) == 1:
        return words.pop()
    run = min(sum(block.side == side for block in blocks) for side in ("A", "B"))
    return Word.NOT_ENOUGH_EVIDENCE if run >= design.most_launches else None


def _completed(blocks: Sequence[Block], side: str, asked: int) -> float:
    ours = [set(block.answers) for block in blocks if block.side == side]
    if not ours or asked <= 0:
        return 0.0
    return len(set.intersection(*ours)) / asked
