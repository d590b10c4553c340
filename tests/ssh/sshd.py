"""Real OpenSSH servers on loopback, each with its own keys, on a port of its own."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from specctl.adapters.ssh_settings import SshSettings
from specctl.domain.host import Host

LOOPBACK = "127.0.0.1"
PACKAGES = {
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "fish": "fish",
    "tcsh": "tcsh",
    "csh": "tcsh",
    "bash": "bash",
    "useradd": "passwd",
}


def program(name: str) -> str:
    """Where a program is; a test that needs a missing one says which package has it."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if found is None:
        pytest.fail(f"{name} is missing: install the package {PACKAGES[name]}")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def make_key(file: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    file.unlink(missing_ok=True)
    argv = [program("ssh-keygen"), "-q", "-t", kind, "-N", passphrase, "-f", str(file)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
    return file


def public(file: Path) -> str:
    return " ".join(file.with_name(file.name + ".pub").read_text().split()[:2])


def fingerprint(file: Path) -> str:
    argv = [program("ssh-keygen"), "-l", "-f", str(file)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()[1]


@dataclass
class Sshd:
    """One server. `options` are lines of sshd_config; `keys` the host key files."""

    folder: Path
    options: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("ed25519",)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    keys: list[Path] = field(default_factory=list)
    has_own_home: bool = False
    """Sessions get `home` for HOME, so that startup files and state of the real one stay out."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def prepare(self, user_key: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keys = [make_key(self.folder / f"host_{kind}", kind) for kind in self.kinds]
        authorized = self.folder / "authorized_keys"
        authorized.write_text(public(user_key) + "\n")
        authorized.chmod(0o600)
        lines = [
            f"Port {self.port}",
            f"ListenAddress {LOOPBACK}",
            *(f"HostKey {key}" for key in self.keys),
            f"PidFile {self.folder / 'pid'}",
            "StrictModes no",
            "PasswordAuthentication no",
            "KbdInteractiveAuthentication no",
            "PermitRootLogin prohibit-password",
            *self._set_home(),
            *self._authorized(authorized),
            *self.options,
        ]
        (self.folder / "sshd_config").write_text("\n".join(lines) + "\n")

    def _set_home(self) -> list[str]:
        if not self.has_own_home:
            return []
        self.home.mkdir(exist_ok=True)
        return [f"SetEnv HOME={self.home}"]

    @staticmethod
    def _authorized(file: Path) -> list[str]:
        if os.geteuid() != 0:
            return [f"AuthorizedKeysFile {file}"]
        # other users cannot look into pytest's folders: root reads for them
        command = f"AuthorizedKeysCommand {program('cat')} {file}"
        return ["AuthorizedKeysFile none", command, "AuthorizedKeysCommandUser root"]

    def start(self) -> None:
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        config, log = self.folder / "sshd_config", self.folder / "log"
        argv = [program("sshd"), "-D", "-f", str(config), "-E", str(log)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)

    async def wait_ready(self) -> None:
        while True:
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "log").read_text()
            try:
                _, writer = await asyncio.open_connection(LOOPBACK, self.port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                await writer.wait_closed()
                return

    def stop(self) -> None:
        if self.process is not None:
            for pid in self.children():
                _signal(pid, signal.SIGCONT)
                _signal(pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
            self.process = None

    def children(self) -> list[int]:
        """The processes of open connections."""
        assert self.process is not None
        return _descendants(self.process.pid)

    def signal_connections(self, number: int) -> None:
        """What an unplugged cable or a killed daemon does to the connections that are open."""
        for pid in self.children():
            if _title(pid).startswith("sshd"):
                _signal(pid, number)

    def known_hosts(self, kinds: tuple[str, ...] | None = None) -> str:
        keys = [k for k in self.keys if kinds is None or k.name.removeprefix("host_") in kinds]
        return "".join(f"[{LOOPBACK}]:{self.port} {public(key)}\n" for key in keys)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _descendants(pid: int) -> list[int]:
    found = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in map(int, children):
        found += [child, *_descendants(child)]
    return found


@dataclass
class SshLab:
    """The operator's side: a key, a known_hosts and an ssh config, and the servers started."""

    folder: Path
    user_key: Path
    servers: list[Sshd] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.folder / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def settings(self) -> SshSettings:
        return SshSettings(
            config_files=(self.config,), agent_path="", connect_timeout_s=10, handshake_tries=4
        )

    async def server(
        self,
        name: str,
        *options: str,
        kinds: tuple[str, ...] = ("ed25519",),
        known: bool = True,
        config: str = "",
        user: str = "",
    ) -> Sshd:
        """Start a server that the ssh config calls `name`, and know its keys unless told not to."""
        server = Sshd(self.folder / name, options, kinds, has_own_home=not user)
        server.prepare(self.user_key)
        server.start()
        self.servers.append(server)
        self.entry(name, server.port, config, user=user)
        if known:
            self.know(server)
        await server.wait_ready()
        return server

    def entry(self, name: str, port: int, config: str = "", *, user: str = "") -> None:
        user = user or pwd.getpwuid(os.geteuid()).pw_name
        text = (
            f"Host {name}\n  HostName {LOOPBACK}\n  Port {port}\n  User {user}\n"
            f"  UserKnownHostsFile {self.known_hosts}\n{config}"
        )
        if "IdentityFile" not in config:
            text += f"  IdentityFile {self.user_key}\n  IdentitiesOnly yes\n"
        with self.config.open("a") as file:
            file.write(text)

    def know(self, server: Sshd, kinds: tuple[str, ...] | None = None) -> None:
        with self.known_hosts.open("a") as file:
            file.write(server.known_hosts(kinds))

    def stop(self) -> None:
        for server in self.servers:
            server.stop()


def ssh_host(name: str, **fields: object) -> Host:
    return Host(name=name, ssh=name, **fields)  # type: ignore[arg-type]
