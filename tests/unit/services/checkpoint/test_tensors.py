"""Faults of tensors and of the table, each a row of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specctl.domain.checkpoint.table import TableForm
from specctl.domain.checkpoint.tokens import agreement_of
from specctl.domain.checkpoint.vocabulary import table_of
from specctl.lab.checkpoints import write_models
from specctl.services.checkpoint import CheckpointRequest, check_checkpoint
from specctl.services.host_files import MOST_BYTES
from tests.checkpoints import (
    DRAFT_VOCABULARY,
    VOCABULARY,
    WIDTH,
    chosen_ids,
    eagle3_config,
    eagle3_tensors,
    marks,
    offsets,
    target_config,
)
from tests.unit.services.checkpoint.rows import ERROR, HINT, WARNING, finding, troubles


async def test_a_good_draft_passes_in_every_row(models, check):
    checked = await check(models.target(), models.draft())
    assert troubles(checked) == {}
    assert checked.pairing.algorithm == "EAGLE3"
    assert {f.key for f in checked.findings} == {
        "architecture", "weights", "hidden-size", "fc-width", "aux-layers", "first-layer", "parts",
        "positions", "vocabulary", "draft-vocabulary", "d2t", "t2d", "special-tokens", "memory",
    }  # fmt: skip
    assert all(not f.means and not f.next_step for f in checked.findings)


async def test_a_seeds_drafter_shows_252_of_32000(models, check):
    first = np.arange(32_000) * 4
    second = first.copy()
    second[252:] += 4
    vocabulary = 4 * 32_100
    config = eagle3_config(vocab_size=vocabulary, draft_vocab_size=32_000)
    target = models.make("target", target_config(vocab_size=vocabulary))
    paths = [
        models.make(name, config, eagle3_tensors(ids, t2d=marks(ids, vocabulary)))
        for name, ids in (("draft", first), ("older", second))
    ]
    checked = await check(target, paths[0], other=paths[1])
    row = finding(checked, "against")
    assert row.severity is WARNING
    assert "252 of 32,000 positions" in row.words
    assert "31,999 tokens are in both sets (99.9%)" in row.words
    found = agreement_of(checked.pairing)
    assert found is not None
    assert (found.positions, found.of, found.shared) == (252, 32_000, 31_999)
    assert checked.table_bytes == 2 * 8 * 32_000
    assert checked.bytes_read <= MOST_BYTES


async def test_the_labs_drafters_are_252_of_32000_alike(connection, tmp_path):
    story: dict[str, dict[str, Any]] = {
        "models": {"kimi-k2.5": {}},
        "drafters": {
            "kimi-k2-eagle3": {"table": "foreign"},
            "kimi-k2.5-eagle3": {"table": "trained"},
        },
    }
    write_models(tmp_path / "models", story)
    names = [str(tmp_path / "models" / name) for name in ("kimi-k2.5", *story["drafters"])]
    request = CheckpointRequest(names[0], names[1], "EAGLE3", other=names[2])
    checked = await check_checkpoint(connection, request)
    assert troubles(checked) == {"against": WARNING}
    found = agreement_of(checked.pairing)
    assert found is not None
    assert (found.positions, found.of) == (252, 32_000)
    assert checked.bytes_read <= MOST_BYTES


FAULTS: dict[str, Any] = {
    "absolute": ({"d2t": chosen_ids()}, "d2t", ERROR, "absolute ids"),
    "unfilled": ({"d2t": np.zeros(DRAFT_VOCABULARY, np.int64)}, "d2t", ERROR, "never filled"),
    "beyond": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], VOCABULARY + 9))},
        "d2t", ERROR, "1 point outside the target's 4096 tokens",
    ),
    "before": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], -9))}, "d2t", ERROR, "1 point outside",
    ),
    "twice": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], 5000 - 5000))},
        "d2t", ERROR, "1 point at a token that is taken",
    ),
    "shuffled": (
        {"d2t": offsets(np.roll(chosen_ids(), 1))}, "d2t", HINT, "not ascending in 1 places",
    ),
    "no-table": ({"d2t": None, "t2d": None}, "d2t", ERROR, "none, although"),
    "floats": ({"d2t": np.zeros(DRAFT_VOCABULARY, np.float32)}, "d2t", HINT, "cannot be read"),
    "other-marks": ({"t2d": marks(chosen_ids(7))}, "t2d", WARNING, "of them among the 512 of d2t"),
    "short-marks": ({"t2d": marks(chosen_ids(of=4000), 4000)}, "t2d", WARNING, "4,000 entries"),
    "narrow-fc": ({"fc__weight": np.zeros((WIDTH, 2 * WIDTH), np.float16)}, "fc-width", ERROR,
                  "64 × 128, config.json makes it 64 × 192"),
    "no-fc": ({"fc__weight": None}, "fc-width", ERROR, "no fc.weight"),
    "no-head": ({"lm_head__weight": None}, "draft-vocabulary", ERROR, "no lm_head for 512 tokens"),
    "small-head": ({"lm_head__weight": np.zeros((99, WIDTH), np.float16)}, "draft-vocabulary",
                   ERROR, "lm_head 99"),
    "half-layer": (
        {"midlayer__self_attn__q_proj__weight": np.zeros((WIDTH, WIDTH), np.float16)},
        "first-layer", ERROR, "an EAGLE-3 layer reads 128",
    ),
    "no-mlp": ({"midlayer__mlp__down_proj__weight": None}, "parts", ERROR, "down_proj"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_of_the_tensors_is_its_own_row(models, check, fault):
    changes, key, severity, words = FAULTS[fault]
    checked = await check(models.target(), models.draft(**changes))
    row = finding(checked, key)
    assert row.severity is severity
    assert words in row.words
    assert row.means or severity is HINT
    others = {"t2d", "special-tokens", "draft-vocabulary", key}
    assert troubles(checked).keys() <= others, troubles(checked)


async def test_a_table_that_reads_well_both_ways_is_a_warning_where_it_is_large(models, check):
    ids = np.arange(0, 2400, 2)
    tensors = eagle3_tensors(ids, d2t=ids, t2d=None)
    config = eagle3_config(draft_vocab_size=len(ids))
    checked = await check(models.target(), models.make("draft", config, tensors))
    assert finding(checked, "d2t").severity is WARNING
    table = table_of(checked.pairing.draft, VOCABULARY)
    assert table is not None
    assert table.form is TableForm.EITHER
