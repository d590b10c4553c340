from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from specctl.domain.server import Evidence, Identity, Milestone, Server, ServerState
from specctl.domain.server_state import (
    SILENT_START_S,
    STALE_AFTER_S,
    STALL_AFTER_S,
    derive_state,
    judge,
)

S, M = ServerState, Milestone
ALIVE: dict[str, Any] = {"process_alive": True}
DEAD: dict[str, Any] = {"process_alive": False}
UP: dict[str, Any] = {**ALIVE, "port_open": True, "milestone": M.READY}


@pytest.mark.parametrize(
    ("evidence", "state", "words"),
    [
        # ended
        ({**DEAD}, S.ABSENT, "no process"),
        ({**DEAD, "milestone": M.READY}, S.CRASHED, "ends at ready"),
        ({**DEAD, "exit_status": 0}, S.CRASHED, "although nobody stopped it"),
        ({**DEAD, "exit_status": 1, "milestone": M.WEIGHTS}, S.CRASHED, "status 1"),
        ({**DEAD, "exit_status": 1, "first_cause": "OOM"}, S.CRASHED, "OOM"),
        ({**DEAD, "exit_status": 0, "stop_asked": True}, S.ABSENT, "stop was asked"),
        ({**DEAD, "survivors": 2}, S.UNKNOWN, "2 of its processes live on"),
        ({**DEAD, "survivors": 1, "exit_status": 137}, S.CRASHED, "1 of its"),
        ({"exit_status": 137}, S.CRASHED, "137"),
        # not seen
        ({}, S.UNKNOWN, "nothing speaks for it"),
        ({"http": "200"}, S.UNKNOWN, "only HTTP"),
        ({"http": "200", "port_open": True}, S.READY, "port and HTTP agree"),
        ({"http": "503", "port_open": True}, S.UNKNOWN, "503"),
        # starting
        ({**ALIVE, "milestone": M.WEIGHTS}, S.STARTING, "at weights"),
        ({**ALIVE, "milestone": M.WARM_UP, "http": "503"}, S.STARTING, "at warm-up"),
        ({**ALIVE, "http": "refused"}, S.STARTING, "at start"),
        ({**ALIVE, "milestone": M.WARM_UP, "http": "200"}, S.STARTING, "at warm-up"),
        (
            {**ALIVE, "milestone": M.DISTRIBUTED, "log_age_s": 140.0},
            S.STARTING, "no log output for 140 s",
        ),
        (
            {**ALIVE, "milestone": M.DISTRIBUTED, "log_age_s": SILENT_START_S + 1},
            S.STALLED, "no log output for 601 s at distributed",
        ),
        ({**ALIVE, "milestone": M.WEIGHTS, "age_s": 901.0}, S.STALLED, "limit 900 s"),
        (
            {**ALIVE, "milestone": M.WARM_UP, "first_cause": "its port is taken"},
            S.CRASHED, "its process still lives",
        ),
        # serving
        ({**UP, "http": "200"}, S.READY, "process, port, log and HTTP agree"),
        ({**UP, "http": None}, S.READY, "HTTP was not asked"),
        ({**ALIVE, "http": "200"}, S.READY, "process and HTTP agree"),
        ({**UP, "http": "401"}, S.READY, "up, needs an API key"),
        ({**UP, "http": "refused"}, S.UNKNOWN, "its port refuses"),
        ({**UP, "http": "200", "port_open": False}, S.UNKNOWN, "another process answers"),
        ({**UP, "http": "200", "running_requests": 3, "counters_moved": True}, S.READY, "counters"),
        (
            {**UP, "http": "200", "running_requests": 1, "counters_moved": False, "log_age_s": 5.0},
            S.BUSY, "1 request running, no token",
        ),
        (
            {**UP, "http": "200", "running_requests": 3, "counters_moved": False,
             "log_age_s": 90.0},
            S.STALLED, "silent for 90 s",
        ),
        ({**UP, "http": "200", "sample_age_s": STALE_AFTER_S + 10}, S.STALE, "30 s ago"),
        # draining and trouble
        ({**UP, "stop_asked": True, "running_requests": 2}, S.DRAINING, "2 requests"),
        ({**UP, "http": "503", "counters_moved": True}, S.BUSY, "tokens are being counted"),
        ({**UP, "http": "503", "log_age_s": 3.0}, S.BUSY, "log moved 3 s ago"),
        ({**UP, "http": "503", "log_age_s": STALL_AFTER_S + 1}, S.STALLED, "silent for 61 s"),
        ({**UP, "http": "timed out", "log_age_s": 300.0}, S.STALLED, "does not answer"),
        ({**UP, "http": "timed out", "sample_age_s": 60.0}, S.STALE, "60 s ago"),
        ({**UP, "http": "timed out"}, S.UNKNOWN, "nothing else is known"),
        ({**UP, "frozen": 1}, S.STALLED, "state T"),
        # little known
        ({**ALIVE}, S.UNKNOWN, "only its process"),
        ({**ALIVE, "port_open": True}, S.UNKNOWN, "no log, no HTTP"),
    ],
)  # fmt: skip
def test_the_table(evidence: dict[str, Any], state: ServerState, words: str) -> None:
    found, why = derive_state(Evidence(**evidence), is_ours=True, ready_timeout_s=900.0)
    assert (found, words in why) == (state, True), why


