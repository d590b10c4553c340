"""A trial as rows and sentences, for a terminal, a panel and a report alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.figures import UNKNOWN, fixed, rate, scaled

if TYPE_CHECKING:
    from specctl.domain.trial.summary import (
        ArmSummary,
        BreakEvenSummary,
        ConcurrencySummary,
        TrialSummary,
    )

HEADERS = (
    "concurrency",
    "profile",
    "launches",
    "tok/s",
    "accept-length",
    "step-ms",
    "ttft-ms",
    "kv-tokens",
    "times-faster",
    "interval",
)
RIGHT = "launches tok/s accept-length step-ms ttft-ms kv-tokens times-faster"
CATEGORY_HEADERS = ("category", "prompts", "times-faster", "against-all", "interval")
MILLI = 0.001
ALIKE = 0.05
PAYS = {True: "so it pays", False: "so it does not pay", None: "so whether it pays is open"}


def trial_rows(summary: TrialSummary) -> tuple[tuple[str, ...], ...]:
    """Two rows for each concurrency, the baseline first."""
    return tuple(row for one in summary.concurrencies for row in _rows(one))


def _rows(one: ConcurrencySummary) -> tuple[tuple[str, ...], ...]:
    return (
        (str(one.concurrency), *_arm(one.arms[0], one.launches[0]), "baseline", ""),
        ("", *_arm(one.arms[1], one.launches[1]), fixed(one.ratio, 3, "x"), _interval(one)),
    )


def _arm(arm: ArmSummary, launches: int) -> tuple[str, ...]:
    return (
        arm.profile,
        str(launches),
        rate(arm.tokens_per_s.mean),
        fixed(arm.accept_length.mean, 2),
        fixed(scaled(arm.step_s.mean, MILLI), 2),
        fixed(scaled(arm.ttft_s.mean, MILLI), 1),
        UNKNOWN if arm.kv_tokens is None else f"{arm.kv_tokens:,}",
    )


def _interval(one: ConcurrencySummary) -> str:
    return UNKNOWN if one.low is None else f"{one.low:.3f} to {one.high:.3f}"


def category_rows(one: ConcurrencySummary) -> tuple[tuple[str, ...], ...]:
    """One row for each category; empty where there is one only."""
    if len(one.categories) < 2:  # noqa: PLR2004 - one category is the whole
        return ()
    return tuple(
        (
            found.category,
            str(found.prompts),
            fixed(found.ratio, 2, "x"),
            _signed(found.against_all - 1),
            UNKNOWN
            if found.low is None or found.high is None
            else f"{_signed(found.low - 1)} to {_signed(found.high - 1)}",
        )
        for found in one.categories
    )


def _signed(share: float) -> str:
    """`+12%`; what rounds to nothing has no sign."""
    whole = round(share * 100)
    return f"{whole:+d}%" if whole else "0%"


def trial_words(summary: TrialSummary) -> tuple[str, ...]:
    """What the table does not say; the verdict last."""
    lines = [f"not used: {reason} ({count}x)" for reason, count in summary.lost]
    lines += _family_words(summary)
    for one in reversed(summary.concurrencies):
        lines += _words(one, summary)
    return tuple(lines)


def _family_words(summary: TrialSummary) -> list[str]:
    """Which concurrencies share an error, where there are several."""
    first, *others = summary.plan.concurrencies
    if not others:
        return []
    design = summary.plan.design
    error = f"{design.error + design.early_error:.0%}"
    if len(others) == 1:
        return [f"concurrencies {first} and {others[0]} have {error} of error each"]
    named = ", ".join(map(str, others))
    return [
        f"concurrency {first} has {error} of error to itself; {named} are a family of their own "
        f"and share as much by Holm's rule"
    ]


def _words(one: ConcurrencySummary, summary: TrialSummary) -> list[str]:
    name = summary.plan.profile
    lines = _break_even_words(name, one.break_even)
    lines.append(f"{name}: {summary.plan.predicted_at(one.concurrency).words(one.ratio)}")
    lines += _output_words(one)
    if one.lengths is not None:
        lines += one.lengths.words(summary.plan.baseline, name)
    lines += _memory_words(one)
    if one.energy is not None:
        lines.append(one.energy.words(summary.plan.baseline, name))
    lines += (f"{name}: {words}" for words in one.suspects)
    lines += one.reasons
    if one.is_primary and summary.ended:
        lines.append(f"ended early: {summary.ended}")
    where = "" if len(summary.concurrencies) == 1 else f" at concurrency {one.concurrency}"
    greedy = ", greedy only" if summary.plan.temperature == 0 else ""
    lines.append(f"{name} against {summary.plan.baseline}{where}: {one.sentence}{greedy}")
    return lines


def _break_even_words(name: str, found: BreakEvenSummary | None) -> list[str]:
    if found is None:
        return []
    between = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
    return [
        f"{name}: a step costs {found.break_even:.2f} plain ones{between} and brings "
        f"{found.accept_length:.2f} tokens, {PAYS[found.pays]}; from the same launches, so this "
        "is the ratio of decode times in other words"
    ]


def _output_words(one: ConcurrencySummary) -> list[str]:
    same = one.outputs
    if same is None or not same.prompts:
        return []
    share = f"{same.identical} of {same.prompts} prompts the same in every pair of launches"
    lines = [f"outputs: {share} {same.interval_words}"]
    if one.parting is not None:
        lines.append(one.parting.words)
    within = one.outputs_within
    if within is None:
        return lines
    lines.append(
        f"within {one.arms[0].profile}: {within.identical} of {within.prompts} prompts the same "
        "in all launches"
    )
    if one.excess_p is not None and one.excess_p < ALIKE:
        lines.append(f"outputs differ more between the arms than within one (p {one.excess_p:.3f})")
    return lines


def _memory_words(one: ConcurrencySummary) -> list[str]:
    base, arm = one.arms
    lines = []
    if base.kv_tokens and arm.kv_tokens and base.kv_tokens != arm.kv_tokens:
        change = arm.kv_tokens / base.kv_tokens - 1
        lines.append(f"{arm.profile} holds {change:+.0%} KV tokens against {base.profile}")
    if base.most_requests != arm.most_requests and arm.most_requests is not None:
        lines.append(
            f"{arm.profile} runs at most {arm.most_requests} requests at once, "
            f"{base.profile} {base.most_requests}"
        )
    return lines
