"""Rules that no single module shows: the import contracts can break, and proportions hold."""

from __future__ import annotations

import ast
import shutil
import statistics
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "specctl"
MOST_LINES, MOST_FUNCTION_LINES = 400, 60

VIOLATIONS = {
    "layers": ("domain/broken.py", "import specctl.services.fleet\n"),
    "pure": ("facts/broken.py", "import subprocess\n"),
    "textual": ("services/broken.py", "def paint():\n    import textual\n"),
    "wire": ("cli/broken.py", "import httpx\n"),
    "click": ("tui/broken.py", "import click\n"),
    "agent": ("agent/broken.py", "import specctl.domain.errors\n"),
    "panels": ("tui/panels/broken.py", "import specctl.tui.panels.host\n"),
    "lab": ("lab/broken.py", "import specctl.facts.log\n"),
    "practice": ("services/broken.py", "def practise():\n    import specctl.lab.up\n"),
    "lab-ssh": ("lab/broken.py", "import asyncssh\n"),
}
"""Contract to a file that breaks it."""


def contracts() -> list[dict[str, str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: list[dict[str, str]] = settings["tool"]["importlinter"]["contracts"]
    return found


def lint_imports(folder: Path, contract: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    argv = [str(program), "--no-cache", "--contract", contract, str(ROOT / "pyproject.toml")]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True)


def test_every_contract_has_a_violation_to_be_seen_with():
    assert {contract["id"] for contract in contracts()} == set(VIOLATIONS)


@pytest.mark.parametrize("contract", sorted(VIOLATIONS))
def test_a_contract_is_kept_and_can_break(contract: str, tmp_path: Path):
    copy = tmp_path / "specctl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    kept = lint_imports(tmp_path, contract)
    assert kept.returncode == 0, kept.stdout
    name, text = VIOLATIONS[contract]
    (copy / name).write_text("from __future__ import annotations\n\n" + text)
    broken = lint_imports(tmp_path, contract)
    assert broken.returncode == 1, broken.stdout
    assert "BROKEN" in broken.stdout


@cache
def sources() -> dict[Path, str]:
    return {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def functions() -> list[tuple[int, str]]:
    found = []
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found.append((lines, f"{path.relative_to(ROOT)}:{node.name}"))
    return found


def test_no_file_and_no_function_wants_to_be_two():
    long_files = [str(p) for p, text in sources().items() if text.count("\n") > MOST_LINES]
    assert long_files == []
    assert [where for lines, where in functions() if lines > MOST_FUNCTION_LINES] == []


def test_most_files_and_functions_are_short():
    sizes = [text.count("\n") for path, text in sources().items() if path.name != "__init__.py"]
    assert statistics.median(sizes) <= 130
    assert statistics.median(lines for lines, _ in functions()) < 10


def test_names_say_what_things_are():
    forbidden = {"utils", "helpers", "manager", "base", "common", "misc"}
    assert [str(path) for path in sources() if path.stem in forbidden] == []
