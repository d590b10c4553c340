"""What a server is doing, derived from all the evidence at each look; nothing is remembered.

No single piece decides: a server is ready when at least two agree, and a dead process is never
ready whatever its log or its port say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.server import Evidence, Milestone, ServerState

if TYPE_CHECKING:
    from specctl.domain.server import Server

STALL_AFTER_S = 60.0
"""Requests run, nothing is counted and the log is silent for so long: it hangs."""

STALE_AFTER_S = 20.0
"""Older samples say nothing about now."""

SILENT_START_S = 600.0
"""A start that logs nothing for so long hangs: PyTorch's own collectives give up then."""

WITHOUT_RECORD = (
    "specctl launched it, but its launch record is damaged, gone or another user's: "
    "adopt takes it under care"
)

Judgement = tuple[ServerState, str]


def derive_state(
    evidence: Evidence, *, is_ours: bool, ready_timeout_s: float | None = None
) -> Judgement:
    """The state, and the evidence for it in words."""
    if evidence.process_alive is False or evidence.exit_status is not None:
        return _ended(evidence)
    if evidence.process_alive is None:
        return _unseen(evidence)
    return (
        _interrupted(evidence)
        or _starting(evidence, ready_timeout_s)
        or _serving(evidence)
        or _hardly_known(evidence, is_ours=is_ours)
    )


def judge(server: Server, evidence: Evidence, *, ready_timeout_s: float | None = None) -> Server:
    """`server` with `evidence`, its state derived anew."""
    state, why = derive_state(evidence, is_ours=server.is_ours, ready_timeout_s=ready_timeout_s)
    if not server.is_ours and server.identity is not None and server.identity.marker:
        why = f"{why}; {WITHOUT_RECORD}"
    return replace(server, evidence=evidence, state=state, why=why, milestone=evidence.milestone)


def _ended(evidence: Evidence) -> Judgement:
    status = "" if evidence.exit_status is None else f" with status {evidence.exit_status}"
    if evidence.survivors:
        left = f"{evidence.survivors} of its processes live on"
        state = ServerState.UNKNOWN if evidence.exit_status is None else ServerState.CRASHED
        return state, f"its main process has ended{status}, {left}"
    if evidence.stop_asked or evidence.ended_with:
        asked = "after a stop was asked for"
        when = asked if evidence.stop_asked else f"when {evidence.ended_with}"
        return ServerState.ABSENT, f"it ended{status} {when}"
    if evidence.first_cause:
        return ServerState.CRASHED, evidence.first_cause
    if evidence.exit_status is not None:
        asked = " although nobody stopped it" if evidence.exit_status == 0 else ""
        return ServerState.CRASHED, f"it exited{status}{asked}; its log gives no cause"
    if evidence.milestone is not None:
        return ServerState.CRASHED, f"its process is gone; the log ends at {evidence.milestone}"
    return ServerState.ABSENT, "no process"


def _unseen(evidence: Evidence) -> Judgement:
    pieces = _agreeing(evidence)
    if _answers(evidence) and len(pieces) > 1:
        return ServerState.READY, f"{_listed(pieces)} agree; its process cannot be seen"
    if evidence.http == "503" and evidence.port_open:
        return ServerState.UNKNOWN, "it answers 503; its process cannot be seen"
    seen = f"only {_listed(pieces)} speaks for it" if pieces else "nothing speaks for it"
    return ServerState.UNKNOWN, f"its process cannot be seen, {seen}"


def _interrupted(evidence: Evidence) -> Judgement | None:
    """What holds whatever the server says of itself."""
    if evidence.frozen:
        return ServerState.STALLED, f"{evidence.frozen} of its processes are stopped (state T)"
    if evidence.stop_asked:
        return ServerState.DRAINING, f"a stop was asked for, {_running(evidence)}"
    if evidence.port_open is False and _answers(evidence):
        return ServerState.UNKNOWN, "another process answers on its port"
    if evidence.first_cause and not _answers(evidence):
        return ServerState.CRASHED, f"{evidence.first_cause}; its process still lives"
    return None


