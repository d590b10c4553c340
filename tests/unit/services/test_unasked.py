"""Differences that nobody asked for, from what a run kept."""

from __future__ import annotations

from specctl.domain.runs import Provenance, Run, RunKind
from specctl.services.unasked import unasked_of

RECIPE = 'model = "m"\n[arguments]\ntp-size = {size}\n'


def _run(arguments, recipes=None):
    recipes = recipes or {name: RECIPE.format(size=1) for name in ("base", "eagle3")}
    provenance = Provenance("0.1.0", "kim", "gpu8", profiles=recipes, arguments=arguments)
    return Run("5c0f", RunKind.TRIAL, "gpu8", ("base", "eagle3"), 0.0, 1.0, "faster", provenance)


def test_what_the_server_changed_by_itself_is_named():
    found = unasked_of(_run({
        "base": {"max_running_requests": 256, "tp_size": 1, "port": 1},
        "eagle3": {"max_running_requests": 48, "tp_size": 1, "port": 2},
    }))  # fmt: skip
    assert found is not None
    (one,) = found
    assert (one.profile, one.key, one.base, one.arm) == ("eagle3", "max-running-requests", 256, 48)


def test_what_the_recipes_ask_for_is_none():
    recipes = {"base": RECIPE.format(size=1), "eagle3": RECIPE.format(size=2)}
    assert unasked_of(_run({"base": {"tp_size": 1}, "eagle3": {"tp_size": 2}}, recipes)) == ()


def test_a_run_that_kept_no_arguments_says_nothing():
    assert unasked_of(_run({"base": {"tp_size": 1}})) is None


def test_a_damaged_recipe_asks_for_nothing():
    found = unasked_of(_run({"base": {"tp_size": 1}, "eagle3": {"tp_size": 2}}, {"base": "= ["}))
    assert found is not None
    assert [one.key for one in found] == ["tp-size"]
