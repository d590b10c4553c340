"""`breakeven` on the rows of SpecBundle: its figures come out, and what cannot be is flagged."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from specctl.domain.breakeven import Typed, work_out

FILE = Path(__file__).parents[2] / "data/published/specbundle.csv"
LINES = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
ROWS: list[dict[str, Any]] = [
    {key: value if key in {"target", "dataset"} else float(value) for key, value in row.items()}
    for row in csv.DictReader(LINES)
]
SHAPES = ((3, 1, 4), (5, 1, 6), (7, 1, 8), (7, 4, 8))
PUBLISHED = {
    name: [tuple(map(float, part.split())) for part in rest.split("|")]
    for name, rest in (
        line.split(maxsplit=1)
        for line in """\
Llama-3.1-8B            2.92 2.13 1.37 | 3.61 2.41 1.50 | 4.01 2.45 1.64 | 3.17 1.76 1.80
Llama-3.3-70B           2.69 2.12 1.26 | 3.00 2.23 1.34 | 3.16 2.18 1.44 | 2.81 1.79 1.57
Qwen3-30B-A3B           2.82 1.68 1.68 | 3.43 1.81 1.90 | 3.81 1.82 2.08 | 3.17 1.51 2.09
Qwen3-235B-A22B         2.77 1.69 1.64 | 3.25 1.75 1.86 | 3.47 1.83 1.89 | 2.67 1.45 1.84
Qwen3-Coder-30B-A3B     3.27 2.00 1.63 | 4.22 2.25 1.88 | 4.89 2.39 2.04 | 3.90 1.83 2.13
Qwen3-Coder-480B-A35B   3.29 1.77 1.86 | 4.27 2.05 2.08 | 4.94 2.22 2.22 | 3.98 1.80 2.20
Qwen3-Next-80B-A3B-FP8  2.94 1.46 2.02 | 3.62 1.64 2.20 | 4.04 1.69 2.38 | 4.33 1.72 2.51
Kimi-K2                 3.08 1.56 1.98 | 3.84 1.66 2.31 | 4.29 1.65 2.60 | 3.03 1.22 2.49
Ling-flash-2.0          2.84 1.58 1.79 | 3.44 1.64 2.07 | 3.79 1.64 2.28 | 2.96 1.40 2.11
Llama-4-Scout           2.82 3.08 0.97 | 3.42 3.25 1.12 | 3.80 3.18 1.26 | 2.84 2.34 1.25
""".splitlines()
    )
}
"""Means over the data sets: accept length, speedup, break-even accept length."""

ROUNDING = 0.011
IMPLAUSIBLE = "suspect the baseline"


def worked_out(row):
    return work_out(
        Typed(
            base_tps=row["base_tps"], tps=row["tps"], accept_length=row["accept_length"],
            steps=int(row["steps"]),
        )
    )  # fmt: skip


def by_setting():
    groups = defaultdict(list)
    for row in ROWS:
        key = (row["target"], (row["steps"], row["topk"], row["draft_tokens"]))
        groups[key].append(worked_out(row))
    return groups


@pytest.mark.parametrize("target", PUBLISHED)
def test_the_published_means_come_out(target):
    groups = by_setting()
    for shape, expected in zip(SHAPES, PUBLISHED[target], strict=True):
        found = groups[target, shape]
        means = (
            fmean(one.accept_length for one in found),
            fmean(one.predicted_speedup for one in found),
            fmean(one.break_even_accept_length for one in found),
        )
        assert means == pytest.approx(expected, abs=ROUNDING), shape


def test_each_row_gives_its_own_rate_and_speedup_back():
    for row in ROWS:
        found = worked_out(row)
        assert found.predicted_tps == pytest.approx(row["tps"])
        assert found.predicted_speedup == pytest.approx(row["speedup"], rel=0.001)


def test_rows_faster_than_their_accept_length_are_flagged_and_no_others():
    flagged = {
        (row["target"], row["dataset"])
        for row in ROWS
        if any(IMPLAUSIBLE in words for words in worked_out(row).suspects)
    }
    assert flagged == {
        ("Llama-4-Scout", name)
        for name in ("financeqa", "gpqa", "livecodebench", "math500", "mtbench")
    }
    count = sum(row["speedup"] > row["accept_length"] for row in ROWS)
    assert count == sum(bool(worked_out(row).suspects) for row in ROWS) > 10


def test_dense_models_break_even_earlier_than_mixtures_of_experts():
    groups = by_setting()
    dense = [
        fmean(one.break_even_accept_length for one in found)
        for (target, shape), found in groups.items()
        if target in {"Llama-3.1-8B", "Llama-3.3-70B"} and shape[1] == 1
    ]
    sparse = [
        fmean(one.break_even_accept_length for one in found)
        for (target, _), found in groups.items()
        if target not in {"Llama-3.1-8B", "Llama-3.3-70B", "Llama-4-Scout"}
    ]
    assert max(dense) < 1.66
    assert min(sparse) > 1.55
