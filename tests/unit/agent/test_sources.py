from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

import specctl.agent
from specctl.agent.bootstrap import BOOT

ROOT = Path(specctl.agent.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
OPTIONAL = {"pynvml", "psutil", "httpx"}
OLD_PYTHONS = [
    *Path.home().glob(".pyenv/versions/3.8.*/bin/python3"),
    *[Path(found) for found in [shutil.which("python3.8")] if found and "shims" not in found],
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_parses_as_python_3_8(file):
    ast.parse(file.read_text(), feature_version=(3, 8))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_imports_only_itself_and_the_standard_library(file):
    tree = ast.parse(file.read_text())
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [(node.module or "").partition(".")[0]]
        else:
            continue
        assert "specctl" not in names
        for name in OPTIONAL.intersection(names):
            assert id(node) not in top, f"{name} has to be imported where it is needed"


def test_boot_survives_every_login_shell_in_single_quotes():
    assert not set("'\\$`!\n").intersection(BOOT)
    assert len(BOOT) < 1000


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "fish", "csh", "tcsh", "dash"])
def test_c04_boot_reaches_python_unchanged_through(shell):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [path, "-c", f"printf %s '{BOOT}'"], capture_output=True, text=True, check=True
    )
    assert done.stdout == BOOT


@pytest.mark.parametrize("python", OLD_PYTHONS[:1], ids=["python3.8"][: len(OLD_PYTHONS)])
def test_runs_on_python_3_8(python):
    from tests.unit.agent.running import RunningAgent

    with RunningAgent(str(python)) as agent:
        assert agent.hello["python"].startswith("3.8.")
        stream = agent.send("sample", interval_s=0.1)
        assert agent.item(stream)["host"]["memory_total_bytes"] > 0
        found = agent.call("processes", pids=[agent.process.pid])["processes"]
        assert agent.process.pid not in {process["pid"] for process in found}
        assert agent.call("interpreters")["found"]
        assert agent.call("doctor")["user"]["uid"] == agent.hello["uid"]
