"""A forecast as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.cli.table import table
from specctl.domain.figures import fixed, gib, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.forecast.answer import CategoryEstimate, Estimate, Forecast, SettingRow
    from specctl.domain.forecast.corpora import CorpusRow
    from specctl.domain.forecast.report import ForecastReport

LABEL = 26
SHOWN_POSITIONS = 8
CATEGORY_HEADERS = ("category", "answers", "tokens", "cold", "warm", "accepted by position, cold")
SETTING_HEADERS = ("setting", "draft-tokens", "accept-length", "break-even", "times-faster")
CORPUS_HEADERS = ("corpus", "documents", "tokens", "accept-length", "without", "")


def write_forecast(report: ForecastReport) -> None:
    """What it comes to, category by category, other settings, corpora, and whether to try it."""
    found = report.forecast
    where = f" on {report.host}" if report.host else ""
    write(style(f"{report.profile}{where}  NGRAM of SGLang {found.version}", "bold"))
    for label, value in _summary(report):
        write(f"{label:<{LABEL}}{value}")
    write()
    right = "answers tokens cold warm"
    for line in table(CATEGORY_HEADERS, map(_category, found.categories), right=right):
        write(line)
    write()
    right = "draft-tokens accept-length break-even times-faster"
    for line in table(SETTING_HEADERS, map(_setting, found.other_settings), right=right):
        write(line)
    if found.corpora:
        write()
        right = "documents tokens accept-length without"
        for line in table(CORPUS_HEADERS, map(_corpus, found.corpora), right=right):
            write(line)
    write()
    write(style(_verdict(found), "bold"))
    for words in (*found.notes, *report.notes):
        write(f"- {words}")


def _summary(report: ForecastReport) -> Iterator[tuple[str, str]]:
    found = report.forecast
    cold = found.cold
    answers = f"{cold.transcripts} answer{'' if cold.transcripts == 1 else 's'}"
    yield "transcripts", f"{answers}, {cold.tokens:,} tokens, {report.tokens}"
    yield "accept length, cold", _length(cold)
    if found.warm is not None and found.held_out is not None:
        others = "1 other" if found.trained_on == 1 else f"{found.trained_on} others"
        yield (
            "accept length, warm",
            f"{_length(found.warm)}  after {others}; the same answers cold: "
            f"{_length(found.held_out)}",
        )
    in_use = f"{found.trie_nodes:,} of {found.settings.capacity:,} nodes used"
    yield "trie", f"{gib(found.trie_bytes)} GiB in every rank; {in_use}"
    if found.break_even is not None:
        costs = f"{fixed(found.step_ms, 2)} ms against {fixed(found.base_ms, 2)} ms"
        yield "break-even accept length", f"{found.break_even:.2f}  {costs}, {found.cost_source}"
        warm = f", warm {fixed(found.predicted_speedup_warm, 2, 'x')}" if found.warm else ""
        yield "predicted speedup", f"cold {fixed(found.predicted_speedup, 2, 'x')}{warm}"
    elif found.most_step_ms is not None:
        yield "a step may cost", f"{found.most_step_ms:.2f} ms to pay for itself"


def _length(estimate: Estimate) -> str:
    return fixed(estimate.accept_length, 2)


def _category(one: CategoryEstimate) -> tuple[str, ...]:
    shares = " ".join(map(percent, one.cold.marginal_acceptance[:SHOWN_POSITIONS]))
    return (
        one.category,
        str(one.cold.transcripts),
        f"{one.cold.tokens:,}",
        _length(one.cold),
        "" if one.warm is None else _length(one.warm),
        shares,
    )


def _setting(row: SettingRow) -> tuple[str, ...]:
    return (
        row.change or "as in the profile",
        str(row.draft_tokens),
        fixed(row.accept_length, 2),
        fixed(row.break_even, 2),
        fixed(row.predicted_speedup, 2, "x"),
    )


def _corpus(row: CorpusRow) -> tuple[str, ...]:
    return (
        row.name,
        str(row.documents),
        f"{row.tokens:,}",
        fixed(row.accept_length, 2),
        fixed(row.without, 2),
        _corpus_words(row),
    )


def _corpus_words(row: CorpusRow) -> str:
    if not row.changes_the_answer:
        return ""
    return "accepts more" if (row.accept_length or 0.0) > (row.without or 0.0) else "accepts less"


def _verdict(found: Forecast) -> str:
    change = f" Try {found.suggested}." if found.suggested else ""
    if found.is_random:
        return "Cannot be said: these are no answers to real requests."
    if found.is_worth_trying is None:
        return f"Whether it pays cannot be said: no step cost is known.{change}"
    if found.is_worth_trying:
        return f"Worth trying.{change}"
    best = f" as in the profile; the best setting here is {found.suggested}"
    return f"Not worth trying{best if found.suggested else ''}."
