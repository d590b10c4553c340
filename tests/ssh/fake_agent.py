"""A small agent for tests: packs a program that speaks the agent's protocol as it is told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.adapters.bundle import agent_modules, pack

if TYPE_CHECKING:
    from specctl.adapters.bundle import Bundle

_HEAD = """
import json, os, sys, time

HELLO = {"protocol": 1, "python": "3", "executable": "x", "pid": os.getpid(), "uid": 0,
         "user": "u", "hostname": "h", "boot_id": "b", "pid_namespace": None, "time": 1.0,
         "has_psutil": False, "has_pynvml": True, "has_httpx": False}

def say(out, message):
    out.write(json.dumps(message).encode() + b"\\n")
    out.flush()

def main(marker, stdin, stdout):
    stdout.write(b"\\n" + marker.encode() + b" ")
    say(stdout, HELLO)
    for line in iter(stdin.readline, b""):
        request = json.loads(line)
        answer(request, request["id"], stdout)
"""


def fake_bundle(python: str, answer: str) -> Bundle:
    """An agent whose `answer(request, id, out)` has the body `answer`."""
    body = "\n".join("    " + line for line in answer.strip().splitlines())
    program = f"{_HEAD}\ndef answer(request, id, out):\n{body}\n"
    boot = agent_modules()["specctl_agent.bootstrap"]
    modules = {"specctl_agent": "", "specctl_agent.bootstrap": boot, "specctl_agent.main": program}
    return pack((python,), {"modules": modules, "main": "specctl_agent.main"}, unbuffered=True)
