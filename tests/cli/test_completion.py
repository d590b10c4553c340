"""Tab completion in the shells themselves: bash, zsh and fish ask, specctl answers."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

import specctl
from specctl.adapters.completing import shape_file
from specctl.adapters.ledger import Ledger
from specctl.cli.completion_shape import whole_shape
from specctl.domain.completion import wanted
from specctl.domain.runs import Provenance, Run, RunKind

DEADLINE_S = 40.0
TOO_MUCH = ("asyncssh", "click", "pydantic", "textual", "httpx", "asyncio", "socket")


@pytest.fixture
def places(tmp_path, workspace, home):
    """A workspace, a ledger, a tree and an ssh configuration; and where they are, as variables."""
    for name in ("gpu8", "gpu9"):
        (workspace / f"remotes/{name}.toml").write_text(f'ssh = "{name}"\n')
    for name in ("kimi-base", "kimi-ngram", "$(touch pwned)", "-rf"):
        (workspace / f"profiles/{name}.toml").write_text('model = "org/model"\n')
    (home / ".ssh").mkdir()
    (home / ".ssh/config").write_text("Host bastion b?d *.wild\n  User x\nhost=other\n")
    variables = {
        "HOME": str(home), "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }  # fmt: skip
    ledger = Ledger(tmp_path / "state/specctl/ledger.db")
    ledger.add(
        Run("5c0ffee2", RunKind.TRIAL, "gpu8", ("a", "b\x1b]0;x"), 1.0, 2.0, "faster",
            Provenance("0.1.0", "op@laptop", "gpu8"))
    )  # fmt: skip
    ledger.add(
        Run("f0f0f0f0", RunKind.FORECAST, None, ("n",), 1.0, 2.0, "accept length 2.00 cold",
            Provenance("0.1.0", "op@laptop", None))
    )  # fmt: skip
    ledger.close()
    trees = tmp_path / "cache/specctl/trees"
    trees.mkdir(parents=True)
    tree = {"tree": {"algorithms": [{"name": "NGRAM"}, {"name": "E\n\x1b[0m"}, "odd"]}}
    (trees / "aa.tree").write_bytes(zlib.compress(json.dumps(tree).encode()))
    (trees / "bb.tree").write_bytes(b"\0\1 damaged")
    return variables


@pytest.fixture
def program(tmp_path):
    """A directory with `specctl` in it, as an installation has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "specctl"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m specctl "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.fixture
def shell(places, program, workspace):
    """Run a script in a shell, there."""

    def _run(*words, script=""):
        found = shutil.which(words[0])
        assert found, f"{words[0]} is missing: tests/system.sh installs it"
        environment = {
            **places, "PATH": f"{program}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "TERM": "xterm",
        }  # fmt: skip
        return subprocess.run(
            [found, *words[1:], script], cwd=workspace, env=environment, capture_output=True,
            text=True, check=False, timeout=DEADLINE_S,
        )  # fmt: skip

    return _run


LINES = [
    ("sta", ["start", "status"]),
    ("start g", ["gpu8", "gpu9"]),
    ("start gpu8 kimi-", ["kimi-base", "kimi-ngram"]),
    ("compare gpu8 kimi-base kimi-n", ["kimi-ngram"]),
    ("runs show 5c", ["5c0ffee2"]),
    ("runs recompute f0", ["f0f0f0f0"]),
    ("runs list --kind fo", ["forecast"]),
    ("inspect gpu8 ", ["NGRAM"]),
    ("lab up --scenario pc", ["pcie-8"]),
    ("lab fault cut-", ["cut-link"]),
    ("probe gpu8 --workload c", ["chat", "code"]),
    ("compare gpu8 kimi-base kimi-ngram --trained-on c", ["chat", "code"]),
    ("add b", ["bastion"]),
    ("nothing of this ", []),
]


def test_bash_completes_and_says_nothing_else(shell):
    cases = "\n".join(
        f"COMP_WORDS=(specctl {line}{chr(39) * 2 if line.endswith(' ') else ''});"
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _specctl; echo "${COMPREPLY[*]}"'
        for line, _ in LINES
    )
    done = shell("bash", "--norc", "-c", script=f'eval "$(specctl completion bash)"\n{cases}')
    assert done.stderr == ""
    found = [sorted(line.split()) for line in done.stdout.splitlines()]
    assert found == [sorted(words) for _, words in LINES]


