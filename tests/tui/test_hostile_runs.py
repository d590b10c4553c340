"""Hostile text in what the ledger, a host or a person gives the screens of runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.domain.comparison import Unasked
from specctl.domain.errors import SpecctlError
from specctl.domain.missing import Missing, Why
from specctl.domain.runs import RunBrief, RunKind
from specctl.domain.trial.screening_plan import Omitted
from specctl.tui.render.evidence import unasked_lines
from specctl.tui.render.gpu_note import gpu_note, server_note
from specctl.tui.render.lines import fit, guard, plain, width
from specctl.tui.render.run import run_lines
from specctl.tui.render.screening import screening_lines
from specctl.tui.screenings import make_screening_sheet
from specctl.tui.screens.run import RunDialog
from specctl.tui.screens.topology import TopologyDialog
from tests.tui import parts, story, trials
from tests.tui.driving import on, press, running, settled
from tests.tui.test_hostile import TEXTS, assert_safe

if TYPE_CHECKING:
    from specctl.domain.run_sheet import RunSheet


def _sheet(text: str) -> RunSheet:
    found = trials.run_sheet("77aa0001")
    pairs = ((text, text), ("known", text))
    requests = tuple(replace(one, arm=text, category=text, error=text) for one in found.requests)
    entry = replace(found.entry, host=text, profiles=(text, text), outcome=text)
    return replace(
        found, entry=entry, conditions=pairs, arguments=pairs, figures=pairs,
        recipes=((text, f"{text}\n{text}"),), requests=requests[:3],
    )  # fmt: skip


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("cells", [30, 76, 196])
def test_lines_of_runs_are_safe_and_no_wider_than_the_screen(text: str, cells: int) -> None:
    sheet = trials.screening_sheet()
    plan = replace(sheet.plan, omitted=(Omitted(text, text),))
    gpu = replace(parts.gpu(0), power_w=None, missing={"power_w": Missing(Why.ERROR, text)})
    sample = replace(
        parts.server_sample(), ttft_p50_s=None, missing={"ttft_p50_s": Missing(Why.ERROR, text)}
    )
    lines = [
        *run_lines(_sheet(text), cells),
        *screening_lines(make_screening_sheet(plan, sheet.blocks), None, cells),
        *unasked_lines((Unasked(text, text, text, [text]),), cells),
        gpu_note(gpu, cells), server_note(sample, cells),
    ]  # fmt: skip
    safe = [guard(line) for line in lines]
    assert all(line.isprintable() for line in plain(safe).splitlines())
    assert {width(fit(line, cells)) for line in safe} == {cells}


@pytest.mark.parametrize("text", [TEXTS[1], TEXTS[3], TEXTS[4], TEXTS[6]], ids=range(4))
async def test_no_run_reaches_the_terminal_as_it_is(text: str) -> None:
    async with running(story.pro6k_01(), size=(80, 24)) as (app, pilot, fake):
        entry = RunBrief(
            "77aa0001", RunKind.PROBE, text, (text, text), parts.NOW_S, None, text, simulated=True
        )
        fake.other_runs = (entry, replace(entry, id=text[:8] or "x", kind=RunKind.COMPARISON))

        async def read_run(run: str) -> RunSheet:
            del run
            return _sheet(text)

        async def refuse(host: str) -> object:
            raise SpecctlError(text, hint=f"{host} {text}")

        fake.read_run = read_run  # type: ignore[method-assign]
        fake.read_topology = refuse  # type: ignore[method-assign, assignment]
        await press(pilot, "T", "t")
        await settled(pilot)
        assert_safe(app)
        await press(pilot, "g", "enter")
        await settled(pilot)
        on(app, RunDialog)
        assert_safe(app)
        await press(pilot, "G", "escape", "d", "enter")
        await settled(pilot)
        assert_safe(app)
        await press(pilot, "F", "enter", "i")
        await settled(pilot)
        on(app, TopologyDialog)
        assert_safe(app)
