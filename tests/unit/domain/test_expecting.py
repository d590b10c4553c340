from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.expecting import Met, expect, report
from specctl.domain.profile import Expectation, Profile
from tests.unit.domain.run_figures import chain, run

RECIPE = "bbbbbbbbbbbb"


def profile(**expected):
    return Profile("eagle3-3", "m", baseline="base", expectation=Expectation(**expected))


def measured(speedup=1.30, **changes):
    """An accept length of 2.5, and a speedup known to within 1 %."""
    return run(chain(3, speedup=speedup), recipes={"eagle3-3": RECIPE}, **changes)


@pytest.mark.parametrize(
    ("expected", "met"),
    [(1.28, Met.MET), (1.287, Met.MET), (1.30, Met.NOT_SHOWN), (1.32, Met.MISSED)],
)
def test_a_speedup_is_met_by_its_whole_interval(expected, met):
    (row,) = expect("gpu8", profile(speedup=expected), RECIPE, [measured()])
    assert row.met is met
    assert report([row]).is_met is (met is Met.MET)


@pytest.mark.parametrize(("expected", "met"), [(2.5, Met.MET), (2.6, Met.MISSED)])
def test_an_accept_length_is_compared_as_it_is(expected, met):
    (row,) = expect("gpu8", profile(accept_length=expected), RECIPE, [measured()])
    assert (row.met, row.measured) == (met, 2.5)


def test_the_first_run_that_measured_it_counts():
    probe = run(kind="probe", run_id="a", recipes={"eagle3-3": RECIPE})
    probe = replace(probe, arms=(measured().arms[1],))
    rows = expect("gpu8", profile(accept_length=2.0, speedup=1.2), RECIPE, [probe, measured()])
    assert [(row.figure, row.run) for row in rows] == [
        ("accept_length", "a"), ("speedup", "5c0ffee2"),
    ]  # fmt: skip


def test_what_was_not_measured_is_not_met():
    (row,) = expect("gpu8", profile(speedup=1.2), RECIPE, [])
    assert row.met is Met.NOT_MEASURED
    assert "against base" in row.words
    other = run(chain(3), recipes={})
    (row,) = expect("gpu8", profile(speedup=1.2), RECIPE, [other], concurrency=8)
    assert row.met is Met.NOT_MEASURED


def test_another_baseline_says_nothing_of_the_expected_one():
    found = replace(profile(speedup=1.2), baseline="plain")
    (row,) = expect("gpu8", found, RECIPE, [measured()])
    assert row.met is Met.NOT_MEASURED


def test_one_launch_each_is_no_evidence():
    found = chain(3, speedup=1.5)
    single = run(replace(found, low=None, high=None), recipes={})
    (row,) = expect("gpu8", profile(speedup=1.2), RECIPE, [single])
    assert row.met is Met.NOT_SHOWN
    assert "one launch each" in row.words


def test_a_profile_that_was_changed_has_to_be_measured_again():
    rows = expect("gpu8", profile(accept_length=2.0, speedup=1.2), "cccc", [measured()])
    assert {row.met for row in rows} == {Met.OUTDATED}


def test_a_baseline_that_was_changed_has_to_be_measured_again():
    found = run(chain(3, speedup=1.3), recipes={"eagle3-3": RECIPE, "base": "aaaa"})
    asked = profile(accept_length=2.0, speedup=1.2)
    length, speedup = expect("gpu8", asked, RECIPE, [found], baseline_recipe="dddd")
    assert (length.met, speedup.met) == (Met.MET, Met.OUTDATED)
    assert speedup.words == "its baseline base was changed since run 5c0ffee2"
    rows = expect("gpu8", asked, RECIPE, [found], baseline_recipe="aaaa")
    assert {row.met for row in rows} == {Met.MET}


def test_a_void_probe_meets_nothing():
    found = measured(void="the GPU was throttled")
    (row,) = expect("gpu8", profile(accept_length=2.0), RECIPE, [found])
    assert row.met is Met.NOT_MEASURED
    assert "throttled" in row.words


def test_what_a_practice_host_measured_says_so():
    (row,) = expect("lab-1", profile(accept_length=2.0), RECIPE, [measured(is_simulated=True)])
    assert row.simulated
