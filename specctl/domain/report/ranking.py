"""A screening in a report: the ranking, and that it is no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from specctl.domain.training import warm_words
from specctl.domain.trial.screening_words import RANKING_HEADERS, ranking_rows, screening_words

if TYPE_CHECKING:
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.domain.trial.screening_running import ScreeningStanding


@dataclass(frozen=True, slots=True)
class ReportedRanking:
    """One screening with the conditions it ran under."""

    plan: ScreeningPlan
    standing: ScreeningStanding
    conditions: tuple[tuple[str, str], ...]
    trial: str | None = None
    """The run that confirms."""

    tried: str | None = None
    """The profile that it is about."""

    @property
    def title(self) -> str:
        """Of its section."""
        warm = warm_words(self.plan.trained_on)
        return f"Which of {len(self.plan.candidates)} profiles on {self.plan.host}{warm}"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Under `RANKING_HEADERS`."""
        return ranking_rows(self.standing, self.tried)

    @property
    def lines(self) -> list[str]:
        """The answer first."""
        *rest, last = screening_words(self.plan, self.standing, self.tried)
        confirmed = f"confirmed by trial {self.trial}, with launches of its own"
        return [last, *([confirmed] if self.trial else []), *rest]

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Name and value."""
        return (*self.conditions, ("screening", self.plan.id))


def write_ranking_html(one: ReportedRanking) -> str:
    """A section of the page, every string escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in RANKING_HEADERS)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in one.rows
    )
    facts = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(words)}</td></tr>" for name, words in one.facts
    )
    return (
        f"<section><h2>{escape(one.title)}</h2>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in one.lines)}</ul>"
        f'<table class="facts">{facts}</table></section>'
    )
