"""Hostile text in logs, the command log, new machines, plans of trials, and recordings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.recording import Recording, RecordingFile
from specctl.domain.doctor import Level, Row
from specctl.domain.errors import SpecctlError
from specctl.domain.recording import RecordingHead
from specctl.domain.remote_command import RemoteCommand, Way
from specctl.tui.replay import ReplayApp
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.choice import ChoiceDialog
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.log import LogScreen
from specctl.tui.screens.screening import ScreeningDialog
from specctl.tui.screens.trial import TrialScreen
from specctl.tui.screens.trial_plan import TrialPlanDialog
from tests.tui import parts, story, trials
from tests.tui.driving import on, press, running, settled, until
from tests.tui.test_hostile import TEXTS, assert_safe, events
from tests.unit.services.test_replaying import Hands

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk
    from specctl.tui.screenings import ScreeningSheet

MIXED = "".join(TEXTS[n] for n in (1, 0, 2, 3, 4))
WORST = pytest.mark.parametrize("text", [MIXED, TEXTS[6][:30_000]], ids=["mixed", "long"])
SMALL = (80, 24)


@WORST
async def test_no_log_and_no_command_reaches_the_terminal_as_it_is(text: str) -> None:
    async with running(story.pro6k_01(), size=SMALL) as (app, pilot, fake):
        fake.log_lines = [text, f"[2026-01-01 00:00:00 TP0] {text}", f"Traceback {text}"]
        fake.runs_before = [[text]]
        change = RemoteCommand(
            parts.NOW_S, "pro6k-01", Way.COMMAND, text, (text, text), {text[:99]: text}, text,
            is_failure=True, changes=True, elapsed_s=0.1,
        )  # fmt: skip
        fake.done = [change, replace(change, way=Way.HTTP, argv=(), asked={"url": text})]
        for keys in (
            ("L",),
            ("w",),
            ("t",),
            ("exclamation_mark",),
            ("slash", "x", "enter"),
            ("p",),
        ):
            await press(pilot, *keys)
            await settled(pilot)
            on(app, LogScreen)
            assert_safe(app)
        for words in (("at",), ("g",), ("enter",), ("slash", "x")):
            await press(pilot, *words)
            on(app, CommandsScreen)
            assert_safe(app)


@WORST
async def test_neither_a_new_machine_nor_what_is_typed_or_raised_reaches_it(text: str) -> None:
    async with running(story.pro6k_01(), size=SMALL) as (app, pilot, fake):
        fake.rows_of_new = (Row(text, Level.WARN, text, text), Row(text, Level.FAIL, text, text))
        fake.ssh_aliases = lambda: {text[:200]: text}  # type: ignore[method-assign]
        await press(pilot, "n")
        on(app, ChoiceDialog)
        assert_safe(app)
        await press(pilot, "enter")
        await settled(pilot)
        on(app, ConfirmDialog)
        assert_safe(app)
        fake.refuse = SpecctlError(text, hint=text)
        for keys in (("escape", "n", "enter"), ("escape", "r"), ("enter", "p"), ("s", "enter")):
            await press(pilot, *keys)
            await settled(pilot)
            assert_safe(app)


@WORST
async def test_no_plan_of_a_trial_and_no_screening_reaches_it(text: str) -> None:
    def ask_trial(host: str, profile: str) -> TrialAsk:
        found = trials.ask(host, profile)
        return replace(
            found, baseline=text, workload=text, others=(text,), over=(text,),
            baselines=(text, "b"), workloads=(text,),
        )  # fmt: skip

    async def refuse(_: TrialAsk) -> Proposal:
        raise SpecctlError(text, hint=text)

    async def read_screening(screening: str) -> ScreeningSheet:
        del screening
        found = trials.screening_sheet()
        plan = replace(found.plan, host=text, workload=text)
        return replace(found, plan=plan)

    async with running(story.pro6k_01(), size=SMALL) as (app, pilot, fake):
        fake.read_screening = read_screening  # type: ignore[method-assign]
        await press(pilot, "T")
        await settled(pilot)
        await press(pilot, "slash", *"candidates", "enter", "enter")
        await settled(pilot)
        on(app, ScreeningDialog)
        assert_safe(app)
        await press(pilot, "escape", "escape", "escape")
        fake.ask_trial = ask_trial  # type: ignore[method-assign]
        fake.plan_trial = refuse  # type: ignore[method-assign, assignment]
        await press(pilot, "enter", "c", *"eagle", "enter")
        await settled(pilot)
        on(app, TrialPlanDialog)
        assert_safe(app)
        for key in ("up", "up", "x", "escape"):
            await press(pilot, key)
            assert_safe(app)


@WORST
async def test_no_trial_reaches_it(text: str) -> None:
    async with running(story.pro6k_01(), size=SMALL) as (app, pilot, fake):
        sheet = trials.decided()
        plan = replace(sheet.plan, baseline=text, profile=text, workload=text)
        fake.sheets_of_trials = [replace(sheet, plan=plan)]
        await press(pilot, "T")
        await settled(pilot)
        assert_safe(app)
        await press(pilot, "slash", *"slower", "enter", "enter")
        await settled(pilot)
        on(app, TrialScreen)
        for keys in ((), ("3",), ("4",), ("5",), ("plus",)):
            await press(pilot, *keys)
            assert_safe(app)


@WORST
async def test_no_alert_unfolded_or_filtered_reaches_it(text: str) -> None:
    async with running(events(text), "A", size=SMALL) as (app, pilot, _):  # type: ignore[arg-type]
        for keys in ((), ("g",), ("y",), ("slash", "x"), ("escape", "slash", *"zz", "enter")):
            await press(pilot, *keys)
            on(app, AlertsScreen)
            assert_safe(app)


@WORST
async def test_no_recording_reaches_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    file = RecordingFile(path, RecordingHead(parts.NOW_S, ("h",), ("h",)), most_bytes=1 << 30)
    for event in events(text[:200_000]):
        file.write(event)  # type: ignore[arg-type]
    file.close()
    with path.open("ab") as raw:
        raw.write(
            b'{"type": "LinkChanged", "host": "\xff\x1b[2J"}\n\x00\x1b]0;owned\x07\n{"a": NaN}\n'
        )
        raw.write(b"[" * 5000 + b"\n")
    with Recording(path) as recording:
        app = ReplayApp(recording, clock=Hands(), offset_s=0)
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await until(pilot, lambda: app.services is not None)
            for keys in ((">",), ("enter",), ("5",), ("L",), ("A",), ("question_mark", "s")):
                await press(pilot, *keys)
                assert_safe(app)  # type: ignore[arg-type]
