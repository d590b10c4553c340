"""Runs of the ledger, looked at again: shown, recomputed from their raw samples, taken along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl import __version__
from specctl.adapters.evidence import Evidence, read_evidence, write_evidence
from specctl.domain.errors import UsageError
from specctl.domain.probe import ProbeResult
from specctl.domain.probe_rows import probe_rows
from specctl.domain.report.markdown import write_markdown
from specctl.domain.report.page import Reported, write_page
from specctl.domain.report.ranking import ReportedRanking
from specctl.domain.report.references import read_published
from specctl.domain.run_sheet import sheet_of
from specctl.domain.runs import WITH_BLOCKS, RunKind
from specctl.domain.simulated_acceptance import ForcedReport
from specctl.domain.training import exact_label
from specctl.domain.trial.running import final_word, stand
from specctl.domain.trial.screening_json import screening_block_of, screening_of
from specctl.domain.trial.screening_running import stand_screening
from specctl.domain.trial.screening_words import outcome_words
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import block_of, plan_of
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.ledger import Ledger
    from specctl.domain.run_sheet import RunSheet
    from specctl.domain.runs import Run
    from specctl.domain.trial.running import Standing, TrialBlock, TrialPlan
    from specctl.domain.trial.screening_json import KeptScreening
    from specctl.domain.trial.screening_running import ScreeningStanding
    from specctl.domain.trial.summary import TrialSummary

SUFFIX = ".specctl.json.gz"


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A trial worked out again from its raw samples."""

    run: Run
    summary: TrialSummary
    verdict: str | None
    recorded: str
    """What the run itself ended with."""

    @property
    def is_same(self) -> bool:
        """The samples still say what was said."""
        return self.verdict == self.recorded or (self.verdict is None and self.recorded in UNSAID)


UNSAID = ("", "interrupted", "no verdict")


@dataclass(frozen=True, slots=True)
class RankedAgain:
    """A screening worked out again from its raw samples."""

    run: Run
    kept: KeptScreening
    standing: ScreeningStanding

    @property
    def words(self) -> str:
        """What it comes to."""
        return outcome_words(self.standing)

    @property
    def is_same(self) -> bool:
        """The samples still say what was said."""
        return self.words == self.run.outcome or self.run.outcome in UNSAID


def rank_again(evidence: Evidence) -> RankedAgain:
    """A ranking from its samples alone; raises UsageError for what holds none."""
    run = evidence.run
    try:
        kept = screening_of(run.document)
        blocks = tuple(map(screening_block_of, evidence.blocks))
        standing = stand_screening(kept.plan, blocks)
    except (ValueError, ArithmeticError) as error:
        raise UsageError(f"run {run.id} does not hold a screening: {error}") from error
    return RankedAgain(run, kept, standing)


def gather(ledger: Ledger, run_id: str) -> Evidence:
    """A run of the ledger with its launches; raises UsageError when there is none."""
    run = ledger.run(run_id)
    return Evidence(run, ledger.blocks(run.id) if run.kind in WITH_BLOCKS else ())


def find_evidence(ledger: Ledger, name: str) -> Evidence:
    """A bundle when `name` is a file, else a run of the ledger."""
    path = Path(name).expanduser()
    return read_evidence(path) if path.is_file() else gather(ledger, name)


def export(evidence: Evidence, path: Path | None) -> tuple[Path, int]:
    """Write a bundle; where, and its size in bytes."""
    target = path or Path(f"{evidence.run.id}{SUFFIX}")
    return target, write_evidence(target, evidence)


def recompute(evidence: Evidence) -> Recomputed:
    """The verdict of a trial from its samples alone; raises UsageError for what has none."""
    run = evidence.run
    if run.kind is not RunKind.TRIAL:
        raise UsageError(
            f"run {run.id} is a {run.kind.value}: only a trial has a verdict",
            hint="specctl runs show prints it.",
        )
    plan, blocks, standing = _trial(evidence)
    word = final_word(plan, standing)
    return Recomputed(run, summarise(plan, blocks), word.value if word else None, run.outcome)


def _trial(evidence: Evidence) -> tuple[TrialPlan, tuple[TrialBlock, ...], Standing]:
    run = evidence.run
    try:
        plan = plan_of(run.document)
        blocks = tuple(block_of(block) for block in evidence.blocks)
        return plan, blocks, stand(plan, blocks)
    except (ValueError, ArithmeticError) as error:
        raise UsageError(f"run {run.id} does not hold a trial: {error}") from error