def test_a12_without_a_key_it_is_neither_down_nor_just_healthy() -> None:
    state, why = derive_state(Evidence(process_alive=True, http="401"), is_ours=False)
    assert state is S.READY
    assert "needs an API key" in why


def test_a24_a_frozen_scheduler_is_stalled_though_metrics_answer() -> None:
    evidence = Evidence(
        process_alive=True,
        port_open=True,
        milestone=M.READY,
        http="503",
        counters_moved=False,
        running_requests=1,
        sample_age_s=0.5,
        log_age_s=61.0,
    )
    assert derive_state(evidence, is_ours=True)[0] is S.STALLED


def test_e02_starting_ends_when_the_process_does() -> None:
    starting = Evidence(process_alive=True, port_open=False, milestone=M.WEIGHTS)
    assert derive_state(starting, is_ours=True)[0] is S.STARTING
    ended = replace(starting, process_alive=False, exit_status=1)
    assert derive_state(ended, is_ours=True)[0] is S.CRASHED


def test_e03_an_old_ready_line_does_not_make_a_dead_server_ready() -> None:
    evidence = Evidence(process_alive=False, milestone=M.READY, http="200", port_open=True)
    state, _ = derive_state(evidence, is_ours=True)
    assert state is S.CRASHED


def test_a_foreign_server_of_which_only_the_process_is_known() -> None:
    assert derive_state(Evidence(process_alive=True), is_ours=False)[0] is S.FOREIGN


VALUES: dict[str, tuple[Any, ...]] = {
    "process_alive": (True, False, None),
    "port_open": (True, False, None),
    "milestone": (None, M.WEIGHTS, M.READY),
    "http": (None, "200", "503", "401", "refused", "timed out"),
    "exit_status": (None, 0, 1),
    "stop_asked": (True, False),
    "first_cause": (None, "x"),
    "counters_moved": (True, False, None),
    "running_requests": (None, 0, 2),
    "log_age_s": (None, 1.0, 100.0),
    "sample_age_s": (None, 100.0),
}


@cache
def every_evidence() -> list[Evidence]:
    """A hundred thousand: made by the worker that runs the tests, not by all that collect them."""
    return [
        Evidence(**dict(zip(VALUES, values, strict=True))) for values in product(*VALUES.values())
    ]


def pieces(evidence: Evidence) -> int:
    """How many independent pieces say that it is up."""
    return sum(
        (
            evidence.process_alive is True,
            evidence.port_open is True,
            evidence.milestone is M.READY,
            evidence.http in ("200", "401"),
            evidence.counters_moved is True,
        )
    )


def test_over_all_evidence_no_rule_is_broken() -> None:
    for evidence in every_evidence():
        state, why = derive_state(evidence, is_ours=True)
        assert why, evidence
        if state is S.READY:
            assert pieces(evidence) >= 2, evidence
            assert evidence.process_alive is not False, evidence
            assert evidence.exit_status is None, evidence
            assert evidence.milestone in (None, M.READY) or evidence.process_alive is None, evidence
        if evidence.process_alive is False:
            assert state in (S.ABSENT, S.CRASHED, S.UNKNOWN), evidence
        if state is S.DRAINING:
            assert evidence.stop_asked, evidence
        assert state is not S.FOREIGN, evidence


def test_every_state_is_reached() -> None:
    found = {derive_state(evidence, is_ours=True)[0] for evidence in every_evidence()}
    assert found == set(S) - {S.FOREIGN}


def test_judge_keeps_the_evidence_beside_the_state() -> None:
    server = Server("7c1e", S.UNKNOWN, Identity("b", 1, 2, 1, 1, ""), is_ours=True)
    evidence = Evidence(process_alive=True, milestone=M.WEIGHTS)
    judged = judge(server, evidence)
    assert (judged.state, judged.milestone, judged.evidence) == (S.STARTING, M.WEIGHTS, evidence)
