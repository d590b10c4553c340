"""What a draft can say: special tokens, a transcript's tokens, another draft's, the tokenizer's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed, warned
from specctl.domain.checkpoint.kinds import Kind, kind_in
from specctl.domain.checkpoint.table import Agreement, Coverage, agreement, coverage
from specctl.domain.checkpoint.vocabulary import proposed, table_of
from specctl.domain.figures import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.checkpoint.values import Finding, Pairing

_SPARE = re.compile(r"reserved|unused|placeholder|extra_?id|dummy|\bpad\b|<pad|unk", re.IGNORECASE)
"""Special tokens that no answer contains."""

SHOWN = 6
GOOD_SHARE, POOR_SHARE = 0.98, 0.9
ALIKE_SHARE = 0.99
"""Positions of two tables that agree, from which on one head fits both."""


def check_specials(pairing: Pairing) -> Finding | None:
    """Tokens that end an answer and mark its parts are among those it can propose."""
    ids, key, tokens = proposed(pairing), "special-tokens", pairing.target.tokens
    if kind_in(pairing.draft.config) is not Kind.EAGLE3:
        return None
    if ids is None:
        return hinted(key, "not checked: which tokens the draft can propose is not known")
    if not tokens.end_tokens and not tokens.specials:
        return hinted(key, "the target's files name no special tokens")
    known = set(ids)
    ends = [one for one in tokens.end_tokens if one not in known]
    marks = {n: t for n, t in tokens.specials.items() if not _SPARE.search(t)}
    lost = {n: t for n, t in marks.items() if n not in known and n not in ends}
    names = {**dict.fromkeys(tokens.end_tokens, "end of text"), **tokens.specials}
    if ends and len(ends) == len(tokens.end_tokens):
        words = f"no token that ends an answer can be proposed: {_named(ends, names)}"
        means = "the last step of every answer is lost; nothing else"
        return warned(key, words, means, "Train with the end tokens in the table.")
    if not lost and not ends:
        return passed(
            key, f"all {len(marks | dict.fromkeys(tokens.end_tokens, ''))} can be proposed"
        )
    words = f"{len(lost) + len(ends)} cannot be proposed: {_named([*ends, *lost], names)}"
    return hinted(key, words, "a step is lost wherever one is said")


def _named(ids: Iterable[int], names: dict[int, str]) -> str:
    many = list(ids)
    shown = ", ".join(f"{one} {names.get(one, '')}".rstrip() for one in many[:SHOWN])
    return f"{shown} …" if len(many) > SHOWN else shown


def coverage_of(pairing: Pairing) -> Coverage | None:
    """How much of the transcript the draft could have proposed; None when that is not known."""
    ids = proposed(pairing)
    if pairing.transcript is None or not pairing.transcript.counts or ids is None:
        return None
    return coverage(pairing.transcript.counts, ids)


def check_transcript(pairing: Pairing) -> Finding | None:
    """The share of what was said that the draft can propose at all: a bound on what is accepted."""
    key, found = "transcript", coverage_of(pairing)
    if pairing.transcript is None:
        return None
    if found is None or found.share is None:
        why = pairing.transcript.how or "which tokens the draft can propose is not known"
        return hinted(key, f"not checked: {why}")
    words = (
        f"{_share(found.share)} of {found.tokens:,} tokens can be proposed, "
        f"{found.covered_distinct:,} of {found.distinct:,} different ones "
        f"({pairing.transcript.how})"
    )
    if found.share >= GOOD_SHARE:
        return passed(key, words)
    means = f"no more than {_share(found.share)} of single proposals can ever be right"
    step = "Retrain the table on text like this."
    if found.share >= POOR_SHARE:
        return hinted(key, words, means, step)
    return warned(key, words, means, step)


def agreement_of(pairing: Pairing) -> Agreement | None:
    """The two drafts' tables side by side; None when one of them is not known."""
    if pairing.other is None:
        return None
    vocabulary = pairing.target.config.vocab_size if pairing.target.config else None
    own, other = table_of(pairing.draft, vocabulary), table_of(pairing.other, vocabulary)
    if own is None or other is None:
        return None
    return agreement(own.intended.ids, other.intended.ids)


def _share(value: float | None) -> str:
    """With the digit that tells almost all from all; only all is 100%."""
    if value is None:
        return UNKNOWN
    return "100%" if value == 1 else f"{min(value, 0.999):.1%}"


def check_other(pairing: Pairing) -> Finding | None:
    """Whether head and table of two drafts could stand in for each other."""
    key, other = "against", pairing.other
    if other is None:
        return None
    found = agreement_of(pairing)
    if found is None:
        lacking = pairing.draft if pairing.draft.d2t is None else other
        why = lacking.missing.get("d2t")
        words = why.detail if why is not None else "it has no d2t"
        return hinted(key, f"cannot be compared: {lacking.name}: {words}")
    words = (
        f"{found.positions:,} of {found.of:,} positions map to the same target token as in "
        f"{other.name}; {found.shared:,} tokens are in both sets ({_share(found.overlap)})"
    )
    if found.positions == found.of and not found.only_draft and not found.only_other:
        return passed(key, words)
    if found.of and found.positions / found.of >= ALIKE_SHARE:
        return hinted(key, words, "nearly the same table")
    means = "head and table of one mean nothing in the other: neither may be kept when the other is"
    step = "Start training from its layers only, with a head of its own; or from scratch."
    return warned(key, words, means, step)


def check_tokenizer(pairing: Pairing) -> Finding | None:
    """One id, one token: what the two say to each other is ids."""
    key, found = "tokenizer", pairing.vocabularies
    is_standalone = pairing.algorithm == "STANDALONE"
    if pairing.target.path == pairing.draft.path:
        return None
    if found.same_file:
        return passed(key, "the vocabulary files are the same, byte by byte")
    if found.differing is not None and found.entries is not None:
        return _differing(pairing, is_standalone=is_standalone)
    reason = found.missing.get("tokenizer")
    why = reason.detail if reason is not None else "the draft brings no vocabulary file"
    if not is_standalone:
        return None if found.same_file is None else hinted(key, f"not compared: {why}")
    return hinted(key, f"not compared: {why}", "if ids differ in meaning, proposals are noise")


def _differing(pairing: Pairing, *, is_standalone: bool) -> Finding:
    key, found = "tokenizer", pairing.vocabularies
    target, draft = found.entries or (0, 0)
    if not found.differing:
        return passed(key, f"other files, the same {target:,} tokens by the same ids")
    shown = f": {', '.join(found.examples)}" if found.examples else ""
    words = f"{found.differing:,} ids differ of {target:,} and {draft:,}{shown}"
    if is_standalone:
        means = "wherever such a token is said, the draft reads or proposes another one"
        step = "Take a draft of the same family, with the same tokenizer."
        if found.differing * 100 < target:
            return warned(key, words, means, step)
        return failed(key, words, means, step)
    means = "SGLang tokenises for the target alone; the draft may have been trained on other ids"
    return warned(key, words, means, "Take the draft that was made for this target.")
