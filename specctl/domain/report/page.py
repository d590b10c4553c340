"""A report as one HTML page: no script, nothing loaded from anywhere, every string escaped."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from specctl.domain.report.plots import (
    draw_acceptance,
    draw_levels,
    draw_map,
    draw_steps,
    draw_throughput,
    draw_timeline,
)
from specctl.domain.report.ranking import write_ranking_html
from specctl.domain.report.style import CSS
from specctl.domain.training import warm_words
from specctl.domain.trial.rows import (
    CATEGORY_HEADERS,
    HEADERS,
    category_rows,
    trial_rows,
    trial_words,
)
from specctl.domain.trial.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.report.ranking import ReportedRanking
    from specctl.domain.report.references import Published
    from specctl.domain.trial.running import TrialBlock, TrialPlan
    from specctl.domain.trial.summary import TrialSummary

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
COLOURS = "Brown: the baseline; blue: the profile."
STEPS = (
    "A plain step of the baseline and a step of the profile. Grey: what passes between the steps "
    "that the server recorded, where it was told to (SGLANG_RECORD_STEP_TIME=1)."
)
SIMULATED = "SIMULATED: measured on a practice host of the lab; no GPU did what it shows"


@dataclass(frozen=True, slots=True)
class Reported:
    """One trial with the conditions it ran under."""

    plan: TrialPlan
    blocks: tuple[TrialBlock, ...]
    conditions: tuple[tuple[str, str], ...]
    recipes: tuple[tuple[str, str], ...]
    """Profile and its complete recipe."""


def write_page(
    reported: Sequence[Reported],
    published: Sequence[Published],
    made: str,
    rankings: Sequence[ReportedRanking] = (),
) -> str:
    """The page; `made` says when and by what."""
    summaries = [summarise(one.plan, one.blocks) for one in reported]
    sections = [_trial(one, summary) for one, summary in zip(reported, summaries, strict=True)]
    simulated = any(one.plan.is_simulated for one in reported)
    simulated = simulated or any(one.plan.is_simulated for one in rankings)
    names = [one.plan.profile for one in reported]
    names = names or [name for one in rankings for name in one.plan.candidates]
    title = " · ".join(dict.fromkeys(names))
    parts = [
        f"<h1>{escape(title)}: is it worth it?</h1>",
        f'<p class="simulated">{SIMULATED}</p>' if simulated else "",
        *(_headline(summary) for summary in summaries),
        *map(write_ranking_html, rankings),
        _figure(
            draw_map(summaries, published),
            "Accept length against speedup. On a line, a step costs as many plain steps as it "
            "says (AL*). Blue rings: predicted before the trial. Grey rings: published points, "
            "named on hover; dashed ones cannot be right.",
        ),
        *sections,
        _sources(published),
        f"<footer>{escape(made)}</footer>",
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _headline(summary: TrialSummary) -> str:
    first = summary.concurrencies[0]
    word = first.word or ("open" if summary.is_open else "no verdict")
    last = trial_words(summary)[-1]
    return f'<p class="verdict"><b>{escape(word)}</b> {escape(last)}</p>'


def _trial(one: Reported, summary: TrialSummary) -> str:
    plan = one.plan
    words = trial_words(summary)[:-1]
    first = summary.concurrencies[0]
    categories = category_rows(first)
    head = f"{plan.profile} against {plan.baseline} on {plan.host}"
    head += warm_words(plan.trained_on)
    return "".join(
        (
            f"<section><h2>{escape(head)}</h2>",
            _table(HEADERS, trial_rows(summary)),
            _table(CATEGORY_HEADERS, categories) if categories else "",
            f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in words)}</ul>",
            _figure(
                draw_throughput(summary),
                f"Output tokens per second, spread over launches. {COLOURS}",
            ),
            _figure(
                draw_levels(plan, one.blocks),
                f"Launch by launch: modes and drift show here. {COLOURS}",
            ),
            _figure(draw_acceptance(plan, one.blocks), "Share of verify steps by position."),
            _figure(draw_steps(plan, one.blocks, summary), f"{STEPS} {COLOURS}"),
            _figure(
                draw_timeline(plan, one.blocks),
                f"Launches over time; dashed outlines: void, or not used. {COLOURS}",
            ),
            _facts(one),
            "</section>",
        )
    )


def _facts(one: Reported) -> str:
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(words)}</td></tr>"
        for name, words in (*one.conditions, ("trial", one.plan.id))
    )
    recipes = "".join(
        f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>"
        for name, text in one.recipes
    )
    return f'<table class="facts">{rows}</table>{recipes}'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _figure(svg: str, words: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(words)}</figcaption></figure>" if svg else ""


def _sources(published: Sequence[Published]) -> str:
    found = dict.fromkeys(f"{one.source} ({one.licence})" for one in published)
    return f"<p>Published points: {escape(', '.join(found))}.</p>" if found else ""
