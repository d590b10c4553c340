"""A comparison as rows and sentences, for a terminal and for a panel alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.comparison import ONE_LAUNCH
from specctl.domain.figures import UNKNOWN, fixed, rate, scaled
from specctl.domain.pairing import pair
from specctl.domain.probe_rows import category_accept_length

if TYPE_CHECKING:
    from specctl.domain.comparison import Arm, Comparison, Standing, Unasked
    from specctl.domain.pairing import Pairing
    from specctl.domain.probe import ProbeResult

HEADERS = (
    "profile",
    "tok/s",
    "per-request",
    "accept-length",
    "break-even",
    "step-ms",
    "speedup",
    "same-output",
)


def comparison_rows(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
    """One row per arm, the baseline first."""
    standings = {standing.profile: standing for standing in comparison.standings}
    return tuple(_row(arm, standings.get(arm.profile)) for arm in comparison.arms)


def _row(arm: Arm, standing: Standing | None) -> tuple[str, ...]:
    result = arm.result
    if result is None:
        return (arm.profile, *(UNKNOWN for _ in HEADERS[1:]))
    pairing = standing.pairing if standing else None
    cost = standing.cost if standing else None
    return (
        f"{arm.profile} (void)" if result.void else arm.profile,
        rate(result.tokens_per_s),
        rate(result.tokens_per_s_per_request),
        fixed(result.accept_length, 2),
        fixed(cost.break_even if cost else None, 2),
        fixed(scaled(result.step_s, 0.001), 2),
        fixed(pairing.speedup if pairing else None, 2, "x") if standing else "baseline",
        f"{pairing.identical}/{pairing.prompts}" if pairing else UNKNOWN,
    )


CATEGORY_HEADERS = ("profile", "category", "prompts", "accept-length", "speedup")


def category_rows(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
    """One row per arm and category; empty where there is one category only."""
    base = comparison.baseline.result
    if base is None or base.void:
        return ()
    categories = tuple(dict.fromkeys(request.category for request in base.requests))
    if len(categories) < 2:  # noqa: PLR2004 - one category is the whole
        return ()
    return tuple(
        _category_row(arm, category, base)
        for arm in comparison.arms[1:]
        if arm.is_usable
        for category in categories
    )


def _category_row(arm: Arm, category: str, base: ProbeResult) -> tuple[str, ...]:
    requests = arm.result.requests if arm.result else ()
    own = [request for request in requests if request.category == category]
    pairing = pair([request for request in base.requests if request.category == category], own)
    return (
        arm.profile,
        category,
        str(pairing.prompts if pairing else 0),
        fixed(category_accept_length(own, arm.algorithm), 2),
        fixed(pairing.speedup if pairing else None, 2, "x"),
    )


def comparison_words(comparison: Comparison) -> tuple[str, ...]:
    """What the table does not say, the most important last."""
    lines = [difference_words(one) for one in comparison.differences]
    for arm in comparison.arms:
        lines += _arm_words(arm)
    for standing in comparison.standings:
        lines += _standing_words(standing)
    lines += comparison.restored
    if comparison.interrupted:
        lines.append("Interrupted: the arms that are missing were not measured.")
    return (*lines, ONE_LAUNCH)


def difference_words(one: Unasked) -> str:
    """An argument that nobody asked to differ, in one sentence."""
    return (
        f"Nobody asked for it: {one.profile} runs with {one.key} {one.arm}, the baseline with "
        f"{one.base}."
    )


def _arm_words(arm: Arm) -> list[str]:
    if arm.result is None:
        words = f"{arm.profile}: {arm.failure or 'not measured'}"
        return [f"{words} ({arm.hint})" if arm.hint else words]
    return [
        *(f"{arm.profile} is void: {words}" for words in arm.result.void),
        *(f"{arm.profile}: {words}" for words in arm.result.notes),
    ]


def _standing_words(standing: Standing) -> list[str]:
    lines = [f"{standing.profile}: no speedup, because {standing.unknown}"] * bool(standing.unknown)
    cost = standing.cost
    if cost is not None:
        more = "more" if cost.accept_length > cost.break_even else "less"
        lines.append(
            f"{standing.profile}: a step costs {cost.break_even:.2f} plain ones and brings "
            f"{cost.accept_length:.2f} tokens, {more} than it costs while decoding: "
            f"{cost.decode_speedup:.2f}x{_whole_words(standing.pairing)}"
        )
    if standing.energy is not None:
        lines.append(standing.energy.words("the baseline", standing.profile))
    same = standing.outputs
    if same is not None and same.prompts:
        share = f"outputs: {same.identical} of {same.prompts} prompts the same as the baseline's"
        lines.append(f"{standing.profile}: {share} {same.interval_words}")
    lines += (f"{standing.profile}: {words}" for words in standing.suspects)
    lines += standing.notes
    return lines


def _whole_words(pairing: Pairing | None) -> str:
    """How the same thing looks over whole requests, first tokens included."""
    if pairing is None:
        return ""
    share = pairing.first_token_share
    why = ""
    if share is not None:
        why = f" (first tokens, which drafts do not hasten, are {share:.0%} of the baseline's time)"
    return f"; over whole requests {pairing.speedup:.2f}x{why}"
