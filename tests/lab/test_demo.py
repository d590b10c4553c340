"""The first experience: `specctl lab demo`, printed and on the screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specctl.cli.story import chapters
from tests.lab.test_up_and_down import mentioning
from tests.tui.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a user who has nothing yet."""
    (tmp_path / "home").mkdir()
    paths = os.pathsep.join(p for p in sys.path if p)
    return {
        "HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color", "PYTHONPATH": paths,
    }  # fmt: skip


def assert_nothing_is_left(folder: Path) -> None:
    assert not (folder / ".demo").exists()
    assert [path for path in (folder / "home").rglob("*") if not path.is_dir()] == []
    assert mentioning(folder / ".demo/state") == []


def test_the_printed_story_is_told_to_its_end_and_leaves_nothing(
    tmp_path: Path, environment: dict[str, str]
):
    done = subprocess.run(
        [sys.executable, "-m", "specctl", "lab", "demo"], cwd=tmp_path, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=880, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    commands = re.findall(r"^\$ specctl (\S+)", done.stdout, re.MULTILINE)
    assert commands == ["lab", *(chapter.command[0] for chapter in chapters(Path()))]
    parts = re.split(r"^\$ specctl .*\n", done.stdout, flags=re.MULTILINE)[2:]
    assert ["SIMULATED: lab-1 is a practice host" in part for part in parts] == [True] * len(parts)
    told = done.stdout
    assert "srt/speculative/ngram_worker.py" in told
    assert "252 of 32,000 positions" in told
    assert "specctl: error: GPU memory ran out" in told
    assert re.search(r"^Gone: 10 of 10 processes", told, re.MULTILINE)
    reason = r"^lab-(\S+): a step costs ([\d.]+) .*brings ([\d.]+) tokens, so it (does not )?pay"
    reasons = re.findall(reason, told, re.MULTILINE)
    assert [name for name, *_ in reasons] == ["eagle3-foreign", "ngram", "eagle3-trained"]
    assert [bool(no) for *_, no in reasons] == [True, True, False]
    assert float(reasons[0][2]) == pytest.approx(1.5, abs=0.1)
    foreseen = re.findall(r"^predicted speedup +([\d.]+)x\n[^\n]*\n\n(.*)\.", told, re.MULTILINE)
    assert [word for _, word in foreseen] == ["Not worth it", "Worth it"]
    verdict = r"^lab-\S+ against lab-baseline: ([\d.]+)x (slower|faster) on"
    words = re.findall(verdict, told, re.MULTILINE)
    assert [word for _, word in words] == ["slower", "slower", "faster"]
    assert float(words[2][0]) == pytest.approx(float(foreseen[1][0]), rel=0.15)
    assert "lab-eagle3-foreign slower; lab-ngram slower; lab-eagle3-trained faster" in told
    assert_nothing_is_left(tmp_path)


@pytest.fixture
def terminal(tmp_path: Path, environment: dict[str, str]) -> Iterator[Terminal]:
    words = ["lab", "demo", str(tmp_path / ".demo")]
    made = Terminal(tmp_path, environment)
    made.begin(words)
    yield made
    made.close()


def test_in_a_terminal_it_opens_the_screen_with_a_line_that_says_what_to_press(
    tmp_path: Path, terminal: Terminal
):
    guide = re.compile(r"^ 1 of \d+ +enter +opens the practice host", re.MULTILINE)
    terminal.wait_for(lambda text: guide.search(text) is not None, "the guide")
    terminal.wait_for(lambda text: "1 of 1 reachable" in text, "the practice host")
    terminal.send("Enter")
    terminal.wait_for(lambda text: " S  reads the installed SGLang" in text, "the next key")
    terminal.send("S")
    terminal.wait_for(lambda text: "NGRAM stands in the list" in text, "the build")
    terminal.send("Escape")
    terminal.wait_for(lambda text: " s  starts a profile" in text, "the key after that")
    terminal.send("F2")
    terminal.wait_for(lambda text: "starts a profile: first" not in text, "no guide")
    terminal.send("C-q")
    assert terminal.exit_status() == 0
    assert_nothing_is_left(tmp_path)
