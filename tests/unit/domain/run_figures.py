"""Figures of runs made up for tests."""

from __future__ import annotations

from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures
from specctl.domain.trial.first_tokens import NOT_TIMED, OF_MEASURED, FirstTokens

HISTOGRAMS = {1: (40, 60), 3: (30, 20, 20, 30), 5: (30, 20, 20, 12, 10, 8)}
SHA = "5" * 64


def plain_arm(concurrency=1, base_s=0.016, profile="base"):
    return ArmFigures(profile, concurrency, 3, None, None, None, None, None, base_s, None, None)


FIRST = FirstTokens(0.5, 4.5, 0.6, 12, OF_MEASURED)


def pair(arm, run_id, base_s=0.016, speedup=None, first_tokens=NOT_TIMED):
    base = plain_arm(arm.concurrency, base_s)
    if speedup is None and arm.accept_length and arm.step_s:
        speedup = arm.accept_length * base_s / arm.step_s * 0.98
    return PairFigures(
        run_id, base, arm, speedup, speedup * 0.99, speedup * 1.01, first_tokens=first_tokens
    )


def chain(steps, *, run_id="5c0ffee2", concurrency=1, step_s=None, draft="org/draft", **changes):
    """An EAGLE3 arm that proposes a chain; a draft step costs 2 ms."""
    histogram = HISTOGRAMS[steps]
    accepted = sum(k * count for k, count in enumerate(histogram)) / sum(histogram)
    arm = ArmFigures(
        profile=f"eagle3-{steps}",
        concurrency=concurrency,
        launches=3,
        algorithm="EAGLE3",
        steps=steps,
        topk=1,
        draft_tokens=steps + 1,
        draft_model=draft,
        step_s=step_s or 0.018 + 0.002 * steps,
        accept_length=1 + accepted,
        histogram=histogram,
    )
    return pair(arm, run_id, **changes)


def tree(*, run_id="5c0ffee2", algorithm="NGRAM", draft_tokens=8, topk=10, steps=None):
    arm = ArmFigures(
        "ngram", 1, 3, algorithm, steps, topk, draft_tokens, None, 0.024, 1.25, (80, 15, 5)
    )
    return pair(arm, run_id)


def run(*pairs, run_id="5c0ffee2", host="gpu8", **changes):
    values = {
        "kind": "trial",
        "workload_sha256": SHA,
        "build": "0.5.23",
        "recipes": {"base": "aaaaaaaaaaaa"},
        "knows_adaptive_config": True,
        **changes,
    }
    arms = tuple(arm for one in pairs for arm in (one.base, one.arm))
    return RunFigures(run=run_id, host=host, pairs=pairs, arms=arms, **values)
