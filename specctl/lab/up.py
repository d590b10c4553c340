"""Bringing the lab up, and taking it down so that nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import DeadlineError, RemoteFailedError, UsageError
from specctl.lab.compiling import BuildError, build_nvml, build_shim, has_compiler
from specctl.lab.dialects import VERSIONS
from specctl.lab.hosts import lay_host
from specctl.lab.operator_side import write_operator_side
from specctl.lab.processes import end_processes
from specctl.lab.scenarios import read_scenario
from specctl.lab.shells import check_shells
from specctl.lab.story import lay_models, story_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.folder import LabFolder, Record
    from specctl.lab.scenarios import Scenario

READY_S = 60.0
END_S = 5.0
LOOK_S = 0.01
HOSTS_MAX = 200
NEED_SHIM = ("full-disk", "read-only-home", "clock-skew", "no-python")
"""Faults that the preloaded library acts out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `lab up` is asked for."""

    hosts: int
    scenario: str
    build: str
    """The version of SGLang that the stand-in speaks like."""

    faults: Mapping[str, Mapping[str, Any]]
    load_factor: float = 1.0
    """How many times its usual few seconds a server takes to load."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What `lab down` found and did."""

    was_up: bool
    processes: int
    """On the lab's hosts, ended."""


def bring_up(lab: LabFolder, wanted: Wanted) -> tuple[Record, str]:
    """Lay the lab out and serve it in the background; its record, and what it lacks or nothing.

    Raises UsageError when it is up, or when this machine cannot have it.
    """
    _check(lab, wanted)
    take_down(lab)
    lab.make()
    try:
        scenario = read_scenario(wanted.scenario)
        story = story_of(scenario)
        with ThreadPoolExecutor() as pool:  # gcc works in processes of its own
            building = pool.submit(_build, lab)
            lay_models(lab.models, story)
            lacking = building.result()
        _lay_hosts(lab, wanted, scenario, story)
        return _serve(lab), lacking
    except BaseException as error:
        take_down(lab)
        if isinstance(error, OSError):
            error.filename = error.filename or str(lab.root)  # a full disk names no file
        raise


def _check(lab: LabFolder, wanted: Wanted) -> None:
    if not sys.platform.startswith("linux"):
        raise UsageError("the lab needs Linux", hint="Run it in a container or on a Linux host.")
    if not 1 <= wanted.hosts <= HOSTS_MAX:
        raise UsageError(f"the lab has 1 to {HOSTS_MAX} hosts, not {wanted.hosts}")
    if lab.is_up():
        raise UsageError("the lab is up already", hint="specctl lab down ends it")
    read_scenario(wanted.scenario)
    if wanted.build not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise UsageError(
            f"the lab does not speak like SGLang {wanted.build}", hint=f"it does: {known}"
        )
    check_faults(wanted.faults)


def check_faults(faults: Mapping[str, object]) -> None:
    """Raise UsageError when this machine cannot act one of them out."""
    check_shells(faults)
    needing = [name for name in faults if name in NEED_SHIM]
    if needing and not has_compiler():
        raise UsageError(f"fault {needing[0]} needs gcc, which is not installed here")


def _build(lab: LabFolder) -> str:
    """Build the libraries; without gcc, what the lab then lacks, in words."""
    if not has_compiler():
        return "no gcc here: GPUs are read through nvidia-smi, and hosts see each other's processes"
    try:
        with ThreadPoolExecutor() as pool:
            shim = pool.submit(build_shim, lab.root / "lib")
            build_nvml(lab.root / "lib")
            shim.result()
    except BuildError as error:
        raise RemoteFailedError(f"the lab's libraries cannot be built: {error}") from error
    return ""


def _lay_hosts(
    lab: LabFolder, wanted: Wanted, scenario: Scenario, story: Mapping[str, Any]
) -> None:
    for number in range(1, wanted.hosts + 1):
        host = lay_host(lab, number, scenario, story, wanted.build, load_factor=wanted.load_factor)
        for name, parameters in wanted.faults.items():
            host.set_fault(name, parameters)
    write_operator_side(lab, scenario)


def _serve(lab: LabFolder) -> Record:
    argv = [sys.executable, "-m", "specctl.lab.serving", str(lab.root)]
    with lab.log.open("wb") as log:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True
        )
    deadline = time.monotonic() + READY_S
    while (record := lab.record()) is None:
        if process.poll() is not None:
            said = lab.log.read_text(errors="replace").strip().splitlines()
            raise RemoteFailedError(f"the lab ended at once: {said[-1] if said else 'no words'}")
        if time.monotonic() > deadline:
            process.kill()
            raise DeadlineError(f"the lab did not answer within {READY_S:g} s")
        time.sleep(LOOK_S)
    return record


def take_down(lab: LabFolder) -> Ended:
    """End the lab's own process, everything on its hosts, and remove the folder.

    Of a lab that was killed, what is left is cleaned away. Nothing else is touched. Raises
    UsageError while another process brings it up.
    """
    maker = lab.maker()
    if maker is not None:
        raise UsageError(f"the lab is being brought up by pid {maker}", hint="Wait until it is up.")
    record = lab.record()
    was_up = record is not None and record.is_alive
    if was_up and record is not None:
        _end_serving(record)
    ended = end_processes(lab.root / "hosts") if lab.is_there else 0
    if lab.is_there:
        shutil.rmtree(lab.root)
    return Ended(was_up, ended)


def _end_serving(record: Record) -> None:
    """SIGTERM, and SIGKILL when that does not help; through a handle that stays this process's."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(record.pid)
        try:
            if record.is_alive:
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                _wait(record)
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _wait(record: Record) -> None:
    deadline = time.monotonic() + END_S
    while record.is_alive and time.monotonic() < deadline:
        time.sleep(LOOK_S)
