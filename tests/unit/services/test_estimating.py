"""How long a probe takes, from runs that a ledger really holds."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from specctl.adapters.ledger import Ledger
from specctl.domain.open_loop import ArrivalKind, Arrivals
from specctl.domain.probe import Prompt
from specctl.domain.probe_json import probe_json
from specctl.domain.probing import Window, add_up
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.training import trained_on_of
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.domain.workload import Workload
from specctl.services.estimating import NEWEST, estimate_probe
from specctl.services.probing import Settings
from tests.unit.domain.requests import request
from tests.unit.domain.trial.runs import trial_blocks, trial_plan

NOW_S = 10_000.0
WORKLOAD = Workload("w", tuple(Prompt(text=f"{n}", max_tokens=100) for n in range(20)), "0" * 64)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


def keep(path, kind, document, profiles=("p",), blocks=(), *, run_id="5c0ffee2", age_s=7200.0,
         trained_on=None):  # fmt: skip
    provenance = Provenance("1", "op", "gpu8", trained_on=trained_on)
    began_s = NOW_S - age_s
    run = Run(run_id, kind, "gpu8", profiles, began_s, NOW_S, "", provenance, document)
    with closing(Ledger(path)) as ledger:
        ledger.add(run)
        for block in blocks:
            ledger.add_block(run.id, block)


def ask(path, profile: str | None = "p", **settings):
    return estimate_probe(path, "gpu8", profile, Settings(WORKLOAD, **settings), now_s=NOW_S)


def answers(rate):
    return [request(completion_tokens=50, client_latency_s=50 / rate, index=n) for n in range(3)]


def test_from_an_earlier_probe_of_the_profile_here(path):
    keep(path, RunKind.PROBE, probe_json(add_up(Window("s", "p", 1, None, 3.0), answers(25.0))))
    found = ask(path)
    assert found.seconds == pytest.approx((20 * 100 + 16 * 100 + 4 * 96) / 25)
    assert found.words == "at most, from a probe of 2h ago"
    fewer = ask(path, most_prompts=5)
    assert fewer.seconds == pytest.approx((5 * 100 + 5 * 100 + 4 * 96) / 25)
    batch = ask(path, concurrency=4)
    assert batch.seconds is not None
    assert found.seconds / 4 < batch.seconds < found.seconds
    assert "at concurrency 1" in batch.words


def test_training_is_sent_before_either_loop(path):
    keep(path, RunKind.PROBE, probe_json(add_up(Window("s", "p", 1, None, 3.0), answers(25.0))))
    training = replace(WORKLOAD, prompts=tuple(Prompt(text="t", max_tokens=50) for _ in range(6)))
    cold, warm = ask(path), ask(path, training=training)
    assert warm.seconds - cold.seconds == pytest.approx(2 * 6 * 50 / 25)
    open_loop = ask(path, training=training, arrivals=Arrivals(2.0, ArrivalKind.CONSTANT))
    assert "for the arrivals after the training set" in open_loop.words


def _ngram(rate, trained_on):
    window = Window("s", "p", 1, "NGRAM", 3.0, trained_on=trained_on)
    return probe_json(add_up(window, answers(rate)))


def test_warm_runs_are_found_behind_any_number_of_newer_cold_ones(path):
    training = replace(WORKLOAD, name="code")
    warm = trained_on_of(training)
    keep(path, RunKind.PROBE, _ngram(50.0, warm), run_id="aaaa", trained_on=warm)
    for number in range(NEWEST + 1):
        age_s = 3600.0 + number
        keep(path, RunKind.PROBE, _ngram(25.0, None), run_id=f"bbb{number}", age_s=age_s)
    assert ask(path).words == "at most, from a probe of 1h ago"
    found = ask(path, training=training)
    assert found.basis == "at most, from a probe of 2h ago"
    other = ask(path, training=replace(training, name="prose", sha256="1" * 64))
    assert other.basis == "at most, from a probe of 1h ago; p was cold, not warm after prose"


def test_starts_and_forecasts_hide_no_measurement(path):
    keep(path, RunKind.PROBE, _ngram(25.0, None), run_id="aaaa")
    for number in range(NEWEST):
        for kind in (RunKind.LAUNCH, RunKind.FORECAST):
            keep(path, kind, {}, run_id=f"{kind.value}{number}", age_s=60.0)
    assert ask(path).words == "at most, from a probe of 2h ago"


def _paced(block):
    """Answers of the profile come in half the time of the baseline's."""
    latency_s = 2.0 if block.side == "A" else 1.0
    results = tuple(
        replace(
            result,
            requests=tuple(replace(r, client_latency_s=latency_s) for r in result.requests),
        )
        for result in block.results
    )
    return replace(block, results=results)


def test_from_the_launches_of_a_trial(path):
    plan = trial_plan()
    blocks = [block_json(_paced(block)) for block in trial_blocks(2, plan=plan)]
    keep(path, RunKind.TRIAL, plan_json(plan), (plan.baseline, plan.profile), blocks)
    base, arm = ask(path, plan.baseline), ask(path, plan.profile)
    assert base.seconds is not None
    assert arm.seconds is not None
    assert arm.seconds == pytest.approx(base.seconds / 2)
    assert "from a trial of 2h ago" in arm.words


def test_an_open_loop_takes_as_long_as_its_arrivals(path):
    found = ask(path, arrivals=Arrivals(2.0, ArrivalKind.CONSTANT))
    assert found.seconds == pytest.approx(19 / 2)


def test_what_nobody_measured_is_unknown_with_the_reason(path, tmp_path):
    assert "p was never measured on gpu8" in ask(path).words
    assert "the server follows no profile" in ask(path, None).words
    rate = Window("s", "p", 1, None, 3.0, arrivals=Arrivals(2.0))
    keep(path, RunKind.PROBE, probe_json(add_up(rate, answers(25.0))))
    assert ask(path).seconds is None
    broken = tmp_path / "broken.db"
    broken.write_text("not a database, and long enough to be looked at as one" * 20)
    assert "cannot be used" in ask(broken).words
