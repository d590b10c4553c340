"""What accept length a profile would need: a sweep in which SGLang is told what to accept.

Draft and verify run as ever, so a step costs what it costs; which tokens are accepted is made up,
so the output is not the model's and says nothing of losslessness or of the drafter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.pairing import pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.comparison import Arm, Comparison
    from specctl.domain.profile import Profile

VARIABLES = ("SGLANG_SIMULATE_ACC_LEN", "SIMULATE_ACC_LEN")
"""The newer name first; a source that has it may use the older one within."""

MARK = "~"
"""Between a profile and the accept length that is forced on it; no file has it in its name."""

FORCED = "accept lengths are made up"
"""How the reason begins that voids a window of a server whose environment forces them."""

EXPECTED = ("degenerate output", "accept length is exactly 1.00", FORCED)
"""How reasons begin that void a window of the model's own output; here they are the design."""

HEEDED_WITHIN = 0.1
"""Share by which the measured accept length may miss the one asked for."""

UNCOUNTED = "the server did not count what it accepted, so whether it heeds the variable is unknown"

NOT_THE_MODELS = (
    "accepted tokens are made up: the outputs are not the model's. It says what steps cost, "
    "nothing of the drafter or of losslessness, and is no verdict"
)


@dataclass(frozen=True, slots=True)
class ForcedRow:
    """One launch at a forced accept length; None where it could not be measured."""

    asked: float
    """Accept length, bonus token included."""

    accept_length: float | None
    """As the server counted it."""

    step_s: float | None
    """Decode time per verify step."""

    break_even: float | None
    """AL* of this launch: its step in plain steps of the baseline."""

    speedup: float | None
    """Time of the same number of tokens: the baseline's over this launch's."""

    unknown: str = ""
    """Why there are no figures."""


@dataclass(frozen=True, slots=True)
class ForcedReport:
    """Speedup over accept length."""

    host: str
    profile: str
    baseline: str
    variable: str
    """Of the environment, as the host's build reads it."""

    workload: str
    concurrency: int
    base_s: float | None
    """Decode time per token of the baseline."""

    rows: tuple[ForcedRow, ...]
    """By accept length."""

    break_even: float | None
    """AL*: the median step of all launches in plain steps."""

    crossing: float | None
    """Accept length at which the measured speedup passes 1; None where no two launches are on
    both sides of it."""

    run: str | None
    """Under which it is kept; None where it could not be."""

    interrupted: bool
    restored: tuple[str, ...]
    """What ran before and what became of it, in words."""

    notes: tuple[str, ...]


def find_variable(texts: Mapping[str, str]) -> str | None:
    """The variable that this source reads; None for a build that has no simulated acceptance."""
    for name in VARIABLES:
        whole = re.compile(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])")
        if any(whole.search(text) for text in texts.values()):
            return name
    return None


def forced_on(environment: Mapping[str, str]) -> str | None:
    """The variable through which this environment forces an accept length."""
    for name in VARIABLES:
        try:
            if float(environment.get(name, "-1")) > 0:
                return name
        except ValueError:  # the server takes it for the default
            continue
    return None


def forced_words(variable: str | None) -> str | None:
    """Why a window of a server with this variable must not be used; None without one."""
    if variable is None:
        return None
    return f"{FORCED}: {variable} is set in the server's environment"


def forced_profiles(
    profile: Profile, lengths: Sequence[float], variable: str
) -> tuple[Profile, ...]:
    """The profile at each accept length; raises UsageError for what cannot be accepted."""
    if profile.speculation is None:
        raise UsageError(
            f"{profile.name} does not speculate: it accepts one token a step",
            hint="Name a profile with [speculation].",
        )
    most = most_accepted(profile)
    for length in lengths:
        if most is not None and length > most:
            raise UsageError(
                f"an accept length of {length:g} is more than {profile.name} can reach: {most}",
                hint="A step brings its draft steps and one token more at most.",
            )
    return tuple(
        replace(
            profile,
            name=f"{profile.name}{MARK}{length:g}",
            environment={**profile.environment, variable: f"{length:g}"},
        )
        for length in sorted(lengths)
    )


