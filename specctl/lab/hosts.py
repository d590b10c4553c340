"""Laying out a lab host: its home, a Python with the stand-in SGLang, and its GPUs."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.lab.compiling import NVML_LIBRARY, SHIM_LIBRARY
from specctl.lab.laying import lay_tree
from specctl.lab.place import SCHEMA, LabHost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.folder import LabFolder
    from specctl.lab.scenarios import Scenario

FOLDERS = (
    "activity", "faults", "bin", "lib", "home",
    "tmp/tmp", "tmp/var/tmp", "tmp/dev/shm",
)  # fmt: skip
SMI = """\
#!/bin/sh
exec env -u LD_PRELOAD {python} -m specctl.lab.smi "$@"
"""


def lay_host(
    lab: LabFolder,
    number: int,
    scenario: Scenario,
    story: Mapping[str, Any],
    build: str,
    *,
    load_factor: float = 1.0,
) -> LabHost:
    """Make the directory of host `lab-NUMBER`; `story` is what scenario.json says of models."""
    host = LabHost(lab.root / "hosts" / f"lab-{number}")
    for folder in FOLDERS:
        (host.folder / folder).mkdir(parents=True)
    python = _lay_python(host, build)
    _lay_scenario(host, number, scenario, {**story, "load_factor": load_factor})
    for name in (NVML_LIBRARY, SHIM_LIBRARY):
        if (lab.root / "lib" / name).exists():
            _share(lab.root / "lib" / name, host.folder / "lib" / name)
    (host.home / "models").symlink_to(lab.models)
    smi = host.folder / "bin/nvidia-smi"
    smi.write_text(SMI.format(python=shlex.quote(str(python))))
    smi.chmod(0o755)
    return host


def _share(file: Path, name: Path) -> None:
    """One file under two names, or a copy where the file system has no such thing."""
    try:
        os.link(file, name)
    except OSError:
        shutil.copy2(file, name)


def python_of(host: LabHost) -> Path:
    """The interpreter that has the stand-in SGLang."""
    return host.home / "venv/bin/python"


def _lay_python(host: LabHost, build: str) -> Path:
    """A virtual environment without pip, and a plain python3 on the PATH."""
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    short = f"python{sys.version_info.major}.{sys.version_info.minor}"
    venv = host.home / "venv"
    packages = venv / "lib" / short / "site-packages"
    packages.mkdir(parents=True)
    (venv / "bin").mkdir()
    settings = {
        "home": program.parent,
        "include-system-site-packages": "false",
        "version": platform.python_version(),
    }
    text = "".join(f"{key} = {value}\n" for key, value in settings.items())
    (venv / "pyvenv.cfg").write_text(text)
    for folder, names in ((venv / "bin", ("python", "python3", short)),
                          (host.folder / "bin", ("python3",))):  # fmt: skip
        for name in names:
            (folder / name).symlink_to(program)
    lay_tree(packages, build)
    _lay_pynvml(packages)
    return venv / "bin/python"


def _lay_pynvml(packages: Path) -> None:
    """A host with SGLang has nvidia-ml-py; without it, the agent brings its own."""
    try:
        files = importlib.metadata.files("nvidia-ml-py") or ()
    except importlib.metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == "pynvml.py":
            (packages / "pynvml.py").symlink_to(Path(str(file.locate())))


def _lay_scenario(host: LabHost, number: int, scenario: Scenario, story: Mapping[str, Any]) -> None:
    content = {
        "schema": SCHEMA,
        "name": f"lab-{number}",
        "scenario": scenario.name,
        "words": scenario.words,
        "interconnect": scenario.interconnect,
        "gpus": scenario.gpus(number),
        "seed": number,
        **story,
    }
    (host.folder / "scenario.json").write_text(json.dumps(content, indent=2))
    (host.folder / "gpus.ini").write_text(scenario.ini(number))
