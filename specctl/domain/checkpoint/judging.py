"""Every rule about a draft beside a target, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint import architecture, build, memory, mtp, shapes, tokens, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.domain.checkpoint.values import Finding, Pairing

RULES: tuple[Callable[[Pairing], Finding | None], ...] = (
    shapes.check_target,
    architecture.check_architecture,
    build.check_build,
    architecture.check_form,
    shapes.check_hidden,
    shapes.check_fc,
    shapes.check_aux_layers,
    shapes.check_projections,
    shapes.check_layers,
    shapes.check_parts,
    shapes.check_positions,
    vocabulary.check_target_vocabulary,
    vocabulary.check_draft_vocabulary,
    vocabulary.check_d2t,
    vocabulary.check_t2d,
    tokens.check_specials,
    tokens.check_tokenizer,
    tokens.check_other,
    tokens.check_transcript,
    mtp.check_mtp,
    memory.check_memory,
)


def judge(pairing: Pairing) -> tuple[Finding, ...]:
    """What the files say of a draft, one finding per rule that applies."""
    found = (rule(pairing) for rule in RULES)
    return tuple(finding for finding in found if finding is not None)
