"""Every kind of JSON object that specctl prints or leaves on a host, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from specctl.adapters.document_schema import Document, document_schema
from specctl.adapters.schema import MODELS, json_schema
from specctl.domain import published, published_source, record_files
from specctl.domain.advising import AdviceReport
from specctl.domain.alerts.published import AlertList
from specctl.domain.checkpoint.report import CheckpointReport
from specctl.domain.costing import CostReport
from specctl.domain.drift import Drifts
from specctl.domain.events import Event
from specctl.domain.expecting import ExpectReport
from specctl.domain.forecast.report import ForecastReport
from specctl.domain.listed import HostList, ProfileList
from specctl.domain.plan import Plan
from specctl.domain.probe import ProbeResult, RequestResult
from specctl.domain.remote_command import CommandList
from specctl.domain.run_sheet import RunDifferences
from specctl.domain.runs import Run, RunList
from specctl.domain.simulated_acceptance import ForcedReport
from specctl.domain.topology import Topologies
from specctl.domain.trial.published import PublishedTrial
from specctl.domain.trial.screening_published import PublishedScreening
from specctl.services.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_WITHOUT_TEXTS = {RequestResult: frozenset({"text", "output"})}
_WITH_VOID: Mapping[type[Any], type[Any]] = {ProbeResult: published.VoidOrNot}

DOCUMENTS = {
    document.name: document
    for document in (
        Document(
            "advise",
            AdviceReport,
            "Which draft length to try next, from what was measured.",
            "advise --json",
        ),
        Document(
            "alerts",
            AlertList,
            "What is wrong on hosts and servers, and what to do next.",
            "alerts --json",
        ),
        Document(
            "breakeven",
            published.BreakEvenAnswer,
            "Which accept length pays for a speculative step.",
            "breakeven --json",
        ),
        Document(
            "check",
            published.Checked,
            "What is wrong in the files of a workspace.",
            "check --format json",
        ),
        Document(
            "checkpoint",
            CheckpointReport,
            "A draft beside its target, by their small files.",
            "checkpoint --json",
        ),
        Document(
            "commands",
            CommandList,
            "What specctl did on hosts, the oldest first.",
            "commands --json",
        ),
        Document(
            "compare",
            published.Compared,
            "Profiles measured one after the other with the same prompts.",
            "compare --json",
            left_out=_WITHOUT_TEXTS,
            put_in=_WITH_VOID,
        ),
        Document(
            "corpora",
            published.Corpora,
            "The n-gram corpora of a server.",
            "server HOST corpus list --json",
        ),
        Document(
            "cost",
            CostReport,
            "What speculative steps cost, and what lies between the GPUs.",
            "cost --json",
        ),
        Document(
            "difference",
            published_source.InspectedDifference,
            "What differs between two SGLang source trees.",
            "inspect --diff --json",
        ),
        Document(
            "doctor",
            published.Examined,
            "Whether hosts have what they need.",
            "doctor --json",
        ),
        Document(
            "drift",
            Drifts,
            "Servers against their profiles, launches and installed trees.",
            "drift --json",
        ),
        Document(
            "event",
            Event,
            "Something that happened; one line each.",
            "watch --json",
        ),
        Document(
            "expect",
            ExpectReport,
            "What profiles expect, against what was measured.",
            "expect --json",
        ),
        Document(
            "forecast",
            ForecastReport,
            "What n-gram drafts would accept, before anything is launched.",
            "forecast --json",
        ),
        Document(
            "found",
            published_source.FoundFiles,
            "Files, flags and algorithms of a source tree by name.",
            "inspect --find --json",
        ),
        Document(
            "hosts",
            HostList,
            "The hosts of a workspace as their files describe them.",
            "hosts --json",
        ),
        Document(
            "inspect",
            published_source.Inspected,
            "What an installed SGLang can do.",
            "inspect --json",
        ),
        Document(
            "outcome",
            Outcome,
            "How carrying out a plan ended.",
            "start|stop|adopt --json",
            put_in={Outcome: published.ReachedTimes},
        ),
        Document(
            "plan",
            Plan,
            "What would be done; no secret is in it.",
            "start|stop|adopt --dry-run --json",
            left_out={Plan: frozenset({"recipe"})},
        ),
        Document(
            "probe",
            ProbeResult,
            "A running server, measured.",
            "probe --json",
            left_out=_WITHOUT_TEXTS,
            put_in=_WITH_VOID,
        ),
        Document(
            "profiles",
            ProfileList,
            "The profiles of a workspace, with what was found in each.",
            "profiles --json",
        ),
        Document(
            "run",
            Run,
            "One run of the ledger, with the conditions it was made under.",
            "runs show --json",
        ),
        Document(
            "runs",
            RunList,
            "What was launched and measured, the newest first.",
            "runs list --json",
        ),
        Document(
            "rundiff",
            RunDifferences,
            "What differs between two runs of the ledger.",
            "runs diff --json",
        ),
        Document(
            "show",
            published.Shown,
            "A profile's complete recipe.",
            "show PROFILE --json",
        ),
        Document(
            "source",
            published_source.SourceText,
            "A file of a source tree, or lines of its files.",
            "source --json",
        ),
        Document(
            "status",
            published.Statuses,
            "The latest of everything known about hosts.",
            "status --json",
        ),
        Document(
            "acceptance",
            ForcedReport,
            "Which accept length would pay, from launches that it was forced on.",
            "cost --simulate-accept-length --json",
        ),
        Document(
            "screening",
            PublishedScreening,
            "Several profiles ranked, and the trial of the one that was left.",
            "compare --json",
        ),
        Document(
            "topology",
            Topologies,
            "How the GPUs of hosts reach each other.",
            "status --topology --json",
        ),
        Document(
            "trial",
            PublishedTrial,
            "Two profiles launched in turn, and whether one is faster.",
            "compare --json",
        ),
        Document(
            "lab",
            published.LabHosts,
            "The practice hosts that are up, and what is wrong with them.",
            "lab status --json",
        ),
        Document(
            "launch",
            record_files.LaunchFile,
            "Who a server under specctl's care is.",
            "launch.json on the host",
            is_file=True,
        ),
        Document(
            "ready",
            record_files.ReadyFile,
            "How long a start took.",
            "ready.json on the host",
            is_file=True,
        ),
        Document(
            "stop",
            record_files.StopFile,
            "A stop was asked for.",
            "stop.json on the host",
            is_file=True,
        ),
        Document(
            "exit",
            record_files.ExitFile,
            "How a server's main process ended.",
            "exit.json on the host",
            is_file=True,
        ),
    )
}
FILES = {
    "rules": "The file alerts.toml.",
    "profile": "A file of profiles/.",
    "remote": "A file of remotes/.",
}
"""What people write: their schemas are for editors, in the draft those know."""

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    **{name: partial(document_schema, document) for name, document in DOCUMENTS.items()},
    **{kind: partial(json_schema, kind) for kind in MODELS},
}
"""Name to what makes its JSON Schema."""
