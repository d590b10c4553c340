"""Which of the target's tokens a draft can propose, and whether its table says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed, warned
from specctl.domain.checkpoint.kinds import Kind, kind_in
from specctl.domain.checkpoint.table import TableForm, hits_of, read_table

if TYPE_CHECKING:
    from specctl.domain.checkpoint.table import DraftTable, Reading
    from specctl.domain.checkpoint.values import Checkpoint, Finding, Pairing

LARGE_TABLE = 1000
"""From here on a choice of frequent tokens without two neighbours is not to be believed."""

_OTHER = "Take the draft that was made for this target."
_AGAIN = "Export the draft again with d2t[i] = target id - i."
_NOISE = "the tokens it proposes are not those it means: accept length about 1.0"


def table_of(checkpoint: Checkpoint, target_vocabulary: int | None) -> DraftTable | None:
    """The draft's table, read; None when it has none or it could not be read."""
    if checkpoint.d2t is None:
        return None
    own = checkpoint.config.vocab_size if checkpoint.config else None
    return read_table(checkpoint.d2t, target_vocabulary or own, checkpoint.t2d)


def proposed(pairing: Pairing) -> tuple[int, ...] | None:
    """The target tokens the draft can propose, by its table; None when that is not known."""
    vocabulary = _target_vocabulary(pairing)
    table = table_of(pairing.draft, vocabulary)
    if table is not None:
        return table.intended.ids
    if has_table(pairing.draft) or not pairing.draft.tensors or vocabulary is None:
        return None
    own = _reduced(pairing.draft)
    return tuple(range(own if own is not None else vocabulary))


def has_table(checkpoint: Checkpoint) -> bool:
    """The draft holds a d2t, whether or not it could be read."""
    return checkpoint.d2t is not None or checkpoint.tensor("d2t") is not None


def _target_vocabulary(pairing: Pairing) -> int | None:
    return pairing.target.config.vocab_size if pairing.target.config else None


def _reduced(checkpoint: Checkpoint) -> int | None:
    return checkpoint.config.draft_vocab_size if checkpoint.config else None


def check_target_vocabulary(pairing: Pairing) -> Finding | None:
    """Both count the target's tokens alike."""
    target, draft, key = pairing.target.config, pairing.draft.config, "vocabulary"
    if target is None or draft is None:
        return None
    theirs, own = target.vocab_size, draft.vocab_size
    if theirs is None or own is None:
        return hinted(key, "vocabulary sizes cannot be compared: one config.json does not say")
    if theirs == own:
        return passed(key, f"{theirs:,} tokens, as the target")
    words = f"the draft was made for {own:,} tokens, the target has {theirs:,}"
    if pairing.algorithm == "STANDALONE":
        means = (
            "refused after the load since it is checked; before that garbage is put out while the"
            " metrics look well"
        )
        return failed(
            key, words, means, "Take a draft of the same family, with the same tokenizer."
        )
    means = "its ids may stand for other tokens; the embedding is taken from the target"
    return warned(key, words, means, _OTHER)


def check_draft_vocabulary(pairing: Pairing) -> Finding | None:
    """config.json, the table and the head agree on how many tokens are proposed."""
    draft, key = pairing.draft, "draft-vocabulary"
    if kind_in(draft.config) is not Kind.EAGLE3 or draft.config is None or not draft.tensors:
        return None
    said, head, table = _reduced(draft), draft.tensor("lm_head.weight"), draft.tensor("d2t")
    sizes = {
        "config.json": said,
        "d2t": table.shape[0] if table and table.shape else None,
        "lm_head": head.shape[0] if head and head.shape else None,
    }
    known = {name: size for name, size in sizes.items() if size is not None}
    shown = ", ".join(f"{name} {size:,}" for name, size in known.items())
    if len(set(known.values())) > 1:
        means = "the load fails on the shape of lm_head, or tokens beyond the table are proposed"
        return failed(key, f"they disagree: {shown}", means, "Correct draft_vocab_size.")
    if said is None and set(known.values()) - {draft.config.vocab_size}:
        words = f"config.json has no draft_vocab_size, but {shown}"
        means = "SGLang makes a head for all tokens, and fails to load the smaller one"
        return failed(key, words, means, "Set draft_vocab_size in config.json.")
    if said is None:
        return passed(key, "not reduced: the head is the target's")
    if head is None and not draft.config.ties_embeddings:
        means = "the head runs with random weights: accept length about 1.0"
        return failed(key, f"no lm_head for {said:,} tokens", means, "Download the draft again.")
    return passed(key, f"{said:,} tokens: {shown}")


