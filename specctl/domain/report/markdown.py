"""A report as Markdown: what a pull request or an issue takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.report.page import SIMULATED
from specctl.domain.training import warm_words
from specctl.domain.trial.rows import (
    CATEGORY_HEADERS,
    HEADERS,
    category_rows,
    trial_rows,
    trial_words,
)
from specctl.domain.trial.screening_words import RANKING_HEADERS
from specctl.domain.trial.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.report.page import Reported
    from specctl.domain.report.ranking import ReportedRanking

_SPECIAL = "\\`*_{}[]<>()#+!|~&"


def write_markdown(
    reported: Sequence[Reported], made: str, rankings: Sequence[ReportedRanking] = ()
) -> str:
    """The text; names from hosts are escaped, so that none of them is markup."""
    lines = [line for one in rankings for line in _ranking(one)]
    for one in reported:
        summary = summarise(one.plan, one.blocks)
        plan = one.plan
        words = trial_words(summary)
        head = f"{plan.profile} against {plan.baseline} on {plan.host}"
        lines += [f"## {_plain(head + warm_words(plan.trained_on))}", ""]
        if plan.is_simulated:
            lines += [f"**{SIMULATED}**", ""]
        lines += [f"**{_plain(words[-1])}**", "", *_table(HEADERS, trial_rows(summary)), ""]
        categories = category_rows(summary.concurrencies[0])
        if categories:
            lines += [*_table(CATEGORY_HEADERS, categories), ""]
        lines += [f"* {_plain(line)}" for line in words[:-1]]
        lines += ["", *(f"* {_plain(name)}: {_plain(value)}" for name, value in one.conditions)]
        lines += [f"* trial: {_plain(plan.id)}", ""]
    return "\n".join([*lines, _plain(made), ""])


def _ranking(one: ReportedRanking) -> list[str]:
    first, *rest = one.lines
    return [
        f"## {_plain(one.title)}",
        "",
        *([f"**{SIMULATED}**", ""] if one.plan.is_simulated else []),
        f"**{_plain(first)}**",
        "",
        *_table(RANKING_HEADERS, one.rows),
        "",
        *(f"* {_plain(line)}" for line in rest),
        *(f"* {_plain(name)}: {_plain(value)}" for name, value in one.facts),
        "",
    ]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = [f"| {' | '.join(_plain(cell) for cell in row)} |" for row in rows]
    return [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *body]


def _plain(text: str) -> str:
    """One line in which nothing is markup."""
    one_line = " ".join(text.split())
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in one_line)
