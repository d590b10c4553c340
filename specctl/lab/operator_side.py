"""The operator's files of a lab: one host file each, and profiles that fit the hosts."""

from __future__ import annotations

import json
import os
import socket
from importlib import resources
from typing import TYPE_CHECKING
from zlib import crc32

from specctl.lab.hosts import python_of

if TYPE_CHECKING:
    from specctl.lab.folder import LabFolder
    from specctl.lab.scenarios import Scenario

LOOPBACK = "127.0.0.1"
PORT, LAST_PORT, PORTS_PER_HOST, LABS = 30000, 60000, 100, 200
"""All lab hosts share this machine's ports: each has a range of its own."""

REMOTE = """\
# A practice host of `specctl lab`: SIMULATED.
ssh = "{name}"
python = {python}
model_dirs = [{models}]
notes = "SIMULATED: {words}"

[labels]
gpus = "{gpus}"
lab = "SIMULATED"
"""
PLACE = """
[on.{name}.placement]
port = {port}
"""


def choose_ports(lab: LabFolder, hosts: int) -> list[int]:
    """The port of a server on each host; further on where one is taken on this machine.

    Labs of one machine begin at different ones, because their servers are not there yet.
    """
    start = PORT + PORTS_PER_HOST * (crc32(os.fsencode(lab.root)) % LABS)
    for first in range(start, LAST_PORT, PORTS_PER_HOST):
        ports = [first + PORTS_PER_HOST * number for number in range(hosts)]
        if all(port <= LAST_PORT and _is_free(port) for port in ports):
            return ports
    return [PORT + PORTS_PER_HOST * number for number in range(hosts)]


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def write_operator_side(lab: LabFolder, scenario: Scenario) -> None:
    """Write `remotes/` and `profiles/` of the lab."""
    names = [host.folder.name for host in lab.hosts()]
    ports = choose_ports(lab, len(names))
    for host in lab.hosts():
        text = REMOTE.format(
            name=host.folder.name,
            python=_quoted(str(python_of(host))),
            models=_quoted(str(lab.models)),
            words=scenario.words,
            gpus=scenario.words,
        )
        (lab.root / "remotes" / f"{host.folder.name}.toml").write_text(text)
    places = "".join(
        PLACE.format(name=name, port=port) for name, port in zip(names, ports, strict=True)
    )
    for file in resources.files("specctl.lab").joinpath("profiles").iterdir():
        if file.name.endswith(".toml"):
            text = _filled(file.read_text(), lab, scenario, ports[0])
            extends_one = any(line.startswith("extends") for line in text.splitlines())
            (lab.root / "profiles" / file.name).write_text(text + ("" if extends_one else places))


def _quoted(text: str) -> str:
    """As a basic string of TOML, which escapes what JSON escapes."""
    return json.dumps(text, ensure_ascii=False)


def _filled(text: str, lab: LabFolder, scenario: Scenario, port: int) -> str:
    gpus = len(scenario.own)
    replacements = {
        "{models}": _quoted(str(lab.models))[1:-1],
        "{tp}": str(gpus),
        "{gpus}": str(list(range(gpus))),
        "{port}": str(port),
    }
    for mark, value in replacements.items():
        text = text.replace(mark, value)
    return text
