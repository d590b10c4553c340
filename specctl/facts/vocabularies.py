"""What a host answered about its vocabulary files and a transcript's tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.checkpoint.values import Vocabularies
from specctl.domain.missing import Missing, Why
from specctl.facts.readings import counted, mapping, read_text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_vocabularies(answer: Mapping[str, Any] | Missing) -> Vocabularies:
    """Two vocabularies compared; with the reason where they could not be."""
    if isinstance(answer, Missing):
        return Vocabularies(missing={"tokenizer": answer})
    same, entries, examples = answer.get("same_file"), answer.get("entries"), answer.get("examples")
    why = read_text(answer.get("why"))
    sizes = [whole(one) for one in entries[:2]] if isinstance(entries, list) else []
    known = (sizes[0], sizes[1]) if len(sizes) == 2 else (None, None)  # noqa: PLR2004
    return Vocabularies(
        same_file=same if isinstance(same, bool) else None,
        entries=(known[0], known[1]) if known[0] is not None and known[1] is not None else None,
        differing=whole(answer.get("differing")),
        examples=tuple(read_text(one) for one in examples) if isinstance(examples, list) else (),
        hashed_bytes=whole(answer.get("hashed_bytes")) or 0,
        missing={"tokenizer": Missing(Why.ERROR, why)} if why else {},
    )


def read_counts(answer: Mapping[str, Any]) -> tuple[dict[int, int], str]:
    """How often each id was said, and which library told the ids."""
    counts = {
        number: times
        for token, value in mapping(answer.get("counts")).items()
        if (number := counted(token)) is not None and (times := whole(value)) is not None
    }
    return counts, read_text(answer.get("library")) or "tokenizer"
