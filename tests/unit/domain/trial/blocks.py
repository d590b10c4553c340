"""Launches made up for tests: times are tokens x pace x what the launch is off by."""

from __future__ import annotations

from specctl.domain.trial.blocks import Answer, Block
from specctl.domain.trial.order import launch_order

TOKENS = {"p0": 100, "p1": 200, "p2": 50, "p3": 400, "p4": 120, "p5": 80}
FIRST_S = 0.1


def block(side="A", pace_s=0.01, *, middle_s=0.0, tokens=None, disturbed="", first=True, off=None):
    answers = {}
    for prompt, count in (tokens or TOKENS).items():
        decode_s = count * pace_s * (off or {}).get(prompt, 1.0)
        answers[prompt] = Answer(FIRST_S + decode_s, count, FIRST_S if first else None)
    return Block(side, middle_s, answers, disturbed)


def trial(pairs, *, speedup=1.0, noise=(), **more):
    """`noise` is a factor on the pace of each launch in the order of the trial."""
    found = []
    for n, side in enumerate(launch_order(pairs)):
        factor = noise[n] if n < len(noise) else 1.0
        pace_s = 0.01 * factor / (speedup if side == "B" else 1.0)
        found.append(block(side, pace_s, middle_s=400.0 * n, **more))
    return found
