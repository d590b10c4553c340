"""What a draft can propose, by tokenizers and transcripts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from specctl.domain.checkpoint.tokens import coverage_of
from specctl.facts.transcripts import read_transcript
from tests.checkpoints import (
    END,
    VOCABULARY,
    chosen_ids,
    eagle3_config,
    eagle3_tensors,
    model_tensors,
    target_config,
    tokenizer_json,
)
from tests.unit.services.checkpoint.rows import HINT, WARNING, finding


async def test_tokenizers_are_equal_by_file_then_by_id(models, check):
    target = models.target()
    small = target_config(hidden_size=32)
    same = models.make("same", small, model_tensors(2, 32), tokenizer__json=tokenizer_json())
    assert "byte by byte" in finding(await check(target, same), "tokenizer").words
    other = {**tokenizer_json(), "post_processor": {"type": "ByteLevel"}}
    alike = models.make("alike", small, model_tensors(2, 32), tokenizer__json=other)
    assert "the same 4,096 tokens" in finding(await check(target, alike), "tokenizer").words
    swapped = {f"w{n}": n for n in range(VOCABULARY)} | {"w7": 8, "w8": 7}
    near = models.make("near", small, model_tensors(2, 32), tokenizer__json=tokenizer_json(swapped))
    row = finding(await check(target, near), "tokenizer")
    assert row.severity is WARNING
    assert '7 is "w7" in the target, "w8" in the draft' in row.words
    without = models.make("without", small, model_tensors(2, 32))
    assert finding(await check(target, without), "tokenizer").severity is HINT


async def test_end_tokens_that_cannot_be_proposed_are_said(models, check):
    ids = np.setdiff1d(chosen_ids(), [END, 40])
    draft = models.make("draft", eagle3_config(draft_vocab_size=len(ids)), eagle3_tensors(ids))
    target = models.target()
    row = finding(await check(target, draft), "special-tokens")
    assert row.severity is WARNING
    assert f"{END} </s>" in row.words
    Path(target, "generation_config.json").write_text(json.dumps({"eos_token_id": [END, 1]}))
    row = finding(await check(target, draft), "special-tokens")
    assert (row.severity, row.words) == (
        HINT, "2 cannot be proposed: 2 </s>, 40 <think>",
    )  # fmt: skip


async def test_the_share_of_a_transcript_that_can_be_proposed(models, check):
    target, draft = models.target(), models.draft()
    left_out = next(n for n in range(VOCABULARY) if n not in chosen_ids())
    lines = [json.dumps([1, 2, 40, 40, left_out]), '{"output_ids": [1, 1, 1, 1, 1]}']
    checked = await check(
        target, draft, transcript=read_transcript(lines), transcript_name="a.jsonl"
    )
    row = finding(checked, "transcript")
    assert row.severity is HINT
    assert row.words == (
        "90.0% of 10 tokens can be proposed, 3 of 4 different ones (ids of a.jsonl)"
    )
    found = coverage_of(checked.pairing)
    assert found is not None
    assert found.most_left_out == ((left_out, 1),)


async def test_texts_are_not_counted_where_the_host_has_no_tokenizer_library(models, check):
    said = read_transcript(['{"text": "w1 w2"}'])
    checked = await check(models.target(), models.draft(), transcript=said)
    row = finding(checked, "transcript")
    assert row.severity is HINT
    assert "no tokenizers" in row.words
