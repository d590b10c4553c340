from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.alerts.judging import Even
from specctl.domain.profile import Profile, Speculation
from specctl.domain.server import Evidence
from specctl.domain.state import HostState
from specctl.domain.training import TrainedOn
from specctl.tui.details import (
    by_position,
    compared_arguments,
    details_of,
    named_causes,
    reference,
    with_even,
)
from specctl.tui.services import Argument, Reference
from tests.tui import parts, plans, recipes

OWN = plans.probe_result()
BASE = replace(OWN, server="aa01", profile="kimi-k2.5-baseline", tokens_per_s=58.6, step_s=0.0171,
               accept_length=None, histogram=None)  # fmt: skip
PROFILE = Profile(
    "kimi-k2.5-eagle3",
    model="moonshotai/Kimi-K2.5",
    arguments={"max-running-requests": 64},
    speculation=Speculation("EAGLE3", {"num-steps": 3}),
    baseline="kimi-k2.5-baseline",
)


def test_break_even_is_own_step_over_the_baselines() -> None:
    found = reference(OWN, BASE, "kimi-k2.5-baseline")

    assert found.tokens_per_s == 58.6
    assert found.even == pytest.approx(0.0288 / 0.0171)
    assert found.source == "probe of kimi-k2.5-baseline"


def test_other_concurrency_gives_no_break_even() -> None:
    assert reference(replace(OWN, concurrency=8), BASE, "b").even is None
    others = TrainedOn("others", "1" * 64, 12)
    assert reference(replace(OWN, trained_on=others), BASE, "b").even is None


def test_no_baseline_no_reference() -> None:
    assert reference(OWN, None, "b").tokens_per_s is None


def test_other_runs_give_a_break_even_where_there_is_none() -> None:
    even = Even(1.51, "comparison aaaa, 1 at a time")
    assert with_even(Reference(50.0, 1.2, "probe of base"), even).even == 1.2
    assert with_even(Reference(50.0, None, "probe of base"), even) == Reference(
        50.0, 1.51, "probe of base"
    )
    assert with_even(Reference(), even).source == "comparison aaaa, 1 at a time"
    assert with_even(Reference(), None) == Reference()


def test_void_probes_are_not_held_against_anything() -> None:
    void = replace(BASE, void=("other requests ran",))
    state = HostState(results={"7c1e": OWN, "aa01": void})

    assert details_of(parts.server(), PROFILE, state, None).reference.tokens_per_s is None


def test_details_come_from_probes_profile_and_age() -> None:
    state = HostState(results={"7c1e": OWN, "aa01": BASE}, sample_at_s=1000.0)
    server = parts.server(evidence=Evidence(age_s=600.0))
    found = details_of(server, PROFILE, state, None)

    assert found.reference.even == pytest.approx(1.684, abs=0.001)
    assert found.started_at_s == 400.0
    assert found.accepted_by_position == pytest.approx((0.38, 0.09, 0.03), abs=0.01)


def test_arguments_without_an_answer_are_not_called_drift() -> None:
    found = {a.name: (a.wanted, a.running, a.who) for a in compared_arguments(PROFILE, None)}

    assert found == {
        "algorithm": ("EAGLE3", None, ""),
        "num-steps": ("3", None, ""),
        "max-running-requests": ("64", None, ""),
    }


@pytest.mark.parametrize("histogram", [None, (), (0, 0)])
def test_no_steps_no_positions(histogram: tuple[int, ...] | None) -> None:
    assert by_position(histogram) == ()


def test_only_what_the_engine_rewrote_is_by_engine() -> None:
    arguments = (
        Argument("max-running-requests", "64", "48", "by engine"),
        Argument("num-steps", "5", "3", "by engine"),
    )

    named = named_causes(arguments, recipes.DRIFT)

    assert [a.who for a in named] == ["by engine", ""]
    assert [a.who for a in named_causes(arguments, None)] == ["", ""]
