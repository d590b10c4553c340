"""What a trial says on stderr while it goes on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from specctl.cli.trial_progress import TrialAnnouncer, is_trial_agreed
from specctl.domain.events import Event, PlanProgressed, ProbeProgressed, TrialProgressed
from specctl.domain.state import State


def _launch(words: str, done: int, ratio: float | None = None) -> TrialProgressed:
    low, high = (None, None) if ratio is None else (ratio - 0.1, ratio + 0.1)
    return TrialProgressed(
        "h", 0.0, "b352", "base", "ngram", done, 16, ratio, low, high, None, words
    )


def _measured(done: int, left_s: float | None, words: str = "measuring") -> ProbeProgressed:
    return ProbeProgressed("h", 0.0, "7c1e", words, done, 28, left_s)


def _ready(status: str, words: str, left_s: float | None = None) -> PlanProgressed:
    return PlanProgressed("h", 0.0, "p", "ready", status, words, remaining_s=left_s)


EVENTS: list[Event] = [
    _launch("launch 1: base", 0),
    _ready("begun", "waiting until ready", 372.0),
    _ready("progress", "weights 3/62", 300.0),
    _ready("done", "ready after 6:12"),
    _measured(1, 30.0, "warming up"),
    _measured(0, None),
    _measured(1, 120.0),
    _measured(2, 115.0),
    _measured(14, 60.0),
    _measured(28, 1.0),
    _launch("launch 1 measured", 1, 1.25),
    _measured(1, 110.0),
]
SAID = [
    "launch 1: base, 0 of at most 16 launches",
    "waiting until ready, about 6 min left",
    "ready after 6:12",
    "measuring: 1 of 28, about 2 min left",
    "measuring: 14 of 28, about 1 min left",
    "launch 1 measured, 1 of at most 16 launches; 1.250x (1.150 to 1.350)",
    "measuring: 1 of 28, about 2 min left",
]


def test_a_launch_of_a_trial_is_never_silent_while_it_loads_and_measures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    announcer = TrialAnnouncer()
    for event in EVENTS:
        announcer.take(event, State())
    assert capsys.readouterr().err.splitlines() == [f"specctl: {line}" for line in SAID]


@pytest.mark.parametrize(
    ("budget_s", "last"),
    [
        (None, "specctl: 2. then the other"),
        (600.0, "specctl: budget: 10 min, then no further pair begins"),
    ],
)
def test_a_budget_is_part_of_the_plan(
    capsys: pytest.CaptureFixture[str], budget_s: float | None, last: str
) -> None:
    proposal: Any = SimpleNamespace(
        plan=SimpleNamespace(host="h"), words=("one", "then the other"), refusals=()
    )
    assert not is_trial_agreed(proposal, budget_s, is_dry=True, yes=False)
    assert capsys.readouterr().err.splitlines()[-1] == last
