"""Who this agent is and what it found on its host."""

from __future__ import annotations

import importlib.util
import os
import platform
import pwd
import socket
import sys
import time
from typing import Any, Dict, Optional

from .protocol import PROTOCOL


def hello() -> Dict[str, Any]:
    """The first message."""
    return {
        "protocol": PROTOCOL,
        "python": platform.python_version(),
        "executable": sys.executable,
        "pid": os.getpid(),
        "uid": os.getuid(),
        "user": user_name(os.getuid()),
        "hostname": socket.gethostname(),
        "boot_id": boot_id(),
        "pid_namespace": pid_namespace(),
        "time": time.time(),
        "has_psutil": _has("psutil"),
        "has_pynvml": _has("pynvml"),
        "has_httpx": _has("httpx"),
    }


def user_name(uid: int) -> Optional[str]:
    """The name of a user, or None when the host has none for it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def boot_id() -> Optional[str]:
    """The kernel's identity of this boot, or None where it does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def pid_namespace() -> Optional[str]:
    """The pid namespace this agent is in, e.g. `pid:[4026531836]`."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
