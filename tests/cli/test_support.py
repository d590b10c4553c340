"""The bug report: what is in it, what is not, and that nothing is written unseen."""

from __future__ import annotations

import socket
import sqlite3
import sys

LOCAL = 'transport = "local"\npython = "{python}"\n'


def test_it_names_no_host_user_secret_or_home(run, workspace, home):
    (workspace / "remotes/atlas-7.toml").write_text('ssh = "atlas-seven"\nuser = "xena"\n')
    (workspace / "remotes/odd.toml").write_text('ssh = "odd"\nxyz = "/x"\n')
    (workspace / "profiles/bad.toml").write_text("model = \n")
    (home / ".ssh").mkdir()
    (home / ".ssh/config").write_text(
        "Host atlas-seven\n HostName deep.thought.corp\n User zaphod\n"
    )
    done = run("support", HF_TOKEN="hf_veryverysecretvalue", PS1="hf_veryverysecretvalue")
    assert done.status == 0, done.err
    for word in ("not there", "textual: 8", "problems: ", "terminals: none"):
        assert word in done.out
    assert "xyz" in done.out, "the problem is told"
    told = done.out + done.err
    for name in ("atlas", "xena", "zaphod", "deep.thought", "hf_very", str(home), str(workspace)):
        assert name not in told
    assert "replaced by placeholders: " in done.err


def test_a_host_that_is_named_is_examined_and_stays_nameless(run, workspace):
    (workspace / "remotes/atlas-7.toml").write_text(LOCAL.format(python=sys.executable))
    done = run("support", "atlas-7", USER="xanthippe", SHELL="/opt/xanthippe/bin/fish")
    assert done.status == 0, done.err
    assert "## Host <host-" in done.out
    assert "PASS connect: " in done.out
    assert " link up" in done.out
    assert "atlas-7" not in done.out
    assert socket.gethostname() not in done.out.split()
    assert "SHELL: /opt/<user-" in done.out, "who runs it is in what it says"
    assert "xanthippe" not in done.out


def test_a_host_that_does_not_answer_is_part_of_the_report(run, workspace):
    (workspace / "remotes/gone.toml").write_text('host = "127.0.0.1"\nport = 1\n')
    done = run("support", "gone")
    assert done.status == 0, done.err
    assert "FAIL connect: " in done.out
    assert "gone" not in done.out


def test_nothing_is_written_unseen_or_over_something(run, workspace):
    refused = run("support", "-o", "report.md")
    assert refused.status == 2
    assert "## Versions" in refused.err, "it was shown"
    assert not (workspace / "report.md").exists()
    written = run("support", "-o", "report.md", "--yes")
    assert (written.status, written.out) == (0, "")
    assert "nothing was sent" in written.err
    assert "## Versions" in (workspace / "report.md").read_text()
    again = run("support", "-o", "report.md", "--yes")
    assert again.status == 2
    assert "exists already" in again.err


def test_without_a_workspace_and_with_a_damaged_ledger_it_still_works(run, tmp_path, home):
    empty = tmp_path / "empty"
    empty.mkdir()
    state = home / ".local/state/specctl"
    state.mkdir(parents=True)
    (state / "ledger.db").write_bytes(b"\0" * 4096 + b"damaged")
    done = run("support", inside=empty)
    assert done.status == 0, done.err
    assert "none: no workspace here" in done.out
    assert "cannot be read: " in done.out


def test_it_says_the_version_of_the_ledger_and_how_runs_ended(run, home):
    state = home / ".local/state/specctl"
    state.mkdir(parents=True)
    ledger = sqlite3.connect(state / "ledger.db")
    ledger.executescript(
        "PRAGMA user_version = 7; CREATE TABLE runs (kind, host, outcome, began_s);"
        "INSERT INTO runs VALUES ('launch', 'h', 'died ```\x1b[31m of aw@laptop', 1.0)"
    )
    ledger.close()
    done = run("support")
    assert "schema version: 7" in done.out
    assert "1 ago: launch on h: died ``` of <user-1>@<host-1>" in done.out
    assert "\n````\n" in done.out, "its backticks do not end the block"


def test_hosts_of_other_workspaces_and_folders_told_by_variables_are_not_named(run, tmp_path):
    state, empty = tmp_path / "acme-state", tmp_path / "empty"
    empty.mkdir()
    (state / "specctl").mkdir(parents=True)
    ledger = sqlite3.connect(state / "specctl/ledger.db")
    ledger.execute("CREATE TABLE runs (kind, host, began_s, outcome)")
    lost = f"cannot read {state}/x of megacorp-7"
    ledger.execute("INSERT INTO runs VALUES ('probe', 'megacorp-7', 1, ?)", (lost,))
    ledger.commit()
    ledger.close()
    (state / "specctl/commands.jsonl").write_text(
        '{"time_s": 1.0, "host": "initech-3", "way": "command", "what": "holder"}\n'
    )
    done = run("support", inside=empty, XDG_STATE_HOME=str(state))
    assert done.status == 0, done.err
    assert "probe on <host-" in done.out
    assert "<path-1>/x" in done.out
    assert "command holder" in done.out
    for name in ("megacorp", "initech", "acme-state"):
        assert name not in done.out
