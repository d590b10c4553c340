"""What a trial rests on, as lines of text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.tui.render.evidence import (
    bill_lines,
    category_lines,
    output_lines,
    traffic_line,
    unasked_lines,
)
from specctl.tui.render.lines import plain, width
from specctl.tui.trials import make_sheet
from tests.tui import trials


def test_categories_are_deviations_from_the_whole() -> None:
    text = plain(category_lines(trials.decided(), 60))
    assert "code" in text
    assert "0% to 0%" in text
    assert "how far the category's ratio lies" in text


def test_outputs_that_part_name_the_first_prompt() -> None:
    sheet = trials.decided()
    first = sheet.blocks[1]
    requests = list(first.results[0].requests)
    requests[3] = replace(requests[3], text_sha256="f" * 64)
    other = replace(first, results=(replace(first.results[0], requests=tuple(requests)),))
    parted = make_sheet(sheet.plan, [sheet.blocks[0], other, *sheet.blocks[2:]])
    text = plain(output_lines(parted, 200))
    assert "▲ 23 of 24 prompts the same" in text
    assert "first apart: prompt 4 (chat) in launches 1 and 2" in text
    sampled = make_sheet(replace(sheet.plan, temperature=0.7), sheet.blocks)
    assert "not compared: answers are sampled" in plain(output_lines(sampled, 100))


def test_the_bill_says_why_energy_is_not_known() -> None:
    text = plain(bill_lines(trials.decided(), 60))
    assert "1,490,000" in text
    assert "B has room for 19% fewer KV tokens." in text
    assert "energy, J/tok" in text
    assert "energy: " in text


def test_energy_is_the_mean_of_the_launches() -> None:
    sheet = trials.decided()
    blocks = [
        replace(b, results=(replace(b.results[0], energy_per_token_j=32.0 + n),))
        for n, b in enumerate(sheet.blocks)
    ]
    text = plain(bill_lines(make_sheet(sheet.plan, blocks), 60))
    assert "34.7" in text
    assert "34.3" in text


def test_what_nobody_asked_for() -> None:
    assert unasked_lines(None, 60) == []
    assert "nothing differs unasked" in plain(unasked_lines((), 60))
    text = plain(unasked_lines(trials.UNASKED, 60))
    assert "▲ max-running-requests 64 in A, 48 in B" in text


@pytest.mark.parametrize("cells", [42, 56, 76])
def test_no_line_is_wider_than_its_panel(cells: int) -> None:
    sheet = replace(trials.decided(), differences=trials.UNASKED)
    lines = [
        *category_lines(sheet, cells), *output_lines(sheet, cells), *bill_lines(sheet, cells),
        *unasked_lines(sheet.differences, cells), *traffic_line(sheet, cells),
    ]  # fmt: skip
    assert max(width(line) for line in lines) <= cells