def check_d2t(pairing: Pairing) -> Finding | None:
    """The table itself."""
    draft, theirs = pairing.draft, _target_vocabulary(pairing)
    if kind_in(draft.config) is not Kind.EAGLE3:
        return None
    table = table_of(draft, theirs)
    if table is None:
        return _no_table(pairing)
    size = len(table.as_offsets.ids)
    wrong = _wrong_table(table, theirs)
    if wrong is not None:
        return failed("d2t", f"{size:,} entries{wrong[0]}", wrong[1], _AGAIN)
    if table.form is TableForm.EITHER and size >= LARGE_TABLE:
        words = (
            f"{size:,} entries that read well as offsets and as absolute ids, and no t2d to tell"
        )
        means = (
            "as offsets no two chosen tokens are neighbours, which frequent tokens never are;"
            f" if they are ids, {_NOISE}"
        )
        return warned("d2t", words, means, "Ask whoever made the draft.")
    return _sound_table(table, theirs)


def _wrong_table(table: DraftTable, theirs: int | None) -> tuple[str, str] | None:
    """What is wrong with it, and what that means; nothing for a table of offsets."""
    if table.form is TableForm.UNFILLED:
        size = len(table.as_offsets.ids)
        means = f"only the target's first {size:,} ids are proposed, whatever the head means"
        return ", all zero: never filled", f"{means}: accept length about 1.0"
    if table.form is TableForm.ABSOLUTE:
        return " that are absolute ids; SGLang adds each to its position", _NOISE
    if table.form is TableForm.NEITHER:
        return f"; {_wrong(table.as_offsets, theirs)}", _broken(table)
    return None


def _sound_table(table: DraftTable, theirs: int | None) -> Finding:
    size, falls = len(table.as_offsets.ids), table.as_offsets.falls
    if falls:
        words = f"offsets, {size:,} entries, not ascending in {falls:,} places"
        return hinted("d2t", words, "SGLang does not mind; tools that expect a sorted table do")
    limit = f"below {theirs:,}" if theirs is not None else "not compared with the target's"
    return passed("d2t", f"offsets, {size:,} entries, ascending, each id once, {limit}")


def _no_table(pairing: Pairing) -> Finding | None:
    draft, key, theirs = pairing.draft, "d2t", _target_vocabulary(pairing)
    if has_table(draft):
        return hinted(key, f"cannot be read: {_reason(draft, 'd2t')}")
    own = _reduced(draft)
    if not draft.tensors or own is None or own == theirs:
        return None
    words = f"none, although the draft proposes {own:,} of {theirs or 'more'} tokens"
    means = f"its ids are taken for the target's first {own:,}: {_NOISE}"
    return failed(key, words, means, "Download the draft again, or export it with its table.")


def _reason(draft: Checkpoint, key: str) -> str:
    why = draft.missing.get(key)
    return why.detail if why is not None else "it was not read"


def _wrong(reading: Reading, vocabulary: int | None) -> str:
    parts = []
    if reading.outside:
        parts.append(f"{reading.outside:,} point outside the target's {vocabulary or '?'} tokens")
    if reading.repeated:
        parts.append(f"{reading.repeated:,} point at a token that is taken")
    return ", ".join(parts)


def _broken(table: DraftTable) -> str:
    if table.as_offsets.outside:
        return "a token that does not exist may be proposed: the server ends with a CUDA assertion"
    return "some tokens are never proposed, others for two reasons: accept length falls"


def check_t2d(pairing: Pairing) -> Finding | None:
    """The table of the other direction, which SGLang does not read: evidence beside d2t."""
    draft, key, theirs = pairing.draft, "t2d", _target_vocabulary(pairing)
    if draft.t2d is None:
        if draft.tensor("t2d") is None:
            return None
        return hinted(key, f"cannot be read: {_reason(draft, 't2d')}")
    if theirs is not None and len(draft.t2d) != theirs:
        words = f"{len(draft.t2d):,} entries, the target has {theirs:,} tokens"
        return warned(key, words, "the draft was made for another vocabulary", _OTHER)
    table, marked = table_of(draft, theirs), len(draft.t2d) - draft.t2d.count(0)
    if table is None:
        return passed(key, f"marks {marked:,} of {len(draft.t2d):,} tokens")
    hits, size = hits_of(table.intended.ids, draft.t2d), len(table.intended.ids)
    if hits == marked == size:
        return passed(key, f"marks the same {marked:,} tokens")
    words = f"marks {marked:,} tokens, {hits:,} of them among the {size:,} of d2t"
    means = "one of both is not of this draft; SGLang goes by d2t, which training may not have"
    return warned(key, words, means, "Ask for the files of one training run.")
