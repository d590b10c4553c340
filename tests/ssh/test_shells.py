from __future__ import annotations

import json
import pwd
import sys
from pathlib import Path

import pytest

from specctl.adapters.agent_channel import AgentChannel
from specctl.domain.errors import AgentError

ECHO = "import sys,json; print(json.dumps(sys.argv[1:]))"
HARD = (
    "",
    "-n",
    " two  words ",
    "a!b !! !$",
    "$HOME `id` $(id) ~ * ? [a] {a,b}",
    "'\"\\ \\\\ \\n",
    "line\nbreak\r\n\ttab",
    "=x %y ^z #c a;b a&b a|b <i >o (g)",
    "é 日本 🎉",
)
PYTHONS = ("/usr/bin/python3", sys.executable)


def _python_for_all() -> str:
    """A throw-away user may not look into root's home, where a venv's Python may live."""
    return next((path for path in PYTHONS if Path(path).exists()), "python3")


@pytest.mark.parametrize("shell", ["fish", "tcsh", "bash", "sh"])
async def test_c04_arguments_pass_any_login_shell(lab, connected, login_user, shell):
    await lab.server("gpu", user=login_user(shell))
    async with connected("gpu") as session:
        argv = (_python_for_all(), "-I", "-c", ECHO, *HARD)
        finished = await session.run(argv, timeout_s=20)
        assert json.loads(finished.stdout) == list(HARD), finished.error_text


@pytest.mark.parametrize("shell", ["fish", "csh", "bash"])
async def test_c04_the_agent_starts_under_any_login_shell(lab, connected, login_user, shell):
    user = login_user(shell)
    await lab.server("gpu", user=user)
    async with connected("gpu") as session:
        agent = await AgentChannel.start(session, (_python_for_all(),))
        assert agent.hello.user == user
        assert (await agent.call("commands", names=["sh"]))["sh"]
        await agent.close()


async def test_c04_an_alias_or_function_does_not_stand_in_for_a_program(lab, connected, login_user):
    user = login_user("tcsh")
    home = Path(pwd.getpwnam(user).pw_dir)
    (home / ".cshrc").write_text("alias printf echo wrong\n")
    await lab.server("gpu", user=user)
    async with connected("gpu") as session:
        assert (await session.run(("printf", "%s", "right"), timeout_s=10)).text == "right"


async def test_c14_what_startup_files_print_comes_before_the_marker(lab, connected, login_user):
    user = login_user("bash")
    home = Path(pwd.getpwnam(user).pw_dir)
    (home / ".bashrc").write_text(
        "echo '*** welcome ***'; printf '{\"id\": 1}'\n"
        "echo 'bash: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8)' >&2\n"
    )
    await lab.server("gpu", user=user)
    async with connected("gpu") as session:
        agent = await AgentChannel.start(session, (_python_for_all(),))
        assert await agent.call("commands", names=["sh"])
        await agent.close()


async def test_c06_a_missing_python_is_one_sentence_with_a_remedy(session):
    with pytest.raises(AgentError) as caught:
        await AgentChannel.start(session, ("python3.99",))
    assert caught.value.message == (
        "host gpu: the agent did not start with `python3.99`: "
        "there is no such command for a non-interactive shell"
    )
    assert "python = " in caught.value.hint


async def test_c12_a_python_that_may_not_be_executed_says_so(session, tmp_path):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\n")
    with pytest.raises(AgentError, match=r"may not be executed.*[Pp]ermission denied"):
        await AgentChannel.start(session, (str(python),))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'Unknown option: -I' >&2; exit 2", "too old; 3.8 or later"),
        ("echo '  SyntaxError: invalid syntax' >&2; exit 1", "too old; 3.8 or later"),
        ("echo \"ModuleNotFoundError: No module named 'zlib'\" >&2; exit 1", "lacks a standard"),
        ("echo 'This account is not available.'; exit 1", "said: This account is not available."),
    ],
)
async def test_c06_what_is_not_a_fitting_python_is_told_apart(session, tmp_path, script, words):
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    with pytest.raises(AgentError, match=words):
        await AgentChannel.start(session, (str(python),))


async def test_a_start_that_stays_silent_meets_its_deadline(session, tmp_path):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 'Enter your token:'\nexec sleep 30\n")
    python.chmod(0o755)
    with pytest.raises(AgentError, match="stays silent; so far it said: Enter your token:"):
        await AgentChannel.start(session, (str(python),), timeout_s=1)


async def test_an_entered_host_gets_every_argument_unchanged(lab, connected, tmp_path):
    enter = tmp_path / "enter"
    enter.write_text('#!/bin/sh\nexport ENTERED="$1"\nshift\nexec "$@"\n')
    enter.chmod(0o755)
    await lab.server("gpu")
    async with connected("gpu", enter=(str(enter), "a box")) as session:
        script = "import os,sys,json; print(json.dumps([os.environ['ENTERED'], *sys.argv[1:]]))"
        finished = await session.run((sys.executable, "-I", "-c", script, *HARD), timeout_s=20)
        assert json.loads(finished.stdout) == ["a box", *HARD]
        agent = await AgentChannel.start(session, (sys.executable,))
        assert (await agent.call("environment", names=["ENTERED"])) is not None
        await agent.close()
