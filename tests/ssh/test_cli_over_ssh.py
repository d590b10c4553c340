"""The command line from end to end over real sshd: what works, and what each failure says."""

from __future__ import annotations

import os
import pwd
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import LOOPBACK, fingerprint, make_key, public

AGENT_PYTHON = next(p for p in ("/usr/bin/python3", sys.executable) if Path(p).exists())
"""One that a throw-away user may run too."""

OLD_PYTHON = """#!/bin/sh
echo 'Unknown option: -I' >&2
echo 'usage: python [option] ... [-c cmd | -m mod | file | -] [arg] ...' >&2
exit 2
"""
"""What a Python from before isolated mode answers."""


@pytest.fixture
def operator(lab) -> OperatorSide:
    return OperatorSide(lab)


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


# ------------------------------------------------------------------ what works


async def test_a_new_host_is_watched_after_two_commands_and_no_editing(lab, operator):
    await lab.server("gpu")
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    added = operator.run("add", "gpu", "--python", sys.executable, inside=elsewhere)
    assert added.status == 0, added.err
    passed = {row.split()[1] for row in added.out.splitlines() if row.startswith("  PASS")}
    assert {"connect", "shell", "python", "state"} <= passed
    watched = operator.run("watch", "gpu", "--json", "--for", "3", inside=elsewhere)
    assert watched.status == 0, watched.err
    samples = [e for e in watched.events if e["event"] == "HostSampled"]
    assert samples[-1]["sample"]["host"]["cpu_count"] == os.cpu_count()
    assert {e["schema"] for e in watched.events} == {"specctl/event/1"}
    assert {e["host"] for e in watched.events} == {"gpu"}
    assert watched.err == ""


async def test_what_add_writes_is_a_valid_file_and_is_never_overwritten(lab, operator):
    await lab.server("gpu")
    assert operator.run("add", "gpu", "--python", sys.executable).status == 0
    path = operator.workspace / "remotes" / "gpu.toml"
    written = tomllib.loads(path.read_text())
    assert written == {"ssh": "gpu", "python": sys.executable}
    assert operator.run("check").status == 0
    before = path.read_bytes()
    operator.run("add", "gpu").must_fail(2, "gpu is there already", hint="--name")
    assert path.read_bytes() == before


async def test_a_named_host_is_written_under_that_name(lab, operator):
    await lab.server("gpu")
    added = operator.run("add", "gpu", "--name", "big", "--python", sys.executable)
    assert added.status == 0, added.err
    assert tomllib.loads((operator.workspace / "remotes/big.toml").read_text())["ssh"] == "gpu"


async def test_status_shows_every_host_and_says_which_one_is_not_reached(lab, operator):
    await lab.server("up")
    lab.entry("down", _closed_port())
    operator.write_host("up")
    operator.write_host("down")
    ran = operator.run("status", "--json")
    assert ran.status == 3
    assert ran.json["schema"] == "specctl/status/1"
    up, down = ran.json["hosts"]["up"], ran.json["hosts"]["down"]
    assert (up["link"], down["link"]) == ("up", "lost")
    assert up["sample"]["host"]["memory_total_bytes"] > 0
    assert up["sample"]["gpu_missing"].startswith("not installed")
    assert "refused the connection" in down["link_words"]
    assert "sshd" in down["link_hint"]
    assert down["sample"] is None


async def test_status_as_text_has_the_reason_and_the_hint(lab, operator):
    lab.entry("down", _closed_port())
    operator.write_host("down")
    ran = operator.run("status", "down")
    assert ran.status == 3
    first, hint = ran.out.splitlines()
    assert first.startswith("down  not reached: host down: ")
    assert hint == "  → Is sshd running there, on that port?"


async def test_doctor_has_a_row_for_everything_and_its_level_is_the_exit_status(lab, operator):
    await lab.server("gpu")
    operator.write_host("gpu", state_dir=str(lab.folder / "state"))
    ran = operator.run("doctor", "gpu", "--json")
    rows = {row["name"]: row for row in ran.json["rows"]}
    assert set(rows) == {
        "connect", "shell", "python", "sglang", "driver", "gpus", "ports", "state", "disk",
        "/dev/shm", "lingering", "clock",
    }  # fmt: skip
    assert rows["state"]["words"] == str(lab.folder / "state")
    assert rows["clock"]["level"] == "PASS"
    assert all(row["next_step"] for row in rows.values() if row["level"] != "PASS")
    levels = {row["level"] for row in rows.values()}
    worst = next(level for level in ("FAIL", "WARN", "PASS") if level in levels)
    assert ran.json["level"] == worst
    assert ran.status == {"PASS": 0, "WARN": 1, "FAIL": 2}[worst]


