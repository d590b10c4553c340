"""Which files of an installed tree changed since a server started."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from specctl.agent.protocol import OpError
from specctl.agent.tree_changes import tree_changes
from specctl.facts.drift import SKIPPED, SOURCES

NEVER = threading.Event()


@pytest.fixture
def venv(tmp_path):
    """An environment of an hour ago, with a small SGLang."""
    home = tmp_path / "venv"
    package = home / "lib/python3.11/site-packages/sglang"
    (package / "srt/__pycache__").mkdir(parents=True)
    (home / "bin").mkdir()
    (home / "bin/python").symlink_to(sys.executable)
    (home / "pyvenv.cfg").write_text("version = 3.11.7\n")
    for name in ("__init__.py", "srt/server_args.py", "srt/notes.txt", "srt/__pycache__/a.py"):
        (package / name).write_text("")
    metadata = package.parent / "sglang-0.5.23.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: sglang\nVersion: 0.5.23\n\n")
    return home


def ask(home: Path, age_s: float, folder: Path | None = None):
    return tree_changes(
        {
            "python": str(home / "bin/python"),
            "folder": None if folder is None else str(folder),
            "age_s": age_s,
            "files": SOURCES,
            "skipped": list(SKIPPED),
        },
        NEVER,
    )


def test_files_written_after_the_start_are_counted_caches_and_texts_not(venv):
    assert ask(venv, 0.0)["changed"] == 0
    found = ask(venv, 3600.0)
    assert found["path"] == str(venv / "lib/python3.11/site-packages/sglang")
    assert (found["version"], found["files"], found["changed"]) == ("0.5.23", 2, 2)
    assert found["examples"] == ["__init__.py", "srt/server_args.py"]


def test_a_tool_that_keeps_modification_times_is_seen_by_the_change_time(venv):
    file = venv / "lib/python3.11/site-packages/sglang/srt/server_args.py"
    long_ago = time.time() - 86_400
    os.utime(file, (long_ago, long_ago))
    assert "srt/server_args.py" in ask(venv, 3600.0)["examples"]
    os.link(file, venv / "link.py")
    assert ask(venv, 3600.0)["examples"] == ["__init__.py"], "a link made elsewhere is no change"


def test_the_working_directory_comes_before_what_is_installed(venv, tmp_path):
    checkout = tmp_path / "clone/python"
    (checkout / "sglang/srt").mkdir(parents=True)
    (checkout / "sglang/_version.py").write_text("__version__ = version = '0.5.24.dev3'\n")
    found = ask(venv, 0.0, folder=checkout)
    assert found["path"] == str(checkout / "sglang")
    assert found["version"] == "0.5.24.dev3"
    assert ask(venv, 0.0, folder=tmp_path)["version"] == "0.5.23"


def test_an_interpreter_without_it_and_one_that_is_gone(tmp_path):
    for path in (tmp_path, Path("/nowhere")):
        with pytest.raises(OpError, match="has no SGLang"):
            ask(path, 0.0)
