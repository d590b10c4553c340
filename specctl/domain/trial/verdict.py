"""The verdict of a trial: two analyses that have to agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.levels import find_levels
from specctl.domain.trial.looks import Look, Word, take_look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.blocks import Block
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.levels import Levels
    from specctl.domain.trial.order import Side

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

    left_out_sides: tuple[Side, ...] = ()
    """Of which arm each of them was."""

    @property
    def word(self) -> Word | None:
        """What it says by itself."""
        return self.look.word if self.look else None


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
        """The two analyses do not say the same, so no word can be given."""
        return self.clean.word is not self.as_it_ran.word

    @property
    def is_incomplete(self) -> bool:
        """Too many prompts were not answered for a word on speed."""
        return min(self.completed) < COMPLETED_LEAST


def judge(blocks: Sequence[Block], design: Design, *, asked: int) -> Verdict:
    """The verdict after the launches in `blocks`, in the order in which they ran."""
    usable = tuple(block for block in blocks if not block.disturbed)
    disturbed = tuple(block for block in blocks if block.disturbed)
    clean = _analyse(usable, design, disturbed)
    as_it_ran = _analyse(blocks, design, ()) if disturbed else clean
    completed = (_completed(blocks, "A", asked), _completed(blocks, "B", asked))
    word = _agreed(clean.look, as_it_ran.look, blocks, design)
    found = Verdict(word, clean, as_it_ran, asked, completed)
    if word is not None and found.is_incomplete:
        return replace(found, word=Word.NOT_ENOUGH_EVIDENCE)
    return found


def _analyse(blocks: Sequence[Block], design: Design, left_out: Sequence[Block]) -> Analysis:
    levels = find_levels(blocks) if blocks else None
    fit = (
        fit_levels(levels.y, levels.sides, levels.middles_s, floor=design.floor) if levels else None
    )
    return Analysis(
        levels,
        take_look(fit, design) if fit else None,
        tuple(block.disturbed for block in left_out),
        tuple(block.side for block in left_out),
    )


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