def test_bash_gets_what_comes_after_its_own_breaks(shell):
    done = shell(
        "bash", "--norc", "-c",
        script='eval "$(specctl completion bash)"; COMP_WORDS=(specctl check --on = gpu);'
        'COMP_CWORD=4; _specctl; echo "${COMPREPLY[*]}"',
    )  # fmt: skip
    assert (done.stderr, done.stdout.split()) == ("", ["gpu8", "gpu9"])


def test_fish_completes_with_notes(shell):
    lines = [line for line in LINES if line[0] in {"sta", "runs show 5c", "start gpu8 kimi-"}]
    asked = "; ".join(f"complete -C 'specctl {line}'; echo ==" for line, _ in lines)
    done = shell("fish", "--no-config", "-c", script=f"specctl completion fish | source; {asked}")
    assert done.stderr == ""
    answers = [part.split("\n") for part in done.stdout.split("==\n")[:-1]]
    found = [sorted(line.split("\t")[0] for line in answer if line) for answer in answers]
    assert found == [sorted(words) for _, words in lines]
    assert "5c0ffee2\ttrial gpu8 a b ]0;x" in done.stdout


@pytest.mark.parametrize(
    ("words", "setup"),
    [
        (("bash", "--norc", "--noprofile", "-i"), 'eval "$(specctl completion bash)"'),
        (("zsh", "-f", "-i"), 'eval "$(specctl completion zsh)"'),
    ],
    ids=["bash", "zsh"],
)
def test_the_tab_key_in_a_real_shell(words, setup, places, program, workspace):
    """Each answer is waited for, so that a busy machine only takes longer."""
    found = shutil.which(words[0])
    assert found, f"{words[0]} is missing: tests/system.sh installs it"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(workspace)
        path = os.pathsep.join(path for path in sys.path if path)
        environment = {**places, "PATH": f"{program}:/usr/bin:/bin", "PYTHONPATH": path}
        os.execve(found, words, {**environment, "TERM": "dumb", "PS1": "READY> "})
    try:
        os.write(terminal, f"{setup}; echo LOA''DED\n".encode())
        read_until(terminal, "LOADED")
        os.write(terminal, b"specctl start gpu8 kimi-n\t")
        shown = read_until(terminal, "kimi-ngram")
        assert "rror" not in shown
        assert "Traceback" not in shown
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def read_until(terminal, wanted_text):
    end_s, shown = time.monotonic() + DEADLINE_S, ""
    while time.monotonic() < end_s:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
        if wanted_text in shown:
            return shown
    pytest.fail(f"{wanted_text} was not seen:\n{shown}")


def test_an_answer_imports_nothing_that_is_slow_and_opens_no_socket(run, places):
    assert run("__complete", "bash", "--", "start", "", **places).status == 0
    program = (
        "import sys; from specctl.__main__ import main;"
        "main(['__complete', 'bash', '--', *sys.argv[1:]]);"
        f"print([m for m in {TOO_MUCH} if m in sys.modules], file=sys.stderr)"
    )
    for words in (["start", ""], ["runs", "show", ""], ["inspect", "gpu8", ""]):
        command = [sys.executable, "-c", program, *words]
        for _ in range(2):  # a source file may have changed since the commands were kept
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, **places}
            )
        assert done.stderr == "[]\n"


def test_a_cache_that_cannot_be_kept_or_read_only_costs_time(run, places, tmp_path):
    (tmp_path / "none").write_text("")
    done = run(
        "__complete", "zsh", "--", "stat", **(places | {"XDG_CACHE_HOME": str(tmp_path / "none")})
    )
    assert (done.status, done.out.split("\t")[0]) == (0, "status")
    kept = shape_file(Path(specctl.__file__).parent)
    (tmp_path / "cache/specctl" / kept.name).write_text("{damaged")
    assert run("__complete", "zsh", "--", "stat", **places).out == done.out


def test_a_shell_that_is_none_of_them_is_named(run):
    done = run("completion", SHELL="/bin/tcsh")
    assert (done.status, done.out) == (2, "")
    assert "tcsh" in done.err
    assert "completion bash|zsh|fish" in done.err


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("start", "host"), ("start gpu8", "profile"), ("stop", "host"), ("status gpu8", "host"),
        ("show", "profile"), ("check --on", "host"), ("cost gpu8", "profile"), ("advise", "run"),
        ("expect", "run"), ("runs recompute", "run"), ("runs list --profile", "profile"),
        ("inspect gpu8", "algorithm"), ("server", "host"), ("logs", "host"), ("add", "alias"),
        ("compare --resume", "run"),
    ],
)  # fmt: skip
def test_every_place_for_a_name_is_known_as_one(line, kind):
    assert kind in wanted(SHAPE, [*line.split(), ""]).kinds


SHAPE = whole_shape()
