"""What commands print as JSON where it is more, or less, than one object of the domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.comparison import Unasked
    from specctl.domain.doctor import Level
    from specctl.domain.missing import Reasons
    from specctl.domain.probe import ProbeResult
    from specctl.domain.server import Milestone
    from specctl.domain.state import HostState
    from specctl.domain.training import TrainedOn
    from specctl.domain.trial.losslessness import Sameness


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The line of a build's source that says so."""

    file: str
    """Relative to the package, e.g. `srt/server_args.py`."""

    line: int | None
    says: str
    """Its text, trimmed; empty for the declaration of a flag."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """One thing found in one file of the workspace."""

    level: Literal["error", "rewrite", "warning", "hint"]
    """A rewrite: the server starts with another value than the one written."""

    file: str
    """Relative to the workspace."""

    line: int | None
    """1-based; None when the file as a whole is meant."""

    profile: str | None
    """It was found in this one, whose value the file may set for it; None for the file itself."""

    key: str
    """Dotted; empty when the file as a whole is meant."""

    message: str
    nearest: str | None
    """The known key or value closest to the one written; None when none is close."""

    fix: str
    """What to do; empty where there is nothing to do."""

    rule: str
    """`file` for what is wrong with the file itself, whatever the build."""

    versions: str
    """Of SGLang, that do this; empty for what no version decides."""

    source: SourceLine | None
    """None where no source was looked into, or none of its lines says it."""


@dataclass(frozen=True, slots=True)
class CheckedBuild:
    """The SGLang that was checked against."""

    version: str
    is_assumed: bool
    """Nobody said which version; the newest known to specctl is taken."""

    path: str | None
    """Of its source; None where the rules of a version were taken."""

    tree_hash: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """The workspace's files, checked."""

    host: str | None
    """Whose build, GPUs and models were asked; None for nobody's."""

    errors: int
    rewrites: int
    warnings: int
    hints: int
    build: CheckedBuild
    problems: tuple[FileProblem, ...]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What one drafter accuracy would bring."""

    accuracy: float
    """Share of drafts that are right, 0-1."""

    accept_length: float
    """Tokens per verify step, bonus token included."""

    predicted_speedup: float | None
    """None without a baseline."""


@dataclass(frozen=True, slots=True)
class BreakEvenAnswer:
    """Whether speculation pays, from numbers that were typed."""

    base_ms: float | None
    """Per token without speculation; None when it was not given."""

    step_ms: float
    """Of one whole speculative step."""

    break_even_accept_length: float | None
    """Tokens a step has to bring to pay for itself; None without a baseline."""

    accept_length: float | None
    """Tokens per verify step, bonus token included; None when none was given."""

    accept_length_source: str | None
    """`typed`, or the accuracy it follows from; None when there is none."""

    predicted_tps: float | None
    """Tokens per second of one request; None without an accept length."""

    predicted_speedup: float | None
    """None without a baseline or an accept length."""

    worth_it: bool | None
    """The predicted gain exceeds what the prediction leaves out; None when it cannot be said."""

    needed_accuracy: float | None
    """At which the given number of steps breaks even; None without steps or a baseline, and when
    even a drafter that is never wrong would not break even."""

    unknown: str | None
    """What was not given, so that `worth_it` cannot be said; None when nothing lacks."""

    notes: tuple[str, ...]
    suspects: tuple[str, ...]
    """Numbers that cannot be true together."""

    curve: tuple[CurvePoint, ...]
    """Empty without --curve."""


@dataclass(frozen=True, slots=True)
class HostRow:
    """One prerequisite of one host."""

    host: str
    name: str
    level: Level
    words: str
    next_step: str
    """What to do, or the exact command for whoever has the rights; empty on PASS."""


@dataclass(frozen=True, slots=True)
class Examined:
    """Hosts, examined."""

    rows: tuple[HostRow, ...]
    level: Level
    """The worst of all rows."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """One value of a recipe."""

    key: str
    """Dotted, as in the profile's file."""

    value: Any
    """As TOML has it; a secret as `secret:NAME`."""

    origin: str | None
    """`FILE:LINE`; None for a default."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a profile comes to; no secret is in it."""

    profile: str
    host: str | None
    """None when no host was named."""

    description: str
    values: tuple[ShownValue, ...]
    secrets: Mapping[str, str]
    """Destination, `env:NAME` or `argument:NAME`, to where its value comes from, in words."""

    environment: Mapping[str, str]
    argv: tuple[str, ...]
    command: str
    """For a POSIX shell; a secret that the profile spells out is masked."""


