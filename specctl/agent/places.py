"""Where things are on this host: the `environment` and `commands` ops."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from . import asked

EXTRA_PATH = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/local/cuda/bin",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/bin",
    "/opt/bin",
)
"""Searched after PATH, which is short where no login shell read its files."""


def environment(params: Dict[str, Any], cancelled: Any) -> Dict[str, Optional[str]]:
    """The agent's own value of each variable, None where it is not set."""
    del cancelled
    return {name: os.environ.get(name) for name in asked.texts(params, "names")}


def commands(params: Dict[str, Any], cancelled: Any) -> Dict[str, Optional[str]]:
    """Per name the absolute path of the command, None where there is none."""
    del cancelled
    return {name: find_command(name) for name in asked.texts(params, "names")}


def find_command(name: str) -> Optional[str]:
    """The first executable file called `name` in PATH or in the usual folders."""
    for folder in search_path():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def search_path() -> List[str]:
    """The folders of PATH, then the usual ones, each once; relative ones are left out."""
    folders = os.environ.get("PATH", "").split(os.pathsep) + list(EXTRA_PATH)
    return [f for f in dict.fromkeys(folders) if f.startswith("/")]
