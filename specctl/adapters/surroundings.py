"""What specctl runs on and in: versions, platform, terminal, and who that belongs to."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import socket
import sqlite3
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from specctl import __version__
from specctl.adapters import paths
from specctl.adapters.command_log import read_file
from specctl.adapters.ledger_reading import reading_ledger
from specctl.adapters.ssh_names import is_name, read_configured

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("textual", "rich", "asyncssh", "cryptography", "httpx", "pydantic", "click")
TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "NO_COLOR", "LANG", "LC_ALL", "SHELL")
LEDGER_WAIT_S = 1.0


def versions() -> Iterator[tuple[str, str]]:
    """Name and version of everything specctl is made of."""
    yield "specctl", __version__
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "platform", platform.platform()
    yield "SQLite", sqlite3.sqlite_version
    for package in PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            yield package, "not installed"


def terminal() -> Iterator[tuple[str, str]]:
    """What the terminal says of itself; only variables that name nobody."""
    for name in TERMINAL:
        yield name, os.environ.get(name, "not set")
    size = shutil.get_terminal_size((0, 0))
    yield "size", f"{size.columns}x{size.lines}" if size.columns else "no terminal"
    streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
    yield "terminals", " ".join(n for n, s in streams.items() if s and s.isatty()) or "none"
    inside = {"tmux": "TMUX", "screen": "STY", "ssh": "SSH_CONNECTION", "a container": "container"}
    yield "inside", " ".join(words for words, name in inside.items() if name in os.environ) or "—"


def environment() -> dict[str, str]:
    """Of this process."""
    return dict(os.environ)


def own_users() -> frozenset[str]:
    """Who runs specctl, by every name that is known."""
    named = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    try:
        named.add(getpass.getuser())
    except (OSError, KeyError):
        return frozenset(named - {""})
    return frozenset(named - {""})


def own_hosts() -> frozenset[str]:
    """This machine by name, whole and short."""
    name = socket.gethostname()
    return frozenset({name, name.partition(".")[0]} - {""})


def own_homes() -> frozenset[str]:
    """The home directory, also where links lead."""
    home = Path.home()
    return frozenset({str(home), str(home.resolve())} - {"/"})


def configured_names() -> tuple[frozenset[str], frozenset[str]]:
    """Hosts and users that the user's ssh configuration names; nothing where it cannot be read."""
    hosts: set[str] = set()
    users: set[str] = set()
    for keyword, words in read_configured():
        if keyword == "user":
            users |= set(words)
            continue
        for word in words:
            login, _, host = word.rpartition("@")
            hosts.add(host.partition(":")[0])
            users |= {login}
    return frozenset(filter(is_name, hosts)), frozenset(users - {""})


def ledger_lines() -> Iterator[tuple[str, str]]:
    """The ledger's file: whether it is there, its version, and what it holds, by kind."""
    try:
        with reading_ledger(LEDGER_WAIT_S) as ledger:
            if ledger is None:
                yield "file", "not there: nothing was kept yet"
                return
            yield "size", f"{paths.ledger_file().stat().st_size:,} bytes"
            yield "schema version", str(ledger.execute("PRAGMA user_version").fetchone()[0])
            kinds = "SELECT kind, count(*) FROM runs GROUP BY kind ORDER BY kind"
            for kind, count in ledger.execute(kinds):
                yield f"{kind} runs", str(count)
            ended = "SELECT kind, host, outcome FROM runs ORDER BY began_s DESC LIMIT 10"
            for number, (kind, host, outcome) in enumerate(ledger.execute(ended), start=1):
                where = f" on {host}" if host else ""
                yield f"{number} ago", f"{kind}{where}: {outcome or 'runs, or was cut off'}"
    except sqlite3.Error as error:
        yield "cannot be read", str(error)


def noted_hosts() -> frozenset[str]:
    """Hosts of the ledger and of the command log, those of other workspaces among them."""
    hosts = {one.host for one in read_file(paths.command_file())}
    # a ledger that cannot be read names no host in the report either
    with suppress(sqlite3.Error), reading_ledger(LEDGER_WAIT_S) as ledger:
        rows = ledger.execute("SELECT DISTINCT host FROM runs") if ledger else ()
        hosts |= {str(host) for (host,) in rows}
    return frozenset(hosts - {""})


def own_folders() -> frozenset[str]:
    """Where specctl keeps its files, where that is told by a variable."""
    named = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR")
    found = {os.environ.get(name, "").rstrip("/") for name in named}
    return frozenset(found - {"", "/tmp"})


def kept_lines() -> Iterator[tuple[str, str]]:
    """What else lies in specctl's own folders, by number."""
    trees = paths.cache_dir() / "trees"
    yield "trees kept", str(len(list(trees.glob("*.tree"))))
    yield "lab", "up or left over" if paths.lab_dir().exists() else "not up"
    yield "secrets file", "there" if paths.secrets_file().exists() else "none"
