"""What specctl reads in the log of the stand-in, line by line, as it reads real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.domain.server import Milestone
from specctl.facts.diagnosis import first_cause
from specctl.facts.log import LogReader, read_decode, read_prefill
from specctl.facts.log_lines import LineKind
from specctl.facts.milestones import MilestoneTracker
from specctl.lab.dialects import VERSIONS
from tests.contract.test_access import ask
from tests.contract.test_faults import EAGLE, draft, set_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.facts.log_lines import LogLine
    from tests.contract.standin import StandIn

    Launch = Callable[..., StandIn]

PHASES = [
    Milestone.ARGUMENTS, Milestone.DISTRIBUTED, Milestone.WEIGHTS, Milestone.DRAFT_WEIGHTS,
    Milestone.MEMORY_POOL, Milestone.GRAPH_CAPTURE, Milestone.WARM_UP, Milestone.READY,
]  # fmt: skip
SPECULATION_KEYS = {
    "0.5.2": {"spec_verify_ct"},
    "0.5.10": {
        "spec_verify_ct", "spec_accept_rate", "spec_accept_length", "spec_accept_token_num",
        "spec_draft_token_num", "spec_accept_histogram",
    },
    "0.5.23": {
        "spec_verify_ct", "spec_accept_rate", "spec_accept_length", "spec_num_correct_drafts",
        "spec_num_proposed_drafts", "spec_correct_drafts_histogram",
    },
}  # fmt: skip


def read(server: StandIn) -> tuple[list[LogLine], LogReader]:
    reader = LogReader()
    return reader.feed(server.log_path.read_bytes()) + reader.finish(), reader


def start(launch: Launch, version: str, *arguments: str) -> StandIn:
    chain = (*EAGLE, "--speculative-draft-model-path", str(draft(launch)))
    return launch("--tp-size", "2", *chain, *arguments, version=version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_start_on_gpus_with_a_drafter(launch: Launch, version: str) -> None:
    server = start(launch, version, "--decode-log-interval", "5").wait_until_ready()
    meta = ask(server, tokens=64)["meta_info"]
    lines, reader = read(server)
    tracker = MilestoneTracker()
    for line in lines:
        tracker.feed(line)
    assert [one.milestone for one in tracker.reached] == PHASES
    assert tracker.graph == "draft"
    assert (reader.decode_lines > 0, reader.not_understood) == (True, 0)
    check_reports(lines, version)
    assert {key for key in meta if key.startswith("spec_")} == SPECULATION_KEYS[version]


def check_reports(lines: list[LogLine], version: str) -> None:
    decodes = [read_decode(line.text) for line in lines if line.kind is LineKind.DECODE]
    prefills = [read_prefill(line.text) for line in lines if line.kind is LineKind.PREFILL]
    for decode in decodes:
        assert decode is not None
        assert decode.accept_length is not None
        assert 1 <= decode.accept_length <= 4
        assert (decode.accept_rate is None) is (version == "0.5.2")
        assert (decode.running, decode.uses_graph) == (1, True)
    assert all(p is not None and p.new_requests == 1 for p in prefills)
    assert {line.rank for line in lines if line.kind is LineKind.DECODE} == {"TP0"}


@pytest.mark.parametrize("version", VERSIONS)
def test_running_out_of_memory_is_the_first_cause(launch: Launch, version: str) -> None:
    set_fault(launch, "crash-at-capture", how="oom")
    server = start(launch, version)
    status = server.wait_until_ended()
    lines, _ = read(server)
    cause = first_cause(lines, exit_status=status, version=version)
    assert cause is not None
    assert cause.kind == "out of memory: target graph"
    assert "CUDA out of memory" in cause.line
    assert cause.rank == "TP0"
