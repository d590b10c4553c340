"""Forecasts as they are kept, and worked out again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specctl.domain.forecast.kept import (
    find_changes,
    outcome_words,
    report_json,
    report_of,
    work_out_again,
)
from tests.unit.domain.forecast.kept import kept_report

REPORT = kept_report()


def test_what_is_kept_comes_back():
    text = json.dumps(report_json(replace(REPORT, run="5c0ffee2")))
    assert report_of(json.loads(text)) == REPORT
    with pytest.raises(ValueError, match=r"forecast\.cold\.steps"):
        report_of({**report_json(REPORT), "forecast": {**json.loads(text)["forecast"], "cold": {
            **json.loads(text)["forecast"]["cold"], "steps": "many"}}})  # fmt: skip


@pytest.mark.parametrize("costs", [True, False])
def test_the_histograms_give_the_same_figures_again(costs):
    found = REPORT.forecast if costs else kept_report(None).forecast
    again = work_out_again(found)
    assert find_changes(found, again) == ()
    assert again.cold == found.cold
    assert again.warm == found.warm
    assert again.predicted_speedup == pytest.approx(found.predicted_speedup)


def test_figures_that_the_histograms_do_not_give_are_named():
    found = REPORT.forecast
    better = replace(found.cold, accept_length=9.0)
    first, *rest = found.categories
    worse = replace(first, cold=replace(first.cold, histogram=(1000, *first.cold.histogram[1:])))
    changes = find_changes(replace(found, cold=better), work_out_again(found))
    assert [words.split(":")[0] for words in changes] == ["accept length cold"]
    assert changes[0].endswith("recorded 9.0000")
    changed = replace(found, categories=(worse, *rest), predicted_speedup=7.0)
    names = {words.split(":")[0] for words in find_changes(changed, work_out_again(changed))}
    assert names == {
        "accept length cold", f"accept length {first.category} cold", "predicted speedup cold",
    }  # fmt: skip


def test_how_it_ended_is_one_line():
    found = REPORT.forecast
    assert found.warm is not None
    assert outcome_words(found) == (
        f"accept length {found.cold.accept_length:.2f} cold, {found.warm.accept_length:.2f} warm; "
        f"predicted {found.predicted_speedup:.2f}x cold, {found.predicted_speedup_warm:.2f}x warm"
    )
    assert outcome_words(kept_report(None).forecast).endswith("; no step cost")
    assert "nothing can be said" in outcome_words(replace(found, is_random=True))
