"""Trials made up for tests, as the ledger keeps them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.probing import Window, add_up
from specctl.domain.trial.design import Design
from specctl.domain.trial.running import TrialBlock, TrialPlan
from tests.unit.domain.requests import request, speculated

if TYPE_CHECKING:
    from specctl.domain.probe import Void

NOW_S = 1_800_000_000.0
BASE_STEP_S, STEP_S = 0.010, 0.015
CATEGORIES = ("code", "chat")
PROMPTS = 12
RESTARTS = (1.0, 1.004, 0.996, 1.003, 1.002, 0.998, 1.001, 0.997) * 3


def trial_plan(most=8, *, concurrencies=(1,), **more):
    plan = TrialPlan(
        id="5c0ffee2", host="gpu8", baseline="base", profile="eagle3",
        workload="mixed", workload_source="mixed", workload_sha256="0" * 64, prompts=PROMPTS,
        temperature=0.0, concurrencies=concurrencies, design=Design(most_launches=most),
        created_s=NOW_S, recipes=("aaaaaaaaaaaa", "bbbbbbbbbbbb"),
    )  # fmt: skip
    return replace(plan, **more)


def result(side, factor=1.0, *, speedup=1.0, void=(), texts="same", concurrency=1, failed=()):
    """A baseline without speculation, or an arm that emits two tokens a step."""
    algorithm = None if side == "A" else "EAGLE3"
    step_s = BASE_STEP_S * factor if side == "A" else 2 * BASE_STEP_S * factor / speedup
    requests = [
        _request(side, n, step_s, texts) if n not in failed else request(index=n, error="http 503")
        for n in range(PROMPTS)
    ]
    window = Window("5c0f", "p", concurrency, algorithm, 10.0, client_cpu_s=0.1)
    return add_up(window, requests, void=void)


def _request(side, n, step_s, texts):
    common = {
        "index": n, "category": CATEGORIES[n % 2], "server_ttft_s": 0.02,
        "text_sha256": hashlib.sha256(f"{texts}{n}".encode()).hexdigest(),
    }  # fmt: skip
    steps = 40 + n
    if side == "A":
        return request(
            completion_tokens=2 * steps + 1, server_latency_s=0.02 + 2 * steps * step_s, **common
        )
    return speculated((0, steps), server_latency_s=0.02 + steps * step_s, **common)


def trial_block(plan, place, factor=1.0, *, attempt=0, failure="", own=False, speedup=1.0, **more):
    side = plan.order[place]
    began_s = NOW_S + 400.0 * place
    measured = (
        result(side, factor, speedup=speedup, concurrency=level, **more)
        for level in plan.concurrencies
    )
    results = () if failure else tuple(measured)
    return TrialBlock(
        place=place, attempt=attempt, side=side, launch_id=f"{place:08x}", began_s=began_s,
        ended_s=began_s + 300.0, results=results, failure=failure, is_arms_doing=own, load_s=200.0,
        kv_tokens=100_000 if side == "A" else 90_000, most_requests=256 if side == "A" else 48,
    )  # fmt: skip


def trial_blocks(pairs, *, speedup=1.0, plan=None, **more):
    plan = plan or trial_plan(max(pairs, 8))
    return [
        trial_block(plan, place, RESTARTS[place], speedup=speedup, **more)
        for place in range(2 * pairs)
    ]


def voided(block, *reasons: Void):
    """The block with reasons why its windows must not be used."""
    words = tuple(one.words for one in reasons)
    kinds = tuple(one.kind for one in reasons)
    results = tuple(replace(one, void=words, void_kinds=kinds) for one in block.results)
    return replace(block, results=results)
