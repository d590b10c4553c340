from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.adapters.evidence import Evidence
from specctl.adapters.ledger import Ledger
from specctl.domain.comparison_rows import comparison_rows
from specctl.domain.errors import UsageError
from specctl.domain.probe_json import comparison_json, probe_json
from specctl.domain.run_sheet import differences_of
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.trial.screening_json import (
    KeptScreening,
    screening_block_json,
    screening_json,
)
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.services.kept_comparison import comparison_of
from specctl.services.runs import (
    conditions,
    export,
    find_evidence,
    probe_of,
    rank_again,
    recompute,
    sheet_of_run,
    write_report,
)
from tests.unit.cli.result_examples import COMPARISON
from tests.unit.domain.trial.runs import result, trial_blocks, trial_plan
from tests.unit.domain.trial.screenings import screened, screening_plan

PROVENANCE = Provenance(
    "0.1.0", "op@laptop", "gpu8", gpus=("H200", "H200", "H100"), recipes={"base": "aaaa"}
)


def kept(outcome="faster", speedup=1.1, kind=RunKind.TRIAL):
    plan, blocks = trial_plan(), trial_blocks(3, speedup=speedup)
    run = Run(
        "5c0ffee2", kind, "gpu8", ("base", "eagle3"), 1.0, 2.0, outcome, PROVENANCE, plan_json(plan)
    )
    return Evidence(run, tuple(block_json(block) for block in blocks))


def test_the_verdict_comes_again_from_a_bundle_on_another_machine(tmp_path):
    path, _ = export(kept(), tmp_path / "taken.specctl.json.gz")
    ledger = Ledger(tmp_path / "empty.db")
    found = recompute(find_evidence(ledger, str(path)))
    assert (found.verdict, found.is_same) == ("faster", True)
    assert found.summary.concurrencies[0].launches == (3, 3)


def test_a_verdict_that_the_samples_do_not_give_is_told_apart():
    assert not recompute(kept("slower")).is_same
    assert recompute(kept("interrupted", speedup=1.001)).is_same


def test_samples_that_were_changed_give_another_verdict():
    found = kept()
    for block in found.blocks:
        if block["side"] == "B":
            for request in block["results"][0]["requests"]:
                request["server_latency_s"] *= 1.3
    assert recompute(found).verdict == "slower"


def test_only_a_trial_can_be_recomputed():
    with pytest.raises(UsageError, match="only a trial has a verdict"):
        recompute(kept(kind=RunKind.PROBE))
    broken = kept()
    bad = replace(broken.run, document={**broken.run.document, "prompts": "many"})
    with pytest.raises(UsageError, match="does not hold a trial: prompts"):
        recompute(Evidence(bad, broken.blocks))


def test_a_kept_probe_is_read_back():
    measured = result("B")
    run = Run(
        "p", RunKind.PROBE, "gpu8", ("eagle3",), 1.0, 2.0, "", PROVENANCE, probe_json(measured)
    )
    found = probe_of(run)
    assert found.accept_length == measured.accept_length
    assert [r.text for r in found.requests] == [None] * len(measured.requests)
    with pytest.raises(UsageError, match="does not hold a probe"):
        probe_of(replace(run, document={"wall_s": "long"}))


def test_the_sheet_of_a_probe_tells_its_figures_in_words_with_units():
    run = Run(
        "p", RunKind.PROBE, "gpu8", ("eagle3",), 1.0, 2.0, "", PROVENANCE, probe_json(result("B"))
    )
    told = dict(sheet_of_run(run).measured)
    assert told["throughput"].split()[1] == "tok/s"
    assert not [label for label in told if "-per-" in label or "_" in label]
    old = sheet_of_run(replace(run, document={"wall_s": "long"}))
    assert old.measured == ()
    assert dict(old.figures) == {"wall-s": "long"}


def test_conditions_name_what_was_known():
    pairs = dict(conditions(kept().run))
    assert pairs["GPUs"] == "2x H200, 1x H100"
    assert pairs["recipe base"] == "aaaa"
    assert "driver" not in pairs


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"concurrencies": []}, "concurrencies"),
        ({"design": {"most_launches": 10**30}}, "most_launches: must lie between 1 and 200"),
        ({"design": {"margin": -1e308}}, "margin"),
        ({"design": {"error": 0}}, "error"),
        ({"design": {"floor": 1e30}}, "floor"),
    ],
)
def test_a_plan_that_no_trial_could_have_is_refused(change, words):
    found = kept()
    document = dict(found.run.document)
    for name, value in change.items():
        document[name] = {**document[name], **value} if isinstance(value, dict) else value
    with pytest.raises(UsageError, match=f"does not hold a trial: .*{words}"):
        recompute(replace(found, run=replace(found.run, document=document)))


def test_samples_beyond_all_numbers_are_refused():
    found = kept()
    found.blocks[0]["results"][0]["requests"][0]["completion_tokens"] = 10**400
    with pytest.raises(UsageError, match="does not hold a trial"):
        recompute(found)


def kept_screening(outcome="candidates: three, two", **more):
    plan, blocks = screened(screening_plan(**more))
    document = screening_json(KeptScreening(plan, "5c0ffee2"))
    run = Run(
        plan.id, RunKind.SCREENING, plan.host, plan.arms, 1.0, 2.0, outcome, PROVENANCE, document
    )
    return Evidence(run, tuple(map(screening_block_json, blocks)))


def test_a_ranking_comes_again_from_its_samples(tmp_path):
    path, _ = export(kept_screening(), tmp_path / "taken.specctl.json.gz")
    again = rank_again(find_evidence(Ledger(tmp_path / "empty.db"), str(path)))
    assert again.is_same, again.words
    assert (again.standing.survivor, again.kept.trial) == ("two", "5c0ffee2")
    assert not rank_again(kept_screening("candidates: one")).is_same
    bad = kept_screening()
    broken = Evidence(replace(bad.run, document={"plan": {"id": 7}}), bad.blocks)
    with pytest.raises(UsageError, match="does not hold a screening"):
        rank_again(broken)


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_report_of_a_screening_is_a_ranking_and_no_markup_of_anybody(form):
    text = write_report([kept_screening(host="<script>h</script>")], form, 0.0)
    assert "<script>h" not in text
    assert "no verdict" in text
    assert "confirmed by trial 5c0ffee2" in text
    assert "two is taken because it makes the fewest steps" in text


def test_a_kept_comparison_is_read_back_with_its_rows():
    run = replace(
        Run("5c0ffee2", RunKind.COMPARISON, "gpu8", ("a", "b"), 1.0, 2.0, "", PROVENANCE),
        document=comparison_json(COMPARISON),
    )
    found = comparison_of(run)
    assert comparison_rows(found) == comparison_rows(COMPARISON)
    assert [arm.failure for arm in found.arms] == [arm.failure for arm in COMPARISON.arms]
    with pytest.raises(UsageError, match="does not hold a comparison"):
        comparison_of(replace(run, document={"arms": []}))


def test_two_runs_differ_in_what_was_kept_otherwise():
    left = Run("5c0ffee2", RunKind.LAUNCH, "gpu8", ("a",), 1.0, 2.0, "ready", PROVENANCE)
    right = replace(left, id="0ddba11a", provenance=replace(PROVENANCE, build="0.4.9"))
    found = differences_of(sheet_of_run(left), sheet_of_run(right))
    assert [(one.name, one.right) for one in found.rows] == [("SGLang", "0.4.9")]
    assert differences_of(sheet_of_run(left), sheet_of_run(left)).rows == ()
