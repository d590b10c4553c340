"""One server as a measurement needs it: who it is, what it counts, and how its cache is emptied."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.adapters.sglang import SglangClient
from specctl.domain.errors import DeadlineError, RefusedError, ServerAnswerError, UsageError
from specctl.domain.server import ServerState
from specctl.domain.validity import Traffic
from specctl.domain.versions import is_at_least
from specctl.facts.capabilities import server_info_paths, ways
from specctl.facts.loads import parse_loads
from specctl.facts.metrics import parse_metrics
from specctl.facts.metrics_sample import RUNNING_IS_LIVE_SINCE
from specctl.facts.server_info import ServerInfo, read_server_info

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from specctl.domain.server import Server
    from specctl.services.connection import Connection

METRICS = "/metrics"
NOT_READY = frozenset(
    {ServerState.ABSENT, ServerState.STARTING, ServerState.DRAINING, ServerState.CRASHED}
)


@dataclass(frozen=True, slots=True)
class Keys:
    """What a server asks for; never shown."""

    api: str | None = field(default=None, repr=False)
    admin: str | None = field(default=None, repr=False)

    def headers(self) -> dict[str, str]:
        """The headers of an ordinary request."""
        return {"Authorization": f"Bearer {self.api}"} if self.api else {}


NO_KEYS = Keys()


@dataclass(frozen=True, slots=True)
class Reading:
    """A server's description, and what in it tells this run of it from any other."""

    info: ServerInfo
    identity: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Flushed:
    """Whether the cache was emptied; `words` go into the result."""

    done: bool
    words: str


class MeasuredServer:
    """HTTP to one server of a host that may be measured."""

    def __init__(self, connection: Connection, server: Server, keys: Keys) -> None:
        if server.port is None:
            raise UsageError(
                f"{connection.host.name}/{server.name}: its port is not known",
                hint="specctl status shows what is known of it.",
            )
        self.connection, self.server, self.keys = connection, server, keys
        self.address = reachable_address(server.bind_address)
        self.url = f"http://{_bracketed(self.address)}:{server.port}"
        self._client = SglangClient(
            connection.session.transport(),
            server.port,
            address=self.address,
            key=keys.api,
            admin_key=keys.admin,
        )

    async def __aenter__(self) -> Self:
        """Itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the client."""
        await self._client.aclose()

    async def read(self) -> Reading:
        """Its description; raises ServerAnswerError when no path gives one."""
        last: ServerAnswerError | None = None
        for path in server_info_paths(self.server.version):
            try:
                payload = (await self._client.get(path, timeout_s=15)).json()
                return Reading(read_server_info(payload), _identity(payload))
            except ServerAnswerError as error:
                last = error
        raise last or ServerAnswerError(f"{self.url} has no description of itself")

    async def traffic(self, version: str | None) -> Traffic:
        """Its counters from /metrics; what runs now, where that is not live, from the load report.

        Older releases go on reporting the running requests of their last batch when idle.
        """
        try:
            metrics = parse_metrics((await self._ok(METRICS)).text)
        except (ServerAnswerError, DeadlineError):
            return await self._running(version)
        running = _whole(metrics.total("num_running_reqs"))
        if running and is_at_least(version, RUNNING_IS_LIVE_SINCE) is not True:
            running = (await self._running(version)).running
        return Traffic(
            requests=_whole(metrics.total("num_requests_total")),
            generated_tokens=_whole(metrics.total("generation_tokens_total")),
            running=running,
            source=METRICS,
        )

    async def flush(self) -> Flushed:
        """Empty prefix cache and n-gram trie, where that is ours to do."""
        if not self.server.is_ours:
            return Flushed(done=False, words="not flushed: specctl did not start this server")
        try:
            answer = await self._client.post("/flush_cache", admin=True)
        except (ServerAnswerError, DeadlineError) as error:
            return Flushed(done=False, words=f"not flushed: {error.message}")
        if not answer.is_ok:
            words = " ".join(answer.text.split())[:120]
            return Flushed(done=False, words=f"not flushed: HTTP {answer.status} {words}".rstrip())
        return Flushed(done=True, words="flushed")

    async def _ok(self, path: str) -> Any:
        answer = await self._client.get(path)
        answer.require_ok()
        return answer

    async def _running(self, version: str | None) -> Traffic:
        for way in ways("loads", version):
            try:
                loads = parse_loads((await self._ok(way.path)).text)
            except (ServerAnswerError, DeadlineError):
                continue
            running = [rank.running for rank in loads.ranks if rank.running is not None]
            return Traffic(running=sum(running) if running else None, source=way.path)
        return Traffic()


def refuse_unmeasurable(connection: Connection, server: Server) -> None:
    """Raise for a server that must not or cannot be measured."""
    name = f"{connection.host.name}/{server.name}"
    if server.node_rank:
        raise RefusedError(
            f"{name} is rank {server.node_rank} of a server over several hosts",
            hint="Probe its rank 0, which answers requests.",
        )
    if server.state in NOT_READY:
        raise RefusedError(
            f"{name} is not ready: {server.state}", hint="specctl watch shows when it is."
        )


def reachable_address(bind_address: str | None) -> str:
    """Where a server on this host that listens at `bind_address` is reached from the host."""
    if bind_address in (None, "", "0.0.0.0", "*"):  # noqa: S104 - read, not bound
        return "127.0.0.1"
    return "::1" if bind_address == "::" else str(bind_address)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _identity(payload: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Start-up durations differ from launch to launch, arguments from recipe to recipe."""
    names = ("version", "launch_command", "startup_time")
    found = [(name, json.dumps(payload[name], sort_keys=True)) for name in names if name in payload]
    return (*found, ("arguments", _digest(payload)))


def _digest(payload: dict[str, Any]) -> str:
    arguments = read_server_info(payload).arguments
    text = json.dumps(dict(arguments), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)
