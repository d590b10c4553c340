"""Standard streams in every state: nothing said of Python, and nothing left half done."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest


@pytest.fixture
def shell(home, workspace):
    """Runs a line of sh, in which `$S` is specctl; its status, stdout and stderr."""

    def run(line: str) -> tuple[int, str, str]:
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "S": f"{shlex.quote(sys.executable)} -m specctl",
        }
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line.replace("$S", environment["S"])],
            cwd=workspace, env=environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        assert "Exception ignored" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


FULL = "specctl: error: standard output cannot be written to: No space left on device\n"


@pytest.mark.parametrize(
    ("line", "status", "err"),
    [
        ("$S schema profile >&-", 0, ""),
        ("$S --help >&-", 0, ""),
        ("$S schema profile <&- >&- 2>&-", 0, ""),
        ("$S <&-", 2, "specctl: error: the screen needs a terminal"),
        ("$S nonsense 2>&-", 2, ""),
        ("$S nonsense 2> /dev/full", 2, ""),
        ("$S check 2> /dev/full", 0, ""),
        ("$S schema profile | head -1", 0, ""),
        ("$S nonsense 2>&1 | true", 2, ""),
        ("$S schema profile > /dev/full", 1, FULL),
        ("$S --help > /dev/full", 1, FULL),
        ("$S --version > /dev/full", 1, FULL),
    ],
)
def test_no_stream_makes_it_stumble(shell, line, status, err):
    found, _, said = shell(line)
    assert (found, said[: len(err)]) == (status, err), said
    assert err or not said


def test_a_reader_that_leaves_ends_a_stream_of_events(shell, workspace):
    host = f'transport = "local"\npython = "{sys.executable}"\n'
    (workspace / "remotes" / "here.toml").write_text(host)
    status, out, err = shell("$S watch here --json --interval 0.2 | head -3")
    assert (status, len(out.splitlines()), err) == (0, 3, "")


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("mkdir g && cd g && rmdir ../g && $S check", 2, "the current directory exists no more"),
        ("mkdir g && cd g && rmdir ../g && $S -C .. check", 2, "the current directory"),
        ("$S init /dev/null/x", 1, "/dev/null/x/remotes: Not a directory"),
        ("$S import mine /dev/zero", 2, "too much for a launch script"),
        ("$S probe here --workload /dev/zero", 2, "/dev/zero is no plain file"),
        ("$S start here p --gpus 0-99999999999", 2, "no GPU index"),
        ("$S start here p --gpus 5-1", 2, "no GPU index"),
        ("$S start here p --gpus ²", 2, "no GPU index"),
        ("$S start here p --gpus 1-", 2, "no GPU index"),
        ("$S watch here --for nan", 2, "nan is no time"),
        ("$S watch here --for=-5", 2, "-5.0 is not in the range"),
        ("$S watch here --interval nan", 2, "nan is no time"),
        ("$S probe here --timeout nan", 2, "nan is no time"),
        ("$S probe here --timeout 0", 2, "0.0 is not in the range"),
        ("$S replay x --speed nan", 2, "nan is no number"),
        ("$S lab up --load-factor nan", 2, "nan is no number"),
        ("$S server here thresholds --single nan", 2, "nan is no number"),
        ("$S forecast /dev/null --profile p --base-ms nan", 2, "nan is no number"),
        ("$S forecast /dev/zero --profile p", 2, "/dev/zero is no plain file"),
        ("$S breakeven --base-ms inf --step-ms 2", 2, "--base-ms must be a number, not inf"),
    ],
)
def test_absurd_wishes_are_answered_in_a_sentence(shell, line, status, words):
    found, out, err = shell(line)
    assert (found, out) == (status, "")
    assert words in err.splitlines()[0]


@pytest.mark.parametrize("line", ["$S init w", "$S lab up"])
def test_a_file_that_cannot_be_written_is_not_said_to_be_standard_output(shell, workspace, line):
    # no bytecode: Python would keep what was cut off at the limit
    status, out, err = shell(f"export PYTHONDONTWRITEBYTECODE=1; ulimit -f 1 && {line}")
    sentence, advice = err.splitlines()
    assert (status, out) == (1, "")
    assert sentence.endswith(": File too large")
    assert "/" in sentence
    assert "standard output" not in sentence
    assert advice.startswith("hint: Raise the limit")
    assert not list(workspace.glob("w/*/*")), "nothing half done is left"
