from __future__ import annotations

import fcntl
import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.connect import connect
from tests.ssh.sshd import SshLab, make_key, program, ssh_host

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from specctl.adapters.session import Session
    from specctl.adapters.ssh_settings import SshSettings


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[SshLab]:
    """An operator's ssh folder; servers started through it end with the test."""
    made = SshLab(tmp_path, make_key(tmp_path / "user"))
    made.config.touch()
    made.known_hosts.touch()
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def connected(lab: SshLab):
    """`async with connected("gpu") as session`, closed afterwards."""

    @asynccontextmanager
    async def open_session(name: str, settings: SshSettings | None = None, **fields: object):
        session = await connect(ssh_host(name, **fields), settings=settings or lab.settings)
        try:
            yield session
        finally:
            await session.close()

    return open_session


@pytest.fixture
async def session(lab: SshLab, connected) -> AsyncIterator[Session]:
    """A session on a plain server called `gpu`."""
    await lab.server("gpu")
    async with connected("gpu") as opened:
        yield opened


@pytest.fixture
def login_user() -> Iterator[Callable[[str], str]]:
    """Makes a throw-away user with a login shell and a home; `login_user("fish")` is its name."""
    if os.geteuid() != 0:
        pytest.skip("making a user with another login shell needs root")
    names: list[str] = []
    homes: list[Path] = []

    def make(shell: str) -> str:
        name, home = (
            f"specctl{secrets.token_hex(4)}",
            Path(tempfile.mkdtemp(prefix="specctl-home-")),
        )
        names.append(name)
        homes.append(home)
        # a password of `*` is none that fits, but unlike useradd's `!` does not lock the account
        _user_database(
            program("useradd"), "-M", "-d", str(home), "-s", program(shell), "-p", "*", name
        )
        os.chown(home, pwd.getpwnam(name).pw_uid, pwd.getpwnam(name).pw_gid)
        return name

    try:
        yield make
    finally:
        for name in names:
            # -f: the end of its last connection may not have reached every process yet
            _user_database(program("userdel"), "-f", name)
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)


def _user_database(*argv: str, check: bool = True) -> None:
    """One at a time: the tools give up when another holds /etc/passwd."""
    with (Path(tempfile.gettempdir()) / "specctl-test-users.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(argv, check=check, capture_output=True)
