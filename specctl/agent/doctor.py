"""The `doctor` op: raw readings of what a host needs; judging them is left to the operator."""

from __future__ import annotations

import os
import pwd
import resource
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Optional

from . import asked, children, proc
from .nvml import kernel_module
from .places import find_command
from .protocol import describe
from .session_survival import read_survival
from .shm import read_shm
from .state_dirs import try_directory

COMMAND_TIMEOUT_S = 3.0
XID_LINES_MAX = 50


def doctor(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """One entry per reading; a reading that fails says so in its own place."""
    del cancelled
    named = asked.texts(params, "state_dirs")
    return {name: _try(reading) for name, reading in readings(named).items()}


def readings(state_dirs: List[str]) -> Dict[str, Callable[[], Any]]:
    """Name to reading."""
    return {
        "user": _user,
        "python": lambda: {"executable": sys.executable, "version": sys.version.split()[0]},
        "limits": _limits,
        "umask": _umask,
        "survival": read_survival,
        "clock": _clock,
        "shm": read_shm,
        "state_dirs": lambda: [try_directory(path) for path in candidates(state_dirs)],
        "commands": lambda: {name: find_command(name) for name in COMMANDS},
        "path": lambda: os.environ.get("PATH"),
        "locale": _locale,
        "kernel": lambda: list(os.uname()),
        "kernel_module": kernel_module,
        "gpu_devices": _gpu_devices,
        "container": _container,
        "xid": _xid,
    }


COMMANDS = ("nvidia-smi", "python3", "systemd-run", "loginctl", "tmux", "docker", "nvcc", "git")


def _try(reading: Callable[[], Any]) -> Any:
    try:
        return reading()
    except Exception as error:
        return {"error": describe(error)}


def _user() -> Dict[str, Any]:
    entry = pwd.getpwuid(os.getuid())
    return {
        "name": entry.pw_name,
        "uid": entry.pw_uid,
        "home": entry.pw_dir,
        "shell": entry.pw_shell,
    }


def _limits() -> Dict[str, List[Optional[int]]]:
    """[soft, hard] of each limit, None meaning unlimited."""
    names = ("NOFILE", "NPROC", "MEMLOCK", "STACK", "CORE", "AS")
    return {name.lower(): _limit(getattr(resource, "RLIMIT_" + name)) for name in names}


def _limit(which: int) -> List[Optional[int]]:
    return [None if v == resource.RLIM_INFINITY else v for v in resource.getrlimit(which)]


def _umask() -> int:
    """From /proc: asking the kernel would mean changing it for a moment."""
    for line in proc.read_text("/proc/self/status").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    raise OSError("this kernel does not tell the umask")


def _clock() -> Dict[str, Any]:
    answer = _command("timedatectl", "show", "-p", "NTPSynchronized", "-p", "Timezone")
    return {"time": time.time(), "utc_offset_s": time.localtime().tm_gmtoff, "timedatectl": answer}


def candidates(named: List[str]) -> List[str]:
    """Where state may be kept, best first; each once."""
    state_home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    user = str(os.getuid())
    paths = [
        *named,
        os.path.join(state_home, "specctl"),
        "/var/tmp/specctl-" + user,
        "/dev/shm/specctl-" + user,
    ]
    return list(dict.fromkeys(os.path.expanduser(path) for path in paths))


def _locale() -> Dict[str, Optional[str]]:
    return {name: os.environ.get(name) for name in ("LANG", "LC_ALL", "LC_NUMERIC")}


def _gpu_devices() -> List[Dict[str, Any]]:
    """The device files of the driver and whether this user may open them."""
    names = sorted(name for name in os.listdir("/dev") if name.startswith("nvidia"))
    paths = ["/dev/" + name for name in names if not os.path.isdir("/dev/" + name)]
    return [{"path": path, "usable": os.access(path, os.R_OK | os.W_OK)} for path in paths]


def _container() -> Dict[str, Any]:
    marks = [path for path in ("/.dockerenv", "/run/.containerenv") if os.path.exists(path)]
    variable = os.environ.get("container")  # noqa: SIM112  systemd spells it so
    return {"marks": marks, "variable": variable, "pid_namespace": proc.link(os.getpid(), "ns/pid")}


def _xid() -> Dict[str, Any]:
    """The driver's fault lines of the kernel log, where this user may read it."""
    answer = _command("dmesg", "--ctime")
    if answer.get("exit_status") != 0:
        return {"lines": None, "why": answer.get("stderr") or answer.get("error")}
    wanted = ("NVRM: Xid", "fallen off the bus", "blocked for more than")
    lines = [line for line in answer["stdout"].splitlines() if any(w in line for w in wanted)]
    return {"lines": lines[-XID_LINES_MAX:], "why": None}


def _command(name: str, *arguments: str) -> Dict[str, Any]:
    path = find_command(name)
    if path is None:
        return {"error": "%s is not installed" % name}
    try:
        ended = children.run([path, *arguments], COMMAND_TIMEOUT_S)
    except (children.HungError, OSError, subprocess.SubprocessError) as error:
        return {"error": str(error)}
    return {
        "exit_status": ended.exit_status,
        "stdout": ended.stdout,
        "stderr": ended.stderr.strip(),
    }
