from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from specctl.cli.breakeven import command
from specctl.domain.errors import UsageError
from tests.cli.kept import keep_trial
from tests.schemas import assert_valid


def call(*arguments):
    return CliRunner().invoke(command, arguments)


def test_json_is_the_published_form():
    answer = call("--base-ms", "10", "--step-ms", "15", "--accept-length", "2", "--json")
    found = json.loads(answer.output)
    assert_valid(found)
    assert found["schema"] == "specctl/breakeven/1"
    assert (found["break_even_accept_length"], found["worth_it"]) == (1.5, True)
    assert found["predicted_speedup"] == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--base-ms", "10", "--step-ms", "15", "--accept-length", "2"), "Worth it."),
        (("--base-ms", "10", "--step-ms", "25", "--accept-length", "2"), "Not worth it."),
        (("--step-ms", "25"), "Cannot be said: no baseline"),
        (
            ("--base-tps", "60", "--tps", "52", "--accept-length", "1.5", "--accuracy", "0.75",
             "--steps", "3"),
            "optimistic stand-in",
        ),
        (("--base-ms", "10", "--step-ms", "15"), "accuracy to break even    —  needs --steps"),
        (("--step-ms", "15", "--steps", "3"), "accuracy to break even    —  needs a baseline"),
        (("--base-ms", "10", "--step-ms", "45", "--steps", "3"), "—  none: too few steps"),
    ],
)  # fmt: skip
def test_text_says_whether_it_pays(arguments, words):
    assert words in call(*arguments).output


def test_a_curve_has_a_line_for_every_accuracy():
    answer = call("--base-ms", "10", "--step-ms", "15", "--steps", "3", "--curve")
    lines = [line for line in answer.output.splitlines() if line.rstrip().endswith("#")]
    assert len(lines) == 21
    assert lines[-1].split()[:3] == ["100%", "4.00", "2.67x"]
    assert "accuracy  accept length  speedup" in answer.output.splitlines()


def test_numbers_that_contradict_each_other_are_a_usage_error():
    answer = call("--step-ms", "10", "--tps", "5", "--accept-length", "2")
    assert isinstance(answer.exception, UsageError)
    assert "--step-ms and --tps exclude each other" in answer.exception.message


def test_the_step_times_of_a_kept_trial(run, home, workspace):
    """Those of its first concurrency: 1.3 times faster at an accept length of 2."""
    kept = keep_trial(home, concurrencies=(1, 4))
    ran = run("breakeven", "--measured", kept, "--accuracy", "0.75", "--steps", "3", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert_valid(found)
    assert found["break_even_accept_length"] == pytest.approx(2 / 1.3, rel=0.01)
    assert found["accept_length"] == pytest.approx(2.734, abs=0.001)
    assert found["predicted_speedup"] == pytest.approx(2.734 * 1.3 / 2, rel=0.01)
    twice = run("breakeven", "--measured", kept, "--base-ms", "17")
    assert twice.status == 2
    assert "type none beside it" in twice.err