def _starting(evidence: Evidence, ready_timeout_s: float | None) -> Judgement | None:
    if not _is_starting(evidence):
        return None
    at = evidence.milestone or "start"
    age_s, silence_s = evidence.age_s, evidence.log_age_s
    if age_s is not None and ready_timeout_s is not None and age_s > ready_timeout_s:
        words = f"not ready after {age_s:.0f} s (limit {ready_timeout_s:.0f} s), at {at}"
        return ServerState.STALLED, words
    if silence_s is not None and silence_s > SILENT_START_S:
        return ServerState.STALLED, f"no log output for {silence_s:.0f} s at {at}"
    if silence_s is not None and silence_s > STALL_AFTER_S:
        return ServerState.STARTING, f"at {at}, no log output for {silence_s:.0f} s"
    return ServerState.STARTING, f"process and log agree: at {at}"


def _is_starting(evidence: Evidence) -> bool:
    if evidence.milestone is Milestone.READY:
        return False
    if evidence.milestone is not None:
        return True
    is_quiet = evidence.running_requests is None and evidence.counters_moved is None
    return evidence.http in ("refused", "503") and is_quiet


def _serving(evidence: Evidence) -> Judgement | None:
    match evidence.http:
        case "200" | "401":
            return _answering(evidence)
        case "503" | "timed out":
            return _not_answering(evidence, evidence.http)
        case "refused":
            return ServerState.UNKNOWN, "its log says ready, its port refuses connections"
        case _:
            return _by_log(evidence)


def _answering(evidence: Evidence) -> Judgement:
    stale = _stale(evidence)
    if stale is not None:
        return stale
    if evidence.http == "401":
        return ServerState.READY, f"{_listed(_agreeing(evidence))} agree: up, needs an API key"
    if evidence.running_requests and evidence.counters_moved is False:
        return _busy_or_stalled(evidence, f"{_running(evidence)}, no token since the last look")
    return ServerState.READY, f"{_listed(_agreeing(evidence))} agree"


def _not_answering(evidence: Evidence, http: str) -> Judgement:
    said = "its health check answers 503" if http == "503" else "its health check does not answer"
    if evidence.counters_moved:
        return ServerState.BUSY, f"{said}, but tokens are being counted"
    return _busy_or_stalled(evidence, f"{said}, {_running(evidence)}")


def _busy_or_stalled(evidence: Evidence, words: str) -> Judgement:
    """A long prefill and a hang look alike at first; the log tells them apart in time."""
    silence_s = evidence.log_age_s
    if silence_s is not None and silence_s <= STALL_AFTER_S:
        return ServerState.BUSY, f"{words}; its log moved {silence_s:.0f} s ago"
    if silence_s is None and evidence.counters_moved is None:
        return _stale(evidence) or (ServerState.UNKNOWN, f"{words}; nothing else is known")
    silent = "" if silence_s is None else f"; its log is silent for {silence_s:.0f} s"
    return ServerState.STALLED, f"{words}{silent}"


def _stale(evidence: Evidence) -> Judgement | None:
    if evidence.sample_age_s is None or evidence.sample_age_s <= STALE_AFTER_S:
        return None
    return ServerState.STALE, f"last heard of {evidence.sample_age_s:.0f} s ago"


def _by_log(evidence: Evidence) -> Judgement | None:
    if evidence.milestone is not Milestone.READY:
        return _stale(evidence)
    return _stale(evidence) or (
        ServerState.READY,
        f"{_listed(_agreeing(evidence))} agree; HTTP was not asked",
    )


def _hardly_known(evidence: Evidence, *, is_ours: bool) -> Judgement:
    if not is_ours:
        return ServerState.FOREIGN, "not under specctl's care; only its process is known"
    if evidence.port_open:
        return ServerState.UNKNOWN, "its process lives and its port is open; no log, no HTTP"
    return ServerState.UNKNOWN, "only its process is known"


def _answers(evidence: Evidence) -> bool:
    return evidence.http in ("200", "401")


def _agreeing(evidence: Evidence) -> tuple[str, ...]:
    """The pieces that say it is up."""
    pieces = (
        ("process", evidence.process_alive is True),
        ("port", evidence.port_open is True),
        ("log", evidence.milestone is Milestone.READY),
        ("HTTP", _answers(evidence)),
        ("counters", evidence.counters_moved is True),
    )
    return tuple(name for name, speaks in pieces if speaks)


def _running(evidence: Evidence) -> str:
    if evidence.running_requests is None:
        return "running requests not known"
    plural = "" if evidence.running_requests == 1 else "s"
    return f"{evidence.running_requests} request{plural} running"


def _listed(pieces: tuple[str, ...]) -> str:
    return " and ".join([", ".join(pieces[:-1]), pieces[-1]] if len(pieces) > 1 else pieces)
