"""Examples of a start: its plan, its outcome, and the records of it on a host."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from specctl.agent.oneshot import proc, recorder, records, statedir
from specctl.cli.plan_text import outcome_json, plan_json
from specctl.domain.launch_record import LoadTimes
from specctl.domain.plan import MASK, Plan, SecretUse, Step, passed, warned
from specctl.domain.profile import Profile
from specctl.domain.proof import Proof, Survivor
from specctl.domain.server import Milestone
from specctl.facts.diagnosis import Cause
from specctl.services.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
from tests.unit.cli.server_examples import ARGV, BOOT_ID, MAIN, NOW_S, REACHED, SERVER


def plan_example() -> Any:
    return plan_json(
        Plan(
            id="5c0ffee1",
            host="gpu8",
            kind="replace",
            profile="kimi-k2.5-eagle3",
            steps=(Step("stop 77aa", "stop 77aa", "drain, at most 60 s", is_destructive=True),),
            checks=(passed("disk", "812 GiB free"), warned("model", "not in the cache", "hf get")),
            argv=(*ARGV, "--config", "KEYS"),
            environment={"HF_TOKEN": MASK},
            secrets=(SecretUse("hf", "env:HF_TOKEN", "environment on stdin"),),
            ports=(30000, 30233),
            gpus=SERVER.gpus,
            stops=(SERVER,),
            target=SERVER,
            expected_s=332.0,
            expected_from="3 earlier loads here",
            needs_typed="gpu8",
            why_typed="3 requests of others run.",
            default_is_safe=False,
            recipe=Profile("kimi-k2.5-eagle3", model="moonshotai/Kimi-K2.5"),
            profile_hash="9d1c",
            times=LoadTimes(332.0, dict(REACHED), 3),
            state_dir="/home/serve/.local/state/specctl",
            identity=MAIN,
        )
    )


def outcome_example() -> Any:
    survivor = Survivor(4290, "serve", "pid 4290 sglang::scheduler_TP0 (serve)")
    line = "torch.OutOfMemoryError: CUDA out of memory."
    return outcome_json(
        Outcome(
            plan_id="5c0ffee1",
            host="gpu8",
            succeeded=False,
            words="The server ended with status 1.",
            hint="Lower mem-fraction-static.",
            server="5c0f",
            proofs=(Proof(gone=False, words="Not gone.", survivors=(survivor,), elapsed_s=30.0),),
            cause=Cause(
                "Out of GPU memory", line, 812, "TP0", Milestone.WEIGHTS, "Less.", "memory"
            ),
            exit_status=1,
            log_path=SERVER.log_path,
            log_excerpt=(line,),
            reached=REACHED[:1],
            elapsed_s=283.9,
        )
    )


@contextlib.contextmanager
def _host_of_records() -> Iterator[str]:
    """A state directory, on a host whose clock stands still and whose one process is known."""
    stat = proc.Stat(4211, "4211 (python) S 1 4211 4211 " + "0 " * 15 + "88123 ")
    clock = SimpleNamespace(time=lambda: NOW_S)
    with (
        tempfile.TemporaryDirectory() as state_dir,
        patch.object(proc, "read_stat", lambda _pid: stat),
        patch.object(proc, "boot_id", lambda: BOOT_ID),
        patch.object(records, "time", clock),
        patch.object(recorder, "time", clock),
        patch("os.getuid", lambda: 1000),
    ):
        yield state_dir


def record_example(part: str) -> str:
    """The bytes of one file of a launch, written by what writes it on a host."""
    with _host_of_records() as state_dir:
        directory = Path(state_dir, "launches", "5c0ffee1")
        directory.mkdir(parents=True)
        asked = {"action": "write", "state_dir": state_dir, "launch_id": "5c0ffee1", "part": part}
        match part:
            case "launch":
                value = recorder._record_of(
                    {"launch_id": "5c0ffee1", "record": _launch()}, 4211, str(SERVER.log_path)
                )
                statedir.write_json(str(directory / "launch.json"), value)
            case "exit":
                recorder._write_exit(str(directory), "5c0ffee1", 4211, 9)
            case "ready":
                records.main({**asked, "value": {"reached": dict(REACHED), "ready_after_s": 332.0}})
            case "stop":
                records.main({**asked, "value": {"asked_by": "aw@laptop"}})
        return (directory / f"{part}.json").read_text()


def _launch() -> dict[str, Any]:
    return {
        "profile": "kimi-k2.5-eagle3",
        "profile_hash": "9d1c",
        "argv": list(ARGV),
        "model": "moonshotai/Kimi-K2.5",
        "port": 30000,
        "ports": [30000, 30233],
        "gpus": list(SERVER.gpus or ()),
        "launched_by": "aw@laptop",
        "version": "0.5.23",
    }