def reported(evidence: Evidence) -> Reported:
    """A trial as a report takes it; raises UsageError for what is none."""
    run = evidence.run
    if run.kind is not RunKind.TRIAL:
        raise UsageError(
            f"run {run.id} is a {run.kind.value}: a report is about trials",
            hint=f"specctl runs show {run.id} prints it; trials: specctl runs list --kind trial.",
        )
    plan, blocks, _ = _trial(evidence)
    recipes = tuple(run.provenance.profiles.items())
    return Reported(plan, blocks, conditions(run), recipes)


def reported_ranking(evidence: Evidence) -> ReportedRanking:
    """A screening as a report takes it."""
    again = rank_again(evidence)
    kept = again.kept
    tried = again.standing.survivor if kept.trial else None
    facts = conditions(evidence.run)
    return ReportedRanking(kept.plan, again.standing, facts, kept.trial, tried)


def with_trials(ledger: Ledger, found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Screenings followed by the trials that confirm, where the ledger has them."""
    there = {one.run.id for one in found}
    more = []
    for one in found:
        more.append(one)
        trial = rank_again(one).kept.trial if one.run.kind is RunKind.SCREENING else None
        if trial is not None and trial not in there and ledger.has_run(trial):
            more.append(gather(ledger, trial))
    return tuple(more)


def write_report(found: Sequence[Evidence], form: str, now_s: float) -> str:
    """Trials and screenings as `html` or `md`."""
    rankings = [reported_ranking(one) for one in found if one.run.kind is RunKind.SCREENING]
    trials = [reported(one) for one in found if one.run.kind is not RunKind.SCREENING]
    day = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
    made = f"Made by specctl {__version__} on {day} from the raw samples of the ledger."
    if form == "md":
        return write_markdown(trials, made, rankings)
    text = resources.files("specctl").joinpath("reference/published.csv").read_text("utf-8")
    return write_page(trials, read_published(text.splitlines()), made, rankings)


def probe_of(run: Run) -> ProbeResult:
    """The result of a kept probe; raises UsageError for what is none."""
    document: dict[str, Any] = {k: v for k, v in run.document.items() if k != "is_void"}
    try:
        return object_of(ProbeResult, document, {})
    except ValueError as error:
        raise UsageError(f"run {run.id} does not hold a probe: {error}") from error


def forced_of(run: Run) -> ForcedReport:
    """The sweep of a kept run; raises UsageError for what is none."""
    try:
        found = object_of(ForcedReport, run.document.get("report") or {}, {})
    except ValueError as error:
        raise UsageError(f"run {run.id} does not hold a sweep: {error}") from error
    return replace(found, run=run.id)


def sheet_of_run(run: Run) -> RunSheet:
    """Everything that was kept of a run, in words."""
    sheet = sheet_of(run, conditions(run))
    if run.kind is not RunKind.PROBE:
        return sheet
    try:
        rows = probe_rows(probe_of(run))
    except UsageError:  # what an older specctl kept is shown as it is
        return sheet
    return replace(sheet, measured=tuple((r.label, f"{r.value}  {r.note}".strip()) for r in rows))


def conditions(run: Run) -> tuple[tuple[str, str], ...]:
    """Under which conditions it ran, as name and words; what was not known is left out."""
    found = run.provenance
    gpus = _counted(found.gpus)
    pairs: Mapping[str, str | None] = {
        "by": f"{found.operator}, specctl {found.specctl}",
        "host": found.host and found.host + (" (SIMULATED)" if found.is_simulated else ""),
        "GPUs": gpus,
        "driver": found.driver,
        "SGLang": found.build,
        "tree": found.tree_hash,
        "workspace": found.workspace_commit,
        "workload": None
        if found.workload is None
        else f"{found.workload} {(found.workload_sha256 or '')[:12]}",
        "trained on": None if found.trained_on is None else exact_label(found.trained_on),
        "rendering": found.rendering,
    }
    recipes = tuple((f"recipe {name}", value) for name, value in found.recipes.items())
    return (*((name, words) for name, words in pairs.items() if words), *recipes)


def _counted(names: tuple[str, ...]) -> str:
    kinds = dict.fromkeys(names)
    return ", ".join(f"{names.count(name)}x {name}" for name in kinds)
