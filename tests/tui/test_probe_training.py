"""A probe that is warm after a training set: turned to, typed, refused, and sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.events import ServersSeen
from specctl.tui import wiring
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.probe import ProbeDialog
from tests.tui import parts, plans, story
from tests.tui.driving import on, press, running, text_of
from tests.tui.test_wiring import python, root, services

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.domain.probe import ProbeResult
    from specctl.services.probing import Settings
    from specctl.tui.wiring import WorkspaceServices

__all__ = ["python", "root", "services"]


def chosen(dialog: ProbeDialog) -> str | None:
    return dialog.panel.plan.trained_on


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_a_training_set_is_turned_to_typed_and_sent(size: tuple[int, int]) -> None:
    async with running(story.pro6k_01(), "p", size=size) as (app, pilot, fake):
        fake.result = plans.probe_result()
        dialog = on(app, ProbeDialog)
        assert "trained on        none" in text_of(app)
        await press(pilot, "down", *"pas", "tab")
        assert "tab completes" in text_of(app)
        await press(pilot, "enter")
        assert chosen(dialog) == "work/past.jsonl"
        assert "trained on work/past.jsonl, 12 prompts, before" in text_of(app)
        await press(pilot, "left")
        assert chosen(dialog) == "code"
        await press(pilot, "up", "left")
        assert fake.calls[-1] == ("plan_probe", "pro6k-01", "7c1e", 16, "code")
        await press(pilot, "enter")
        assert (fake.requests, fake.trained_on) == (16, "code")


async def test_a_set_that_cannot_be_taken_says_why_and_is_not_sent() -> None:
    async with running(story.pro6k_01(), "p") as (app, pilot, fake):
        fake.result = plans.probe_result()
        dialog = on(app, ProbeDialog)
        await press(pilot, "down", "right", "enter")
        assert "✗ a training prompt is also measured: hello" in text_of(app)
        assert "Take another set." in text_of(app)
        assert all(call[0] != "probe" for call in fake.calls)
        await press(pilot, "left", "enter")
        assert dialog.panel.probe_run is not None
        assert fake.calls[-1] == ("probe", "pro6k-01", "7c1e")
        assert fake.trained_on is None


async def test_what_is_typed_can_be_given_up_and_typed_away() -> None:
    async with running(story.pro6k_01(), "p") as (app, pilot, _):
        dialog = on(app, ProbeDialog)
        await press(pilot, "down", *"quick", "escape")
        assert (dialog.panel.form.editor, chosen(dialog)) == (None, None)
        await press(pilot, *"code", "up")
        assert chosen(dialog) == "code"
        await press(pilot, "backspace", "ctrl+u", "enter")
        assert chosen(dialog) is None
        await press(pilot, "escape")
        on(app, FleetScreen)


async def test_a_plan_of_the_workspace_reads_the_set(
    services: WorkspaceServices, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "past.jsonl").write_text('{"prompt": "c"}\n{"prompt": "d"}\n{"prompt": "e"}\n')
    cold = services.plan_probe("here", "7c1e")
    assert (cold.trained_on, cold.training_words) == (None, "")
    assert cold.trainings[-1] == "past.jsonl"
    assert cold.workload not in cold.trainings
    warm = services.plan_probe("here", "7c1e", requests=cold.most, trained_on="past.jsonl")
    assert warm.training_words == "trained on past, 3 prompts, before each window"
    few = services.plan_probe("here", "7c1e", requests=2, trained_on="past.jsonl")
    assert (few.requests, few.most) == (2, cold.most)
    assert few.training_words == "trained on past, 2 prompts, before each window"
    with pytest.raises(UsageError, match="a training prompt is also measured"):
        services.plan_probe("here", "7c1e", trained_on=cold.workload)

    sent: list[Settings] = []

    async def probe(
        _connection: object, _server: object, settings: Settings, **_: Any
    ) -> ProbeResult:
        sent.append(settings)
        return plans.probe_result()

    monkeypatch.setattr(wiring, "probe_server", probe)
    services._store.apply(ServersSeen("here", parts.NOW_S, (parts.server("7c1e"),)))
    await services.probe(warm)
    (settings,) = sent
    assert settings.trained_on is not None
    assert (settings.trained_on.workload, settings.trained_on.prompts) == ("past", 3)
