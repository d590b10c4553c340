"""Whether what a user starts survives the end of the session: logind's settings and the user's own.

The settings files are read as logind.conf(5) orders them; loginctl is asked where it is there.
"""

from __future__ import annotations

import glob
import os
from typing import Any, Dict, List, Optional

from . import children, proc
from .hello import user_name
from .places import find_command

FOLDERS = ("/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd")
KEYS = ("KillUserProcesses", "KillOnlyUsers", "KillExcludeUsers", "RemoveIPC")
TIMEOUT_S = 3.0


def read_survival(root: str = "/") -> Dict[str, Any]:
    """Settings with the file each came from, lingering, and whether systemd runs here at all."""
    has_systemd = os.path.isdir(os.path.join(root, "run/systemd/system"))
    user = user_name(os.getuid()) or str(os.getuid())
    linger_file = os.path.join(root, "var/lib/systemd/linger", user)
    return {
        "systemd": has_systemd,
        "settings": read_settings(root),
        "linger": os.path.exists(linger_file) if has_systemd else None,
        "user_manager": os.path.exists(os.path.join(root, "run/user", str(os.getuid()), "systemd")),
        "loginctl": _loginctl(user) if has_systemd else None,
        "session": _session(),
    }


def read_settings(root: str = "/") -> Dict[str, Dict[str, str]]:
    """Key to `{"value", "file"}`, as set last; keys that no file sets are absent."""
    found: Dict[str, Dict[str, str]] = {}
    for path in _files(root):
        for key, value in _parse(path):
            found[key] = {"value": value, "file": path}
    return found


def _files(root: str) -> List[str]:
    """The main file of the first folder that has one, then the drop-ins by name."""
    folders = [os.path.join(root, folder.lstrip("/")) for folder in FOLDERS]
    mains = [path for path in (os.path.join(f, "logind.conf") for f in folders) if _is_file(path)]
    dropins: Dict[str, str] = {}
    for folder in reversed(folders):
        for path in glob.glob(os.path.join(folder, "logind.conf.d", "*.conf")):
            dropins[os.path.basename(path)] = path
    return mains[:1] + [dropins[name] for name in sorted(dropins)]


def _is_file(path: str) -> bool:
    return os.path.isfile(path)


def _parse(path: str) -> List[List[str]]:
    try:
        lines = proc.read_text(path).splitlines()
    except OSError:
        return []
    pairs = [
        line.strip().partition("=") for line in lines if not line.lstrip().startswith(("#", ";"))
    ]
    return [[key.strip(), value.strip()] for key, _, value in pairs if key.strip() in KEYS]


def _loginctl(user: str) -> Optional[Dict[str, str]]:
    """What logind itself says: without a user, `show-user` shows the manager's own settings."""
    path = find_command("loginctl")
    if path is None:
        return None
    found: Dict[str, str] = {}
    for arguments in ([user, "-p", "Linger"], [part for key in KEYS for part in ("-p", key)]):
        try:
            ended = children.run([path, "show-user", *arguments], TIMEOUT_S)
        except (children.HungError, OSError):
            continue
        pairs = (line.partition("=") for line in ended.stdout.splitlines() if "=" in line)
        found.update((key, value) for key, _, value in pairs)
    return found or None


def _session() -> Optional[str]:
    """The control group this agent is in: `session-N.scope` ends with the session."""
    try:
        lines = proc.read_text("/proc/self/cgroup").splitlines()
    except OSError:
        return None
    return next((line.rpartition(":")[2] for line in reversed(lines)), None)
