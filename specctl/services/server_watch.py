"""What is kept of one server between two looks, and the evidence it adds up to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.server import ServerState
from specctl.domain.server_state import judge
from specctl.facts.capabilities import server_info_paths
from specctl.facts.diagnosis import first_cause
from specctl.facts.server_info import parse_server_info

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.sglang import SglangClient
    from specctl.domain.sample import ServerSample
    from specctl.domain.server import Evidence, Server
    from specctl.facts.diagnosis import Cause
    from specctl.facts.server_info import ServerInfo
    from specctl.services.polling import ServerPoller
    from specctl.services.server_log import ServerLog

QUIET = frozenset({ServerState.READY, ServerState.BUSY, ServerState.DRAINING})
"""States in which a log is not searched for what went wrong."""


@dataclass(slots=True)
class ServerWatch:
    """One server being watched."""

    server: Server
    clock: Clock
    client: SglangClient | None = None
    poller: ServerPoller | None = None
    log: ServerLog | None = None
    sample: ServerSample | None = None
    info: ServerInfo | None = None
    """What the server said of itself; None until it answered."""

    cause: Cause | None = None
    _searched: int = field(default=-1)

    def judged(self, server: Server, ready_timeout_s: float | None) -> Server:
        """`server` as seen in this look, with everything else that is known of it."""
        self.server = self._with_info(server)
        judged = judge(self.server, self._evidence(), ready_timeout_s=ready_timeout_s)
        if judged.state not in QUIET and self._search(judged):
            judged = judge(self.server, self._evidence(), ready_timeout_s=ready_timeout_s)
        self.server = judged
        return judged

    def _with_info(self, server: Server) -> Server:
        if self.info is None:
            return server
        return replace(
            server,
            version=self.info.version or server.version,
            model=server.model or self.info.model,
            algorithm=server.algorithm or self.info.algorithm,
        )

    def _evidence(self) -> Evidence:
        evidence = self.server.evidence
        if self.log is not None:
            evidence = replace(
                evidence,
                milestone=self.log.tracker.milestone or evidence.milestone,
                log_age_s=self.log.age_s,
                first_cause=self.cause.words if self.cause else self._unread(self.log, evidence),
            )
        if self.poller is not None:
            evidence = replace(evidence, http=self.poller.http)
        if self.sample is not None:
            evidence = replace(
                evidence,
                running_requests=self.sample.running_requests,
                counters_moved=self.sample.has_moved,
                sample_age_s=self.clock.now() - self.sample.time_s,
            )
        return evidence

    @staticmethod
    def _unread(log: ServerLog, evidence: Evidence) -> str | None:
        """Said of a server that has ended as long as nobody can know its first cause."""
        if log.caught_up.is_set() or evidence.exit_status is None:
            return None
        return f"it ended with status {evidence.exit_status}; its log is not read yet"

    def _search(self, server: Server) -> bool:
        """Look for the first cause in the log, once per growth; True when it changed."""
        if self.log is None or not self.log.caught_up.is_set():
            return False
        if self.log.lines_fed == self._searched:
            return False
        self._searched = self.log.lines_fed
        before = self.cause
        self.cause = first_cause(
            list(self.log.lines), exit_status=server.evidence.exit_status, version=server.version
        )
        return self.cause != before

    async def read_info(self) -> None:
        """Ask once what the server is; what it does not answer stays unknown."""
        if self.client is None or self.info is not None:
            return
        for path in server_info_paths(self.server.version):
            try:
                answer = await self.client.get(path, timeout_s=10)
                if answer.is_ok:
                    self.info = parse_server_info(answer.text)
                    if self.poller is not None:
                        self.poller.learn(self.info.version)
                    return
            except SpecctlError:  # the poller says why it does not answer; this is asked again
                continue
