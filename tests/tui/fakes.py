"""Services that record what was asked and answer from the story."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.events import HostDescribed
from specctl.services.outcome import Outcome
from specctl.tui.application import SpecctlApp, Start
from specctl.tui.reading import Git, ProfileEntry, Profiles
from specctl.tui.services import ProbePlan, ServerDetails
from specctl.tui.settings import Settings
from tests.tui import library, parts, plans, recipes
from tests.tui.log_fakes import FakeLogs
from tests.tui.newcomer_fakes import FakeNewcomers
from tests.tui.trial_fakes import FakeTrials

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from specctl.adapters.trust import OfferedKey
    from specctl.domain.drift import ServerDrift
    from specctl.domain.events import Event
    from specctl.domain.plan import Plan
    from specctl.domain.probe import ProbeResult
    from specctl.domain.server import Server
    from specctl.domain.source import Tree
    from specctl.domain.state import Store
    from specctl.domain.topology import Topology
    from specctl.tui.reading import Hits, ProfileSheet
    from specctl.tui.services import ProfileChoice


class FakeServices(FakeTrials, FakeLogs, FakeNewcomers):
    """What the screens ask of the services, answered at once; `calls` says what was asked."""

    def __init__(self, store: Store, hosts: Sequence[str]) -> None:
        super().__init__()
        FakeLogs.__init__(self)
        FakeNewcomers.__init__(self)
        self.store = store
        self._hosts = tuple(hosts)
        self.calls: list[tuple[object, ...]] = []
        self.plan: Plan = plans.start_plan()
        self.refuse: SpecctlError | None = None
        """Raised by whatever is asked next."""

        self.apply_gate = asyncio.Event()
        self.apply_gate.set()
        self.outcome = Outcome(
            "9b02aa17", "pro6k-01", succeeded=True, words="Ready in 5:32 on port 30000."
        )
        self.result: ProbeResult | None = None
        self.requests = 0
        self.trained_on: str | None = None
        """Of the last probe."""

        self.probe_gate = asyncio.Event()
        self.probe_gate.set()
        self.trees: dict[str, Tree] = {}
        """By host; every other host has the one of the library."""

        self.read_gate = asyncio.Event()
        self.read_gate.set()
        self.sheets: dict[str, ProfileSheet] = {}
        self.listed = recipes.PROFILES
        self.edited = Path()
        self.keys: list[OfferedKey] = []
        """What the next hosts that are asked for their key show."""

    def _asked(self, *call: object) -> None:
        self.calls.append(call)
        if self.refuse is not None:
            raise self.refuse

    interval_s = 1.0

    def hosts(self) -> Sequence[str]:
        return self._hosts

    def profiles(self, host: str | None) -> Sequence[ProfileChoice]:
        del host
        return plans.PROFILES

    def details(self, host: str, server: Server) -> ServerDetails:
        return parts.details(host, server)

    def set_read_only(self, host: str, *, read_only: bool) -> None:
        self._asked("set_read_only", host, read_only)
        labels = self.store.state.host(host).labels
        self.store.apply(HostDescribed(host, parts.NOW_S, labels=labels, read_only=read_only))

    async def monitor(self) -> None:
        await asyncio.Event().wait()

    async def read_again(self, host: str) -> None:
        self._asked("read_again", host)

    async def plan_start(self, host: str, profile: str, *, replace: bool) -> Plan:
        self._asked("plan_start", host, profile, replace)
        return self.plan

    async def plan_stop(self, host: str, server: str, *, now: bool) -> Plan:
        self._asked("plan_stop", host, server, now)
        return self.plan

    async def plan_adopt(self, host: str, server: str) -> Plan:
        self._asked("plan_adopt", host, server)
        return self.plan

    async def apply(self, plan: Plan, *, typed: str) -> Outcome:
        self._asked("apply", plan.id, typed)
        await self.apply_gate.wait()
        return self.outcome

    def plan_probe(
        self,
        host: str,
        server: str,
        *,
        requests: int | None = None,
        trained_on: str | None = None,
    ) -> ProbePlan:
        self._asked("plan_probe", host, server, *filter(None, (requests, trained_on)))
        if trained_on == "chat":
            raise UsageError("a training prompt is also measured: hello", hint="Take another set.")
        return ProbePlan(
            host,
            server,
            "chat-mixed, 32 prompts",
            requests or 32,
            1,
            95.0,
            ("1 request of others is running: it would make the window void.",),
            most=32,
            expected_words="at most, from a probe of 2h ago",
            trained_on=trained_on,
            trainings=("chat", "code", "work/past.jsonl"),
            training_words=f"trained on {trained_on}, 12 prompts, before" if trained_on else "",
        )

    async def read_source(self, host: str, *, afresh: bool = False) -> Tree:
        self._asked("read_source", host, afresh)
        await self.read_gate.wait()
        return self.trees.get(host, library.tree())

    async def read_source_file(self, host: str, file: str) -> str:
        self._asked("read_source_file", host, file)
        await self.read_gate.wait()
        if file not in library.TEXTS:
            raise SpecctlError(f"{file} is gone from {host}.", hint="r reads the tree again.")
        return library.TEXTS[file]

    async def find_in_source(self, host: str, pattern: str) -> Hits:
        self._asked("find_in_source", host, pattern)
        await self.read_gate.wait()
        return library.hits(pattern)

    async def list_profiles(self) -> Profiles:
        self._asked("list_profiles")
        return self.listed

    async def read_profile(self, name: str, host: str | None) -> ProfileSheet:
        self._asked("read_profile", name, host)
        return self.sheets.get(name) or recipes.sheet(name, host)

    def profile_path(self, name: str) -> Path:
        self._asked("profile_path", name)
        return self.edited

    async def rewrite_profile(self, name: str, before: str, after: str) -> str:
        self._asked("rewrite_profile", name, before, after)
        return f"profiles/{name}.toml"

    async def new_profile(self, name: str, source: str) -> str:
        self._asked("new_profile", name, source)
        entry = ProfileEntry(name, f"profiles/{name}.toml", git=Git.NEW)
        self.listed = Profiles((*self.listed.entries, entry), self.listed.commit)
        return entry.file

    async def read_drift(self, host: str, server: str) -> ServerDrift:
        self._asked("read_drift", host, server)
        return recipes.DRIFT

    async def read_topology(self, host: str) -> Topology:
        self._asked("read_topology", host)
        return library.TOPOLOGY

    async def offered_key(self, host: str) -> OfferedKey:
        self._asked("offered_key", host)
        return self.keys.pop(0)

    async def trust(self, offered: OfferedKey) -> str:
        self._asked("trust", offered.fingerprint)
        return f"Written to {offered.file}: {offered.spelled}"

    async def flush(self, host: str, server: str) -> str:
        self._asked("flush", host, server)
        return f"{host}/{server}: caches are empty"

    async def abort(self, host: str, server: str) -> str:
        self._asked("abort", host, server)
        return f"{host}/{server}: 3 requests ended"

    @asynccontextmanager
    async def forward(self, host: str, server: str) -> AsyncIterator[tuple[int, int]]:
        self._asked("forward", host, server)
        try:
            yield 40123, 30000
        finally:
            self.calls.append(("forward closed", host, server))

    async def probe(self, plan: ProbePlan) -> ProbeResult:
        self._asked("probe", plan.host, plan.server)
        self.requests, self.trained_on = plan.requests, plan.trained_on
        await self.probe_gate.wait()
        assert self.result is not None
        return self.result


class DemoApp(SpecctlApp):
    """The app on the story, its clock standing still."""

    def __init__(
        self,
        events: Sequence[Event],
        *,
        theme: str = "dark",
        read_only: bool = False,
        is_ascii: bool = False,
    ) -> None:
        hosts = tuple(dict.fromkeys(event.host for event in events))
        self.now_s = parts.NOW_S
        self.fake: FakeServices | None = None

        async def load(store: Store) -> FakeServices:
            for event in events:
                store.apply(event)
            self.fake = FakeServices(store, hosts)
            return self.fake

        super().__init__(
            Start(hosts, load),
            clock=lambda: self.now_s,
            settings=Settings(theme, is_ascii, read_only),
            offset_s=parts.OFFSET_S,
        )