@dataclass(frozen=True, slots=True)
class Statuses:
    """The latest of everything known about hosts, by name."""

    hosts: Mapping[str, HostState]


@dataclass(frozen=True, slots=True)
class PracticeHost:
    """A host of the lab."""

    host: str
    port: int
    """Of its ssh server, on this machine's loopback."""

    scenario: str
    faults: tuple[str, ...]
    """What is wrong with it now, as `lab fault` takes it."""


@dataclass(frozen=True, slots=True)
class LabHosts:
    """The lab that is up."""

    hosts: tuple[PracticeHost, ...]
    pid: int
    """Of the process that serves it."""


@dataclass(frozen=True, slots=True)
class Corpora:
    """The n-gram corpora of a server."""

    corpora: Mapping[str, int | None]
    """Name to tokens; None when the server does not say how many."""


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """One profile's part in a comparison."""

    profile: str
    algorithm: str | None
    """None without speculation."""

    failure: str | None
    """Why there is no result; None when there is one."""

    hint: str | None
    load_s: float | None
    """From the launch until ready; None when it did not become ready."""

    max_total_tokens: int | None
    """Of the KV pool, as the server resolved it; None when the server does not say."""

    max_running_requests: int | None
    """As the server resolved it; None when the server does not say."""

    result: ProbeResult | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm against the baseline."""

    profile: str
    unknown: str | None
    """Why nothing can be compared; None when something can."""

    speedup: float | None
    """Time of the baseline over time of this arm, for the same tokens."""

    speedup_method: str | None
    prompts: int
    """That both arms answered."""

    identical_outputs: int | None
    length_ratio: float | None
    """Decoded tokens of this arm over the baseline's."""

    base_s: float | None
    """Decode time per token of the baseline."""

    step_s: float | None
    """Decode time per verify step."""

    accept_length: float | None
    """Tokens per verify step, bonus token included."""

    break_even_accept_length: float | None
    decode_speedup: float | None
    """Accept length over break-even: the same without first-token times."""

    first_token_share: float | None
    """Of the baseline's time: what no draft makes shorter."""

    energy_ratio: float | None
    """Joules per output token, this arm's over the baseline's."""

    outputs: Sameness | None
    """Greedy answers of both arms, prompt by prompt."""

    predicted_speedup: float | None
    """None: what one comparison measured predicts nothing of itself."""

    prediction_source: str | None
    residual: float | None
    """Measured over predicted speedup, minus 1."""

    suspects: tuple[str, ...]
    """Numbers that cannot be true together, and which to suspect."""

    notes: tuple[str, ...]
    missing: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """Every arm, and every other arm against the first."""

    host: str
    workload: str
    trained_on: TrainedOn | None
    """What every arm was sent before each window; None: it was measured cold."""

    concurrency: int
    baseline: str
    """The profile of the first arm."""

    arms: tuple[MeasuredArm, ...]
    standings: tuple[Standing, ...]
    differences: tuple[Unasked, ...]
    restored: tuple[str, ...]
    """What ran before and what became of it, in words."""

    interrupted: bool
    verdict: str | None
    """None where the evidence does not carry one; `why_no_verdict` says why."""

    why_no_verdict: str


@dataclass(frozen=True, slots=True)
class VoidOrNot:
    """Printed with a probe's result."""

    is_void: bool
    """The result must not be used; `void` says why."""


@dataclass(frozen=True, slots=True)
class ReachedTimes:
    """Printed in place of an outcome's pairs."""

    reached: Mapping[Milestone, float]
    """Milestones of the start that were reached, and the seconds after the launch."""
