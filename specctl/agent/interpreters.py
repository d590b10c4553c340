"""The `interpreters` op: which Pythons of this host have SGLang, without running any of them.

A Python's packages are found where its layout puts them; nothing is imported or started.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import asked, proc
from .installed import find_sglang
from .places import search_path

HOMES = (
    "~/venv*",
    "~/.venv*",
    "~/*/venv",
    "~/*/.venv",
    "~/envs/*",
    "~/.virtualenvs/*",
    "~/*conda3",
    "~/*conda3/envs/*",
    "~/*forge*",
    "~/*forge*/envs/*",
    "~/.conda/envs/*",
    "~/.pyenv/versions/*",
    "~/.local/share/uv/python/*",
    "~/.local/share/mamba/envs/*",
)
SHARED = (
    "/opt/conda",
    "/opt/conda/envs/*",
    "/opt/*conda3",
    "/opt/*conda3/envs/*",
    "/opt/*venv*",
    "/opt/*/venv",
    "/opt/*/.venv",
    "/opt/python*",
    "/sgl-workspace",
    "/sgl-workspace/*venv*",
    "/sgl-workspace/*/.venv",
    "/workspace/*venv*",
    "/venv*",
    "/usr/local",
    "/usr",
)
NAMES = ("python3", "python")
CANDIDATES_MAX = 200


def interpreters(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Every Python found, with its SGLang or None; `tried` says where was looked."""
    found: List[Dict[str, Any]] = []
    tried: List[str] = []
    seen: Dict[Tuple[str, str], Dict[str, Any]] = {}
    for path, how in _candidates(asked.texts(params, "extra")):
        if cancelled.is_set() or len(tried) >= CANDIDATES_MAX:
            break
        if path not in tried:
            tried.append(path)
            row = describe(path, how)
            if row is not None and seen.setdefault(_key(row), row) is row:
                found.append(row)
    found.sort(key=lambda row: row["sglang"] is None)
    return {"found": found, "tried": tried}


def _key(row: Dict[str, Any]) -> Tuple[str, str]:
    """Python and python3 of one folder are one; a venv is not its base."""
    return os.path.dirname(row["path"]), os.path.realpath(row["path"])


def _candidates(extra: List[str]) -> Iterator[Tuple[str, str]]:
    for path in extra:
        expanded = os.path.expanduser(path)
        if os.path.isdir(expanded):
            yield from _in_folder(expanded, "named")
        else:
            yield expanded, "named"
    yield from _running()
    yield sys.executable, "agent"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            yield from _in_folder(os.environ[variable], variable)
    for folder in search_path():
        for name in NAMES:
            yield os.path.join(folder, name), "PATH"
    for folder in _conda_environments():
        yield from _in_folder(folder, "conda")
    for pattern in HOMES + SHARED:
        for folder in sorted(glob.glob(os.path.expanduser(pattern))):
            yield from _in_folder(folder, "folder")


def _in_folder(folder: str, how: str) -> Iterator[Tuple[str, str]]:
    for name in NAMES:
        path = os.path.join(folder, "bin", name)
        if os.path.exists(path):
            yield path, how
            return


def _conda_environments() -> List[str]:
    """The environments that conda notes for its user."""
    try:
        text = proc.read_text(os.path.expanduser("~/.conda/environments.txt"))
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip().startswith("/")]


def _running() -> Iterator[Tuple[str, str]]:
    """The Pythons of running SGLang processes.

    A venv's `exe` link names its base, so the command line and the environment come first.
    """
    for pid in proc.pids():
        arguments = proc.argv(pid)
        if not any("sglang" in argument for argument in arguments) or proc.is_practice(pid):
            continue
        first = arguments[0]
        if first.startswith("/") and "python" in os.path.basename(first):
            yield first, "running"
            continue
        environment = proc.environment(pid) or {}
        for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            if environment.get(variable):
                yield from _in_folder(environment[variable], "running")
        executable = proc.link(pid, "exe")
        if executable and "python" in os.path.basename(executable):
            yield executable, "running"


def describe(path: str, how: str) -> Optional[Dict[str, Any]]:
    """One Python, or None when there is none at `path`."""
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        return None
    layout = find_layout(path)
    if layout is None:
        return None
    version, folders = layout
    return {"path": path, "version": version, "sglang": find_sglang(folders), "how": how}


def find_layout(path: str) -> Optional[Tuple[str, List[str]]]:
    """(version, site folders) of the Python at `path`, by what lies beside it."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    settings = _venv_settings(prefix)
    if settings is None:
        base = os.path.dirname(os.path.dirname(os.path.realpath(path)))
        version = _version_of(path, base)
        return None if version is None else (version, _sites(base, version) + _user_site(version))
    version = settings.get("version") or settings.get("version_info") or ""
    short = ".".join(version.split(".")[:2]) or _version_of(path, prefix)
    if not short:
        return None
    folders = _sites(prefix, short)
    if settings.get("include-system-site-packages") == "true" and settings.get("home"):
        folders += _sites(os.path.dirname(settings["home"]), short) + _user_site(short)
    return version or short, folders


def _venv_settings(prefix: str) -> Optional[Dict[str, str]]:
    try:
        text = proc.read_text(os.path.join(prefix, "pyvenv.cfg"))
    except OSError:
        return None
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version_of(path: str, prefix: str) -> Optional[str]:
    """`3.11`, from the name of the real file, else from the one library folder there is."""
    match = re.search(r"python(3\.\d+)$", os.path.realpath(path))
    if match:
        return match.group(1)
    folders = glob.glob(os.path.join(prefix, "lib", "python3.*"))
    names = {os.path.basename(folder)[len("python") :] for folder in folders}
    return names.pop() if len(names) == 1 else None


def _sites(prefix: str, version: str) -> List[str]:
    """Where a Python below `prefix` looks for packages, Debian's folders included."""
    short = "python" + ".".join(version.split(".")[:2])
    folders = [os.path.join(prefix, lib, short, "site-packages") for lib in ("lib", "lib64")]
    if prefix == "/usr":
        folders += [
            "/usr/local/lib/%s/dist-packages" % short,
            "/usr/local/lib/%s/site-packages" % short,
            "/usr/lib/python3/dist-packages",
        ]
    return [folder for folder in folders if os.path.isdir(folder)]


def _user_site(version: str) -> List[str]:
    short = "python" + ".".join(version.split(".")[:2])
    folder = os.path.expanduser("~/.local/lib/%s/site-packages" % short)
    return [folder] if os.path.isdir(folder) else []