async def test_doctor_examines_the_others_when_one_is_not_reached(lab, operator):
    await lab.server("up")
    lab.entry("down", _closed_port())
    operator.write_host("up")
    operator.write_host("down")
    ran = operator.run("doctor", "--json")
    assert ran.status == 2
    rows = ran.json["rows"]
    assert [r["name"] for r in rows if r["host"] == "down"] == ["connect"]
    assert len([r for r in rows if r["host"] == "up"]) > 5


async def test_c01_a_host_behind_a_jump_is_like_any_other(lab, operator):
    await lab.server("bastion")
    await lab.server("inner", config="  ProxyJump bastion\n")
    operator.write_host("inner")
    ran = operator.run("status", "inner", "--json")
    assert ran.status == 0, ran.out
    assert ran.json["hosts"]["inner"]["link"] == "up"


@pytest.mark.parametrize("shell", ["fish", "csh", "bash"])
async def test_c04_any_login_shell_will_do(lab, operator, login_user, shell):
    user = login_user(shell)
    await lab.server("gpu", user=user)
    operator.write_host("gpu", python=AGENT_PYTHON)
    ran = operator.run("doctor", "gpu", "--json")
    rows = {row["name"]: row for row in ran.json["rows"]}
    assert rows["connect"]["words"].startswith(f"{user} on ")
    assert f"/{shell}, a command takes" in rows["shell"]["words"]
    assert operator.run("status", "gpu").status == 0


