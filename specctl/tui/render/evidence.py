"""What a trial rests on: categories, outputs, memory, energy, recipes, unasked differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.render.lines import UNKNOWN, Line, middle, row, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.comparison import Unasked
    from specctl.domain.energy import EnergyStanding
    from specctl.domain.trial.summary import ArmSummary
    from specctl.domain.trial.traffic import Deviation
    from specctl.tui.trials import TrialSheet

PROMPT_CELLS, SHARE_CELLS, BETWEEN_CELLS = 7, 5, 14
FIGURE_CELLS = 10
LEAST_CATEGORIES = 2
SEES, NONE = 0.005, "0%"
"""A share under half a percent is shown as none."""


def category_lines(sheet: TrialSheet, cells: int) -> list[Line]:
    """Each category against the whole; empty where there is one only."""
    found = sheet.primary.categories
    if len(found) < LEAST_CATEGORIES:
        return []
    size = max(8, cells - PROMPT_CELLS - SHARE_CELLS - BETWEEN_CELLS - 6)
    heads = [(name, "faint") for name in ("CATEGORY", "PROMPTS", "Δ", "95% INTERVAL")]
    out = [_category_row(heads, size)]
    out += [_category_row(_category(one, size), size) for one in found]
    words = "Δ: how far the category's ratio lies from that of all prompts."
    return [*out, *[[(part, "faint")] for part in wrap(words, cells)]]


def _category(one: Deviation, size: int) -> Line:
    share, between = _signed(one.against_all), UNKNOWN
    tone = "text"
    if one.low is not None and one.high is not None:
        low, high = _signed(one.low), _signed(one.high)
        between = (f"{low} to {high}", "text")
        stands_out = (one.low > 1 or one.high < 1) and share != NONE
        tone = "title" if stands_out else "text"
    return [(middle(one.category, size), "text"), (str(one.prompts), "text"), (share, tone),
            between]  # fmt: skip


def _category_row(spans: Line, size: int) -> Line:
    name, prompts, share, between = spans
    return row(
        ([name], size), ([prompts], PROMPT_CELLS, ">"), ([share], SHARE_CELLS, ">"),
        ([between], BETWEEN_CELLS),
    )  # fmt: skip


def _signed(ratio: float) -> str:
    share = ratio - 1
    return NONE if abs(share) < SEES else f"{share:+.0%}"


def output_lines(sheet: TrialSheet, cells: int) -> list[Line]:
    """Whether the arms say the same, and where they part first."""
    one = sheet.primary
    same = one.outputs
    if sheet.plan.temperature != 0:
        words = "not compared: answers are sampled, so two launches of one arm differ too"
        return _told("OUTPUTS", [("· ", "faint")], [words, *length_words(sheet)], cells)
    if same is None or not same.prompts:
        return []
    share = f"{same.identical} of {same.prompts} prompts the same in every pair of launches"
    sure = f" ({same.share_low:.0%} to {same.share_high:.0%})"
    told = [share + sure + f", {same.tokens:,} tokens compared"]
    within = one.outputs_within
    if within is not None:
        name = one.arms[0].profile
        same_within = f"{within.identical} of {within.prompts} prompts the same in all launches"
        told.append(f"within {name}: {same_within}")
    if sheet.parting is not None:
        told.append(sheet.parting.words)
    told += length_words(sheet)
    mark: Line = [("✓ ", "ok") if same.identical == same.prompts else ("▲ ", "warn")]
    return _told("OUTPUTS", mark, told, cells)


def length_words(sheet: TrialSheet) -> tuple[str, ...]:
    """Where answers differ in length, or end otherwise."""
    lengths = sheet.primary.lengths
    return () if lengths is None else lengths.words(sheet.plan.baseline, sheet.plan.profile)


def _told(name: str, first: Line, texts: Sequence[str], cells: int) -> list[Line]:
    """A head and sentences; the first one has the mark."""
    out: list[Line] = [[(name, "faint")]]
    for index, text in enumerate(texts):
        mark: Line = [("· ", "faint")] if index else first
        for i, part in enumerate(wrap(text, max(10, cells - 2))):
            out.append([*(mark if i == 0 else [("  ", "")]), (part, "text")])
    return out


def bill_lines(sheet: TrialSheet, cells: int) -> list[Line]:
    """What each arm takes: KV tokens, requests at once, energy."""
    if not any(block.results for block in sheet.blocks):
        return []
    arms = sheet.primary.arms
    taken = sheet.primary.energy
    energy = [figures.fixed(value, 1) for value in _joules(taken)]
    rows = [
        ("KV tokens", *(_count(arm.kv_tokens) for arm in arms)),
        ("requests at once", *(_count(arm.most_requests) for arm in arms)),
        ("energy, J/tok", *energy),
    ]
    size = max(8, cells - 2 * (FIGURE_CELLS + 2))
    head: Line = row(
        ([("TAKES", "faint")], size), ([("A", "faint")], FIGURE_CELLS, ">"),
        ([("B", "faint")], FIGURE_CELLS, ">"),
    )  # fmt: skip
    out = [head]
    for name, a, b in rows:
        out.append(row(([(name, "dim")], size), ([_figure(a)], FIGURE_CELLS, ">"),
                       ([_figure(b)], FIGURE_CELLS, ">")))  # fmt: skip
    share = kv_share(arms)
    if share:
        out += [[(part, "dim")] for part in wrap(share, cells)]
    if figures.UNKNOWN in energy:
        why = taken.missing if taken is not None else "no launch was measured"
        out += [[(part, "faint")] for part in wrap(f"energy: {why}", cells)]
    return out


def _joules(taken: EnergyStanding | None) -> tuple[float | None, float | None]:
    return (None, None) if taken is None else (taken.base_j, taken.arm_j)


def kv_share(arms: tuple[ArmSummary, ArmSummary]) -> str:
    """`B has room for 19% fewer KV tokens`; empty where it is the same or unknown."""
    base, arm = arms
    if not base.kv_tokens or not arm.kv_tokens or base.kv_tokens == arm.kv_tokens:
        return ""
    share = arm.kv_tokens / base.kv_tokens - 1
    word = "fewer" if share < 0 else "more"
    return f"B has room for {abs(share):.0%} {word} KV tokens."


def _figure(text: str) -> tuple[str, str]:
    return UNKNOWN if text == figures.UNKNOWN else (text, "strong")


def _count(value: int | None) -> str:
    return figures.UNKNOWN if value is None else f"{value:,}"


def unasked_lines(found: Sequence[Unasked] | None, cells: int) -> list[Line]:
    """Resolved arguments that differ although no profile says so."""
    if found is None:
        return []
    if not found:
        return [
            [("NOBODY ASKED FOR", "faint")],
            [("✓ ", "ok"), ("nothing differs unasked", "text")],
        ]
    texts = [f"{one.key} {one.base!s} in A, {one.arm!s} in B" for one in found]
    out: list[Line] = [[("NOBODY ASKED FOR", "faint")]]
    for text in texts:
        for i, part in enumerate(wrap(text, max(10, cells - 2))):
            out.append([("▲ " if i == 0 else "  ", "warn"), (part, "text")])
    return out


def traffic_line(sheet: TrialSheet, cells: int) -> list[Line]:
    """The ratio for other prompts like these."""
    one = sheet.primary
    if one.traffic_low is None or one.traffic_high is None:
        return []
    between = f"{one.traffic_low:.2f} to {one.traffic_high:.2f}×"
    text = f"On other prompts like these: {between} A's speed, 95% interval."
    return [[(part, "dim")] for part in wrap(text, cells)]
