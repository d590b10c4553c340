"""What the screens ask of the services: protocols, and the values that cross."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from specctl.tui.logs import LogServices
from specctl.tui.newcomers import EnrollingServices
from specctl.tui.reading import ReadingServices
from specctl.tui.screenings import ScreeningServices
from specctl.tui.trials import TrialServices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from specctl.adapters.trust import OfferedKey
    from specctl.domain.drift import ServerDrift
    from specctl.domain.plan import Plan
    from specctl.domain.probe import ProbeResult
    from specctl.domain.server import Server
    from specctl.services.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Reference:
    """What a server's numbers are held against."""

    tokens_per_s: float | None = None
    """The baseline's, measured with the same workload and concurrency."""

    even: float | None = None
    """The accept length at which speculation costs nothing."""

    source: str = ""
    """Where it comes from, e.g. `probe of kimi-k2.5-baseline, 2 h ago`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One server argument: as the profile says it, and as it runs."""

    name: str
    wanted: str | None
    running: str | None
    who: str = ""
    """Who changed it, e.g. `by engine`."""


@dataclass(frozen=True, slots=True)
class ServerDetails:
    """What is known of a server beyond its samples."""

    reference: Reference = field(default_factory=Reference)
    arguments: tuple[Argument, ...] = ()
    started_at_s: float | None = None
    revision: str = ""
    """Hash of the profile's text at launch, short."""

    accepted_by_position: tuple[float, ...] = ()
    """Share of verify steps that accepted at least the n-th draft."""

    drift: ServerDrift | None = None
    """How it differs from its profile, as far as that is known without asking."""


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """A profile that could be started on a host."""

    name: str
    algorithm: str | None
    model: str
    problems: int = 0
    warnings: int = 0
    note: str = ""
    """What is known of it here, e.g. `58.6 tok/s on pro6k-02`."""

    baseline: str | None = None
    """The profile it is compared with, where it names one."""


COLD = "none"
"""What is shown, and typed, for no training set."""

SIZES = (2, 4, 8, 16)
"""Numbers of requests that can be chosen instead of all that a workload has."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What a probe would send."""

    host: str
    server: str
    workload: str
    requests: int
    concurrency: int
    expected_s: float | None = None
    notes: tuple[str, ...] = ()
    """What the user should know first, e.g. that others use the server."""

    most: int = 0
    """Requests that the workload has; 0 where no other number can be chosen."""

    expected_words: str = ""
    """Where `expected_s` comes from, or why nobody knows how long it takes."""

    trained_on: str | None = None
    """A workload to send before each window; None: it is measured cold."""

    trainings: tuple[str, ...] = ()
    """What `trained_on` can be turned to: bundled workloads, then files of the workspace."""

    training_words: str = ""
    """How much of it is sent, and when."""

    off: tuple[str, str] = ("", "")
    """Why it cannot be sent, and what to do."""

    def resized(self, step: int) -> ProbePlan:
        """With the next smaller or larger number of requests, as far as there is one."""
        if not self.most:
            return self
        sizes = [*(size for size in SIZES if size < self.most), self.most]
        at = sizes.index(self.requests) + step
        requests = sizes[min(max(0, at), len(sizes) - 1)]
        whole_s = self.expected_s
        expected_s = None if whole_s is None else whole_s * requests / self.requests
        return replace(self, requests=requests, expected_s=expected_s)

    def turned(self, step: int) -> ProbePlan:
        """With the next or the previous training set, as far as there is one."""
        known = (None, *self.trainings)
        if self.trained_on not in known:  # it was typed
            return replace(self, trained_on=known[0 if step < 0 else -1])
        at = known.index(self.trained_on) + step
        return replace(self, trained_on=known[min(max(0, at), len(known) - 1)])

    def typed(self, text: str) -> ProbePlan:
        """With a training set as it was typed; `none` and nothing are none."""
        name = text.strip()
        return replace(self, trained_on=None if name in {"", COLD} else name)

    def completions(self, text: str) -> tuple[str, ...]:
        """Training sets that begin with what was typed, then those that hold it."""
        start = text.strip()
        found = [name for name in self.trainings if name.startswith(start)]
        found += [name for name in self.trainings if name not in found and start in name]
        return tuple(name for name in found if name != text)


class Services(
    ReadingServices, TrialServices, ScreeningServices, LogServices, EnrollingServices, Protocol
):
    """Everything the screens can ask for; expected failures are `SpecctlError`.

    What happens meanwhile arrives through the store as events.
    """

    @property
    def interval_s(self) -> float:
        """How often each host is sampled."""

    def hosts(self) -> Sequence[str]:
        """Names of the workspace's hosts, by name."""

    def profiles(self, host: str | None) -> Sequence[ProfileChoice]:
        """Profiles, those that fit `host` first."""

    def details(self, host: str, server: Server) -> ServerDetails:
        """What is known of a server, from what was read before; never waits."""

    def set_read_only(self, host: str, *, read_only: bool) -> None:
        """Lift or set the guard of one host for this session."""

    async def monitor(self) -> None:
        """Connect to every host; sample it and read its servers' logs, until cancelled."""

    async def read_again(self, host: str) -> None:
        """Read a host's facts again, reconnecting when the link is down."""

    async def plan_start(self, host: str, profile: str, *, replace: bool) -> Plan:
        """What starting `profile` would do."""

    async def plan_stop(self, host: str, server: str, *, now: bool) -> Plan:
        """What stopping a server would do."""

    async def plan_adopt(self, host: str, server: str) -> Plan:
        """What adopting a foreign server would record."""

    async def apply(self, plan: Plan, *, typed: str) -> Outcome:
        """Carry a plan out; `typed` is what the user typed to allow it."""

    def plan_probe(
        self,
        host: str,
        server: str,
        *,
        requests: int | None = None,
        trained_on: str | None = None,
    ) -> ProbePlan:
        """What a probe would send; never waits. `requests`: None for the whole workload."""

    async def probe(self, plan: ProbePlan) -> ProbeResult:
        """Measure a server."""

    async def offered_key(self, host: str) -> OfferedKey:
        """The key that a host, or the first hop to it that is not trusted, shows."""

    async def trust(self, offered: OfferedKey) -> str:
        """Write a key to known_hosts; returns where."""

    async def flush(self, host: str, server: str) -> str:
        """Empty a server's caches; returns what was done."""

    async def abort(self, host: str, server: str) -> str:
        """End a server's requests; returns what was done."""

    def forward(self, host: str, server: str) -> AbstractAsyncContextManager[tuple[int, int]]:
        """A local port that leads to a server's own, while the block runs."""