async def test_c14_greetings_and_noise_never_reach_the_data(lab, operator, login_user, tmp_path):
    user = login_user("bash")
    noise = "echo '*** welcome ***'; printf '{\"id\": 1}\\n\\033]0;owned\\007'; echo oops >&2\n"
    (Path(pwd.getpwnam(user).pw_dir) / ".bashrc").write_text(noise)
    banner = tmp_path / "banner"
    banner.write_text("Authorised use only.\n")
    await lab.server("gpu", f"Banner {banner}", "PrintMotd yes", user=user)
    operator.write_host("gpu", python=AGENT_PYTHON)
    ran = operator.run("status", "gpu", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["hosts"]["gpu"]["link"] == "up"
    watched = operator.run("watch", "gpu", "--json", "--for", "3")
    assert any(event["event"] == "HostSampled" for event in watched.events)
    for said in (ran.out, ran.err, watched.out, watched.err):
        assert "welcome" not in said
        assert "Authorised" not in said
        assert "\x1b" not in said


async def test_the_variables_of_the_hosts_file_reach_the_agent(lab, operator):
    await lab.server("gpu")
    tools = lab.folder / "tools"
    tools.mkdir()
    script(tools / "nvidia-smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    path = f"{tools}:{os.environ['PATH']}"
    operator.write_host("gpu", env={"PATH": path, "ODD": "a 'b' \"c\" $HOME !x"})
    sample = operator.run("status", "gpu", "--json").json["hosts"]["gpu"]["sample"]
    assert (sample["gpu_source"], sample["gpus"]) == ("nvidia-smi", [])


# ------------------------------------------------------------------ what does not


def _closed_port() -> int:
    """One that nothing listens on: bound and given back."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        return int(taken.getsockname()[1])


async def test_nothing_listening_is_one_sentence_for_every_verb(lab, operator):
    lab.entry("gone", _closed_port())
    operator.write_host("gone")
    for words in ("logs gone", "forward gone", "stop gone", "add gone --name x"):
        operator.run(*words.split()).must_fail(3, "refused the connection", hint="Is sshd running")
    assert not (operator.workspace / "remotes/x.toml").exists()


async def test_watching_a_host_that_never_answers_ends_with_3(lab, operator):
    lab.entry("gone", _closed_port())
    operator.write_host("gone")
    ran = operator.run("watch", "gone", "--for", "1.5")
    assert ran.status == 3
    assert "gone  lost: host gone: " in ran.out
    assert "→ Is sshd running there" in ran.out


async def test_c01_a_jump_that_is_down_is_named(lab, operator):
    lab.entry("bastion", _closed_port())
    await lab.server("inner", config="  ProxyJump bastion\n")
    operator.write_host("inner")
    operator.run("logs", "inner").must_fail(3, "bastion", "refused", hint="sshd")


async def test_a_user_who_may_not_log_in(lab, operator):
    server = await lab.server("gpu")
    lab.entry("wrong", server.port, user="nobodyknows")
    operator.write_host("wrong")
    operator.run("logs", "wrong").must_fail(
        3, f"nobodyknows@{LOOPBACK}", "accepts none of the keys", hint="ssh wrong"
    )


async def test_c02_an_unknown_key_then_trust_then_it_connects(lab, operator):
    server = await lab.server("gpu", known=False)
    operator.write_host("gpu")
    mark = fingerprint(server.keys[0])
    operator.run("logs", "gpu").must_fail(3, mark, "not in known_hosts", hint="specctl trust gpu")
    asked = operator.run("trust", "gpu")
    assert asked.status == 2
    assert mark in asked.out
    assert "--yes" in asked.err
    assert lab.known_hosts.read_text() == ""
    trusted = operator.run("trust", "gpu", "--yes")
    assert trusted.status == 0, trusted.err
    assert operator.run("status", "gpu").status == 0
    again = operator.run("trust", "gpu")
    assert again.status == 0
    assert "known" in again.out
    assert lab.known_hosts.read_text().count("\n") == 1


async def test_c02_adding_asks_for_trust_first(lab, operator):
    server = await lab.server("gpu", known=False)
    operator.run("add", "gpu").must_fail(3, fingerprint(server.keys[0]), hint="or with --yes")
    assert not (operator.workspace / "remotes/gpu.toml").exists()
    added = operator.run("add", "gpu", "--yes", "--python", sys.executable)
    assert added.status == 0, added.err
    assert fingerprint(server.keys[0]) in added.out


async def test_c02_a_changed_key_is_shown_beside_the_old_one_and_not_written(lab, operator):
    server = await lab.server("gpu", known=False)
    old = make_key(lab.folder / "old")
    before = f"[{LOOPBACK}]:{server.port} {public(old)}\n"
    lab.known_hosts.write_text(before)
    operator.write_host("gpu")
    operator.run("logs", "gpu").must_fail(
        3, fingerprint(server.keys[0]), fingerprint(old), hint="ssh-keygen -R"
    )
    trusted = operator.run("trust", "gpu", "--yes")
    assert trusted.status == 1
    assert fingerprint(server.keys[0]) in trusted.out
    assert fingerprint(old) in trusted.out
    assert "ssh-keygen -R" in trusted.err
    assert lab.known_hosts.read_text() == before


async def test_c02_a_revoked_key_is_refused_and_not_written(lab, operator):
    server = await lab.server("gpu")
    revoked = f"@revoked [{LOOPBACK}]:{server.port} {public(server.keys[0])}\n"
    lab.known_hosts.write_text(revoked + lab.known_hosts.read_text())
    before = lab.known_hosts.read_text()
    operator.write_host("gpu")
    refused = operator.run("logs", "gpu")
    assert refused.status == 3
    assert "revoked" in refused.err
    assert operator.run("trust", "gpu", "--yes").status == 1
    assert lab.known_hosts.read_text() == before


async def test_c06_a_missing_python(lab, operator):
    await lab.server("gpu")
    operator.write_host("gpu", python="/nonexistent/python")
    operator.run("logs", "gpu").must_fail(
        3, "/nonexistent/python", "no such command", hint="python ="
    )
    ran = operator.run("doctor", "gpu")
    assert ran.status == 2
    assert "/nonexistent/python" in ran.out


async def test_c06_a_python_that_is_too_old(lab, operator):
    await lab.server("gpu")
    operator.write_host("gpu", python=script(lab.folder / "python", OLD_PYTHON))
    operator.run("logs", "gpu").must_fail(3, "too old", "3.8", hint="python =")


async def test_an_agent_that_falls_silent_while_it_is_looked_at(lab, operator):
    await lab.server("gpu")
    # nothing more than its hello arrives, however fast or slow the machine is
    text = f'#!/bin/sh\n"{sys.executable}" "$@" | {{ head -n 2; cat >/dev/null; }}\n'
    operator.write_host("gpu", python=script(lab.folder / "python", text))
    ran = operator.run("status", "gpu")
    assert ran.status == 3
    assert "not reached: host gpu: not everything answered within 20 s" in ran.out


def test_a_host_that_is_not_in_the_workspace_names_the_nearest(operator):
    operator.write_host("gpu8")
    for verb in ("status", "watch", "doctor", "trust", "logs"):
        operator.run(verb, "gpu9").must_fail(2, "no host called gpu9", hint="nearest: gpu8")


def test_an_empty_workspace_says_how_to_begin(operator):
    operator.run("status").must_fail(2, "no host", hint="specctl add")


def test_an_alias_that_does_not_resolve_writes_nothing(operator):
    ran = operator.run("add", "no-such-host.invalid")
    ran.must_fail(3, "does not resolve", hint="HostName")
    assert not list((operator.workspace / "remotes").iterdir())