def most_accepted(profile: Profile) -> int | None:
    """Tokens that one step can bring; None where the build decides."""
    arguments = profile.speculation.arguments if profile.speculation else {}
    steps, tokens = arguments.get("num-steps"), arguments.get("num-draft-tokens")
    if isinstance(steps, int):
        return steps + 1
    return tokens if isinstance(tokens, int) else None


def report_forced(
    found: Comparison,
    profile: str,
    lengths: Sequence[float],
    *,
    variable: str,
    run: str | None = None,
) -> ForcedReport:
    """What the launches of a sweep say; `lengths` in the order of its arms after the baseline."""
    base = found.baseline
    base_s = base.result.step_s if base.is_usable and base.result else None
    rows = tuple(
        _row(length, base, arm) for length, arm in zip(lengths, found.arms[1:], strict=True)
    )
    known = [row.break_even for row in rows if row.break_even is not None]
    return ForcedReport(
        host=found.host,
        profile=profile,
        baseline=base.profile,
        variable=variable,
        workload=found.workload,
        concurrency=found.concurrency,
        base_s=base_s,
        rows=rows,
        break_even=median(known) if known else None,
        crossing=find_crossing(rows),
        run=run,
        interrupted=found.interrupted,
        restored=found.restored,
        notes=(NOT_THE_MODELS, *_notes(rows, median(known) if known else None)),
    )


def _row(asked: float, base: Arm, arm: Arm) -> ForcedRow:
    nothing = ForcedRow(asked, None, None, None, None)
    for one, expected in ((base, ()), (arm, EXPECTED)):
        why = _why_void(one, expected)
        if why:
            return replace(nothing, unknown=f"{one.profile}: {why}")
    assert base.result is not None  # noqa: S101 - `_why_void` says so otherwise
    assert arm.result is not None  # noqa: S101
    length, base_s, step_s = arm.result.accept_length, base.result.step_s, arm.result.step_s
    if length is None:
        return replace(nothing, unknown=f"{arm.profile}: {UNCOUNTED}")
    if abs(length / asked - 1) > HEEDED_WITHIN:
        why = f"the server accepted {length:.2f} a step: it does not heed the variable here"
        return replace(nothing, accept_length=length, unknown=why)
    pairing = pair(base.result.requests, arm.result.requests)
    return ForcedRow(
        asked=asked,
        accept_length=length,
        step_s=step_s,
        break_even=step_s / base_s if step_s and base_s else None,
        speedup=pairing.speedup if pairing else None,
        unknown="" if pairing else "no prompt was answered in both launches",
    )


def _why_void(arm: Arm, expected: Sequence[str]) -> str:
    if arm.result is None:
        return arm.failure or "gave no result"
    reasons = [words for words in arm.result.void if not words.startswith(tuple(expected))]
    return reasons[0] if reasons else ""


def find_crossing(rows: Sequence[ForcedRow]) -> float | None:
    """Where the speedup passes 1, on the straight line between the launches around it."""
    points = sorted(
        (row.accept_length, row.speedup)
        for row in rows
        if row.accept_length is not None and row.speedup is not None
    )
    for (left, slow), (right, fast) in pairwise(points):
        if slow <= 1 < fast:
            return left + (right - left) * (1 - slow) / (fast - slow)
    return None


def _notes(rows: Sequence[ForcedRow], break_even: float | None) -> list[str]:
    speedups = [row.speedup for row in rows if row.speedup is not None]
    if not speedups:
        return ["no launch gave a speedup"]
    if break_even is not None and min(speedups) > 1:
        return [f"every accept length tried pays; less than {break_even:.2f} would not"]
    if break_even is not None and max(speedups) <= 1:
        return [f"no accept length tried pays; from {break_even:.2f} on it would"]
    return []
