"""The wheel by itself: installed outside the checkout, it runs and brings its examples along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds only what the wheel installs of specctl itself."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", str(ROOT)]
    subprocess.run([*pip, *build, "--wheel-dir", str(folder)], check=True, cwd=folder)
    (wheel,) = folder.glob("specctl-*.whl")
    target = folder / "site"
    install = ["install", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run([*pip, *install], check=True, cwd=folder)
    return target


def specctl(installed: Path, inside: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from specctl.__main__ import main; "
    argv = [sys.executable, "-P", "-c", code + "sys.exit(main())", str(installed), *arguments]
    environment = {"HOME": str(inside), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(argv, cwd=inside, env=environment, capture_output=True, text=True)


def test_it_runs_from_the_wheel(installed: Path, tmp_path: Path):
    done = specctl(installed, tmp_path, "--version")
    assert done.stdout.startswith("specctl ")
    where = specctl(installed, tmp_path, "schema")
    assert where.returncode == 0, where.stderr


def test_init_brings_the_examples_along(installed: Path, tmp_path: Path):
    done = specctl(installed, tmp_path, "init", "ws")
    assert done.returncode == 0, done.stderr
    names = {path.stem for path in (tmp_path / "ws" / "profiles").glob("*.toml")}
    assert "kimi-k2.5-ngram" in names
    checked = specctl(installed, tmp_path, "-C", "ws", "check")
    assert checked.returncode in {0, 1}, checked.stderr


def test_the_agent_and_the_workloads_are_in_it(installed: Path):
    assert (installed / "specctl" / "agent" / "bootstrap.py").is_file()
    assert (installed / "specctl" / "agent" / "oneshot" / "launcher.py").is_file()
    assert list((installed / "specctl").rglob("*.jsonl"))
    assert (installed / "specctl" / "tui" / "specctl.tcss").is_file()
