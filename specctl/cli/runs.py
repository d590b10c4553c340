"""`specctl runs list|show|diff|report|export|recompute`: what was measured before."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.cli.compare_screening import write_ranking
from specctl.cli.compare_trial import open_ledger, write_summary
from specctl.cli.cost_forced import write_forced
from specctl.cli.diagnostics import say, warn
from specctl.cli.forecast_text import write_forecast
from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_foreign, write_json
from specctl.cli.runs_diff import command as diff
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.errors import UsageError
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.runs import WITH_BLOCKS, RunKind, RunList, brief
from specctl.domain.text import clean
from specctl.domain.training import warm_words
from specctl.domain.trial.published import publish
from specctl.domain.trial.screening_published import publish_screening

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.adapters.evidence import Evidence
    from specctl.domain.runs import Run
    from specctl.domain.trial.screening_published import PublishedScreening
    from specctl.services.runs import RankedAgain

HEADERS = ("run", "when", "host", "kind", "profiles", "outcome")
OUTCOME_CELLS = 60


@click.group()
def command() -> None:
    """Look at what was launched and measured before: every run is kept with its raw samples.

    \b
    specctl runs list --profile kimi-eagle3
    specctl runs show 5c0f
    specctl runs export 5c0f && specctl runs recompute 5c0ffee2.specctl.json.gz
    """  # noqa: D301  click reads \b


command.add_command(diff)


@command.command("list", short_help="Print what was done, the newest first.")
@click.option("--host", metavar="HOST", help="On this host only.")
@click.option("--profile", metavar="PROFILE", help="Of this profile only.")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in RunKind]), help="Of this kind only."
)
@click.option(
    "-n", "most", type=click.IntRange(1, 10_000), default=20, show_default=True, metavar="N",
    help="At most so many.",
)  # fmt: skip
@json_option
def list_runs(
    *, host: str | None, profile: str | None, kind: str | None, most: int, as_json: bool
) -> None:
    """Print what was done, the newest first.

    specctl runs list --host gpu8 --kind trial
    """
    chosen = RunKind(kind) if kind else None
    with open_ledger() as ledger:
        runs = ledger.runs(host=host, kind=chosen, profile=profile, most=most)
    _notice(runs)
    for run_id, words in ledger.damaged.items():
        warn(f"run {clean(run_id)} is damaged and left out: {words}")
    if as_json:
        write_json("runs", plain(RunList(tuple(brief(run) for run in runs))))
        return
    if not runs and not ledger.damaged:
        say("nothing was kept yet: start, probe, compare and forecast write here")
        return
    for line in table(HEADERS, map(_row, runs)):
        write(line)


def _notice(runs: Iterable[Run]) -> None:
    for run in runs:
        SHOWN.notice(Host(run.where, is_simulated=run.provenance.is_simulated))


def _row(run: Run) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.began_s))
    outcome = run.outcome or ("runs, or was cut off" if run.ended_s is None else "")
    outcome = outcome[:OUTCOME_CELLS] + warm_words(run.provenance.trained_on)
    host = run.where + (" (SIMULATED)" if run.provenance.is_simulated else "")
    return (run.id, when, host, run.kind.value, " ".join(run.profiles), outcome)


@command.command("show", short_help="Print one run and the conditions it was made under.")
@click.argument("run_id", metavar="RUN")
@json_option
def show(run_id: str, *, as_json: bool) -> None:
    """Print one run and the conditions it was made under.

    specctl runs show 5c0ffee2
    """
    from specctl.services.runs import conditions, find_evidence

    with open_ledger() as ledger:
        evidence = find_evidence(ledger, run_id)
    _notice([evidence.run])
    if as_json:
        write_json("run", plain(evidence.run))
        return
    write(style(f"{evidence.run.kind.value} {evidence.run.id}", "bold"))
    pairs = conditions(evidence.run)
    width = max(len(name) for name, _ in pairs)
    for name, words in pairs:
        write(f"{name:{width}}  {words}")
    write()
    _write_run(evidence)


def _write_run(evidence: Evidence) -> None:
    from specctl.cli.compare_text import write_comparison
    from specctl.cli.probe_text import write_result
    from specctl.services.kept_comparison import comparison_of
    from specctl.services.kept_forecast import forecast_of
    from specctl.services.runs import forced_of, probe_of, rank_again, recompute

    run = evidence.run
    if run.kind is RunKind.TRIAL:
        write_summary(recompute(evidence).summary)
    elif run.kind is RunKind.SCREENING:
        _write_ranking(rank_again(evidence))
    elif run.kind is RunKind.ACCEPTANCE:
        write_forced(forced_of(run))
    elif run.kind is RunKind.FORECAST:
        write_forecast(forecast_of(run))
    elif run.kind is RunKind.PROBE:
        write_result(probe_of(run))
    elif run.kind is RunKind.COMPARISON:
        write_comparison(comparison_of(run))
    write(run.outcome)


def _write_ranking(again: RankedAgain) -> None:
    kept, standing = again.kept, again.standing
    write_ranking(kept.plan, standing, standing.survivor if kept.trial else None)
    if kept.trial is not None:
        write(f"confirmed by trial {kept.trial}: specctl runs show {kept.trial}")


@command.command("recompute", short_help="Work a verdict or forecast out again.")
@click.argument("name", metavar="RUN|FILE")
@json_option
def recompute_run(name: str, *, as_json: bool) -> int:
    """Work a verdict out again from the raw samples: 0 when they say the same, else 1.

    A forecast is worked out from its histograms and step costs: its transcripts are not kept.

    specctl runs recompute 5c0ffee2
    """
    from specctl.services.runs import find_evidence, recompute

    with open_ledger() as ledger:
        evidence = find_evidence(ledger, name)
    _notice([evidence.run])
    if evidence.run.kind is RunKind.SCREENING:
        return _recompute_ranking(evidence, as_json=as_json)
    if evidence.run.kind is RunKind.FORECAST:
        return _recompute_forecast(evidence.run, as_json=as_json)
    found = recompute(evidence)
    if as_json:
        write_json("trial", plain(publish(found.summary, verdict=found.verdict)))
    else:
        write_summary(found.summary)
    if found.is_same:
        say(f"the same as was said: {found.recorded or 'no verdict'}")
        return 0
    warn(f"not what was said: {found.verdict or 'no verdict'}, recorded {found.recorded}")
    return 1


def _recompute_ranking(evidence: Evidence, *, as_json: bool) -> int:
    from specctl.services.runs import rank_again

    again = rank_again(evidence)
    if as_json:
        write_json("screening", plain(_published(again)))
    else:
        _write_ranking(again)
    if again.is_same:
        say(f"the same as was said: {again.words}")
        return 0
    warn(f"not what was said: {again.words}; recorded: {evidence.run.outcome}")
    return 1


def _recompute_forecast(run: Run, *, as_json: bool) -> int:
    from specctl.services.kept_forecast import forecast_again

    again = forecast_again(run)
    if as_json:
        write_json("forecast", plain(again.report))
    else:
        write_forecast(again.report)
    if again.is_same:
        say(f"the same as was said: {again.words}")
        return 0
    for words in again.changes or (f"{again.words}; recorded: {run.outcome}",):
        warn(f"not what was said: {words}")
    return 1


def _published(again: RankedAgain) -> PublishedScreening:
    return publish_screening(again.kept.plan, again.standing, trial_id=again.kept.trial)


@command.command("export", short_help="Write a run with its raw samples into one file.")
@click.argument("run_id", metavar="RUN")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
def export_run(run_id: str, file: Path | None) -> None:
    """Write a run with its raw samples into one file, for another machine or a bug report.

    It holds recipes, resolved arguments and figures, and of trials and comparisons the beginnings
    of the answers; no secret and no prompt.

    specctl runs export 5c0ffee2
    """
    from specctl.services.runs import export, gather

    with open_ledger() as ledger:
        evidence = gather(ledger, run_id)
    _notice([evidence.run])
    path, size = export(evidence, file)
    write(str(path))
    is_again = evidence.run.kind in {*WITH_BLOCKS, RunKind.FORECAST}
    again = f"; specctl runs recompute {path} works it out again anywhere" if is_again else ""
    say(f"{size:,} bytes{again}")


@command.command("report", short_help="Write trials as a page with plots, Markdown or JSON.")
@click.argument("names", metavar="RUN|FILE...", nargs=-1, required=True)
@click.option(
    "--html", "form", flag_value="html", default="html", help="One page, plots in it. [default]"
)
@click.option("--md", "form", flag_value="md", help="Markdown, for a pull request.")
@click.option("--json", "form", flag_value="json", help="A line of JSON for each trial.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write there; else to standard output.",
)  # fmt: skip
def report(names: tuple[str, ...], *, form: str, output: Path | None) -> None:
    """Write trials as a page with plots, as Markdown, or as JSON.

    A screening brings its ranking and the trial that followed it. The page holds everything it
    shows and loads nothing.

    specctl runs report 5c0ffee2 -o report.html
    """
    from specctl.services.runs import (
        find_evidence,
        rank_again,
        recompute,
        with_trials,
        write_report,
    )

    with open_ledger() as ledger:
        found = with_trials(ledger, [find_evidence(ledger, name) for name in names])
    if form == "json":
        for one in found:
            if one.run.kind is RunKind.SCREENING:
                write_json("screening", plain(_published(rank_again(one))), lines=True)
                continue
            again = recompute(one)
            write_json("trial", plain(publish(again.summary, verdict=again.verdict)), lines=True)
        return
    text = write_report(found, form, time.time())  # noqa: TID251 - only dates the page
    if output is None:
        write_foreign(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}") from error
    say(f"{output}, {len(text.encode()):,} bytes")
