"""Every fault of the stand-in does what it says, and nothing without it."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.faults import FAULTS
from tests.contract.questions import ARGUMENTS, NGRAM
from tests.contract.test_access import ask
from tests.contract.test_life import cmdline, is_alive, wait_until_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.standin import StandIn

    Launch = Callable[..., StandIn]

EAGLE = (
    "--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3",
    "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4",
)  # fmt: skip


def set_fault(launch: Launch, name: str, **parameters: Any) -> None:
    launch.host.set_fault(name, parameters)  # type: ignore[attr-defined]


def test_every_fault_of_the_server_is_tested_here() -> None:
    wanted = {name for name, fault in FAULTS.items() if fault.actor == "server"}
    text = Path(__file__).read_text()
    assert [name for name in wanted if f'"{name}"' not in text] == []


def test_slow_weights(launch: Launch) -> None:
    set_fault(launch, "slow-weights", seconds=30.0)
    server = launch().wait_for("Multi-thread loading shards:   1%")
    time.sleep(0.6)
    assert "Load weight end" not in server.log()
    launch.host.clear_fault("slow-weights")  # type: ignore[attr-defined]
    server.wait_until_ready()


@pytest.mark.parametrize(("how", "status"), [("oom", -9), ("exit-0", 0), ("exit-137", -9)])
def test_crash_at_capture(launch: Launch, how: str, status: int) -> None:
    set_fault(launch, "crash-at-capture", how=how)
    server = launch()
    assert server.wait_until_ended() == status
    log = server.log()
    assert "Capture decode CUDA graph begin" in log
    assert ("torch.OutOfMemoryError: CUDA out of memory." in log) is (how != "exit-137")
    assert ("usually means the child failed" in log) is (how != "exit-137")
    assert "fired up" not in log


def test_hang_at_warm_up(launch: Launch) -> None:
    set_fault(launch, "hang-at-warmup")
    server = launch().wait_for("Uvicorn running on")
    time.sleep(0.6)
    assert server.ask("GET", "/ready").status == 503
    launch.host.clear_fault("hang-at-warmup")  # type: ignore[attr-defined]
    server.wait_until_ready()


def test_port_clash(launch: Launch) -> None:
    set_fault(launch, "port-clash")
    server = launch().wait_for("address already in use")
    time.sleep(0.3)
    assert server.pid_status() is None
    with pytest.raises(ConnectionRefusedError):
        server.ask("GET", "/ready")


def test_ignores_sigterm(launch: Launch) -> None:
    server = launch().wait_until_ready()
    set_fault(launch, "ignores-sigterm")
    os.kill(server.pid, signal.SIGTERM)
    time.sleep(0.5)
    assert server.ask("GET", "/ready").status == 200
    assert "SIGTERM" not in server.log()


def test_drains_for_ever(launch: Launch) -> None:
    server = launch().wait_until_ready()
    set_fault(launch, "drains-for-ever")
    os.kill(server.pid, signal.SIGTERM)
    server.wait_for("Remaining number of requests 1")
    assert server.ask("GET", "/ready").status == 503
    launch.host.clear_fault("drains-for-ever")  # type: ignore[attr-defined]
    assert server.wait_until_ended() == 0


def test_orphan_scheduler(launch: Launch) -> None:
    set_fault(launch, "orphan-scheduler")
    server = launch("--tp-size", "2").wait_until_ready()
    scheduler, *others = server.children()
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait_until_ended() == 0
    wait_until_gone(others)
    time.sleep(0.3)
    assert is_alive(scheduler)
    activity: Path = launch.host.activity_folder / str(scheduler)  # type: ignore[attr-defined]
    assert "memory_bytes=" in activity.read_text()
    os.kill(scheduler, signal.SIGKILL)


def test_renamed_process(launch: Launch) -> None:
    set_fault(launch, "renamed-process")
    server = launch("--tp-size", "2").wait_until_ready()
    titles = [cmdline(pid) for pid in (server.pid, *server.children())]
    assert not [title for title in titles if "sglang" in title.lower()]


def test_stale_metrics(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    before = server.ask("GET", "/metrics").body
    set_fault(launch, "stale-metrics")
    first = server.ask("GET", "/metrics").body
    ask(server, tokens=16)
    assert server.ask("GET", "/metrics").body == first != before
    launch.host.clear_fault("stale-metrics")  # type: ignore[attr-defined]
    assert server.ask("GET", "/metrics").body != first


def test_unauthorized(launch: Launch) -> None:
    server = launch().wait_until_ready()
    set_fault(launch, "unauthorized")
    assert server.ask("GET", "/v1/models").status == 401


def test_keys_in_server_info(launch: Launch) -> None:
    server = launch().wait_until_ready()
    assert server.ask("GET", "/server_info").json["api_key"] is None
    set_fault(launch, "keys-in-server-info")
    info = server.ask("GET", "/server_info").json
    assert info["api_key"].startswith("sk-")
    assert info["api_key"] in info["launch_command"]


def test_accept_length_one(launch: Launch) -> None:
    set_fault(launch, "accept-length-one")
    server = launch(*EAGLE, "--speculative-draft-model-path", str(draft(launch)))
    meta = ask(server.wait_until_ready(), tokens=64)["meta_info"]
    assert meta["spec_num_correct_drafts"] == 0
    assert meta["spec_num_proposed_drafts"] > 0
    assert meta["spec_verify_ct"] == 63


def test_without_it_drafts_are_accepted(launch: Launch) -> None:
    server = launch(*EAGLE, "--speculative-draft-model-path", str(draft(launch)))
    assert ask(server.wait_until_ready(), tokens=64)["meta_info"]["spec_num_correct_drafts"] > 5


def draft(launch: Launch) -> Path:
    found: Path = launch.host.home / "models/draft"  # type: ignore[attr-defined]
    return found


def test_garbage_output(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *NGRAM).wait_until_ready()
    set_fault(launch, "garbage-output")
    text = ask(server, tokens=120)["text"]
    assert text.count("and so on, ") > 20


def test_hostile_log(launch: Launch) -> None:
    set_fault(launch, "hostile-log")
    server = launch(*ARGUMENTS, "--decode-log-interval", "5").wait_until_ready()
    ask(server, tokens=20)
    data = server.log_path.read_bytes()
    assert b"\r" in data
    assert b"\033[31" in data
    assert re.search(rb"x{1000000}", data)
    with pytest.raises(UnicodeDecodeError):
        data.decode()


def test_log_rotated(launch: Launch) -> None:
    server = launch(*ARGUMENTS, "--decode-log-interval", "5").wait_until_ready()
    set_fault(launch, "log-rotated")
    old = server.log_path.with_name(f"{server.log_path.name}.1")
    until = time.monotonic() + 5
    while not old.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    ask(server, tokens=40)
    assert "fired up" in old.read_text()
    assert "Decode batch" in server.log()
    assert "fired up" not in server.log()
