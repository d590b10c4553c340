"""Where the package of an interpreter lies, what its metadata says, and who extends it."""

from __future__ import annotations

import glob
import os
import re
from typing import Any, Dict, Iterator, List, Optional, Pattern, Tuple

from . import proc
from .checkout import read_checkout
from .installed import find_sglang
from .interpreters import find_layout
from .places import find_command
from .protocol import OpError

PACKAGE = "sglang"
PLUGINS_MAX = 50
PLUGIN_FILES_MAX = 2000
PLUGIN_BYTES_MAX = 256 << 10


def find_place(python: Optional[str], root: Optional[str]) -> Dict[str, Any]:
    """`{path, how, python, metadata, folders}` of an interpreter's package, or of a folder's."""
    if root is not None:
        return _of_folder(os.path.abspath(os.path.expanduser(root)))
    path = _interpreter(os.path.expanduser(python or ""))
    layout = find_layout(path)
    folders = layout[1] if layout is not None else []
    found = find_sglang(folders)
    if found is None:
        raise OpError("not_found", "%s has no %s" % (path, PACKAGE))
    return _place(found["path"], found["how"], path, folders)


def _interpreter(path: str) -> str:
    """A Python by its path or its name, or the one of an environment's folder."""
    if "/" not in path:
        path = find_command(path) or path
    if os.path.isdir(path):
        for name in ("python3", "python"):
            inner = os.path.join(path, "bin", name)
            if os.path.exists(inner):
                return inner
        raise OpError("not_found", "%s holds no bin/python" % path)
    if not os.path.isfile(path):
        raise OpError("not_found", "there is no interpreter %s" % path)
    return path


def _of_folder(root: str) -> Dict[str, Any]:
    """The package that a folder is or holds: a package, a site-packages, a checkout, a venv."""
    if not os.path.isdir(root):
        raise OpError("not_found", "there is no folder %s" % root)
    if os.path.basename(root) == PACKAGE and os.path.isdir(os.path.join(root, "srt")):
        return _place(root, "folder", None, [os.path.dirname(root)])
    for inner in (PACKAGE, os.path.join("python", PACKAGE)):
        path = os.path.join(root, inner)
        if os.path.isdir(os.path.join(path, "srt")):
            return _place(path, "folder", None, [os.path.dirname(path)])
    folders = sorted(glob.glob(os.path.join(root, "lib*", "python3*", "site-packages")))
    found = find_sglang(folders)
    if found is not None:
        return _place(found["path"], found["how"], None, folders)
    if os.path.isdir(os.path.join(root, "srt")):
        return _place(root, "folder", None, [os.path.dirname(root)])
    raise OpError("not_found", "there is no %s in %s" % (PACKAGE, root))


def _place(path: str, how: str, python: Optional[str], folders: List[str]) -> Dict[str, Any]:
    metadata = []
    for folder in [*folders, os.path.dirname(path)]:
        for pattern in (PACKAGE + "-*.dist-info", PACKAGE + "-*.egg-info"):
            metadata += glob.glob(os.path.join(glob.escape(folder), pattern))
    metadata.sort(key=_modified, reverse=True)
    return {
        "path": os.path.abspath(path),
        "how": how,
        "python": python,
        "metadata": list(dict.fromkeys(os.path.basename(name) for name in metadata))[:20],
        "folders": folders,
        "checkout": read_checkout(path) if how != "installed" else None,
    }


def read_record(folders: List[str], metadata: List[str]) -> Dict[str, str]:
    """Name relative to the package to what pip recorded as its SHA-256 (PEP 376); often empty."""
    for folder in folders:
        for name in metadata[:1]:
            try:
                text = proc.read_bytes(os.path.join(folder, name, "RECORD"), 8 << 20)
            except OSError:
                continue
            return dict(_recorded(text.decode("utf-8", "replace")))
    return {}


def _recorded(text: str) -> Iterator[Tuple[str, str]]:
    before = PACKAGE + "/"
    for line in text.splitlines():
        path, _, rest = line.partition(",sha256=")
        if rest and path.startswith(before):
            yield path[len(before) :], rest.partition(",")[0]


def _modified(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0


def find_plugins(folders: List[str], groups: List[str], wanted: Pattern[str]) -> List[Any]:
    """Entry points of these groups, each with the texts of its package that match `wanted`."""
    found: List[Any] = []
    for folder in folders:
        for file in sorted(glob.glob(os.path.join(glob.escape(folder), "*.dist-info"))):
            for group, name, value in _entries(os.path.join(file, "entry_points.txt"), groups):
                if len(found) < PLUGINS_MAX:
                    found.append(
                        {
                            "distribution": os.path.basename(file)[: -len(".dist-info")],
                            "group": group,
                            "name": name,
                            "value": value,
                            "texts": _plugin_texts(folders, value, wanted),
                        }
                    )
    return found


def _entries(path: str, groups: List[str]) -> Iterator[Tuple[str, str, str]]:
    try:
        text = proc.read_text(path)
    except OSError:
        return
    group = ""
    for line in text.splitlines():
        header = re.match(r"\s*\[(.+)\]\s*$", line)
        if header:
            group = header.group(1).strip()
        elif group in groups and "=" in line:
            name, _, value = line.partition("=")
            yield group, name.strip(), value.strip()


def _plugin_texts(folders: List[str], value: str, wanted: Pattern[str]) -> Dict[str, str]:
    top = value.partition(":")[0].strip().partition(".")[0]
    if not top.isidentifier():
        return {}
    texts: Dict[str, str] = {}
    for folder in [*folders, *_path_entries(folders)]:
        for file in _python_files(folder, top):
            if len(texts) >= PLUGINS_MAX:
                break
            try:
                text = proc.read_bytes(file, PLUGIN_BYTES_MAX).decode("utf-8", "replace")
            except OSError:
                continue
            if wanted.search(text):
                texts[os.path.relpath(file, folder)] = text
        if texts:
            break
    return texts


def _path_entries(folders: List[str]) -> Iterator[str]:
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.pth")))[:100]:
            try:
                lines = proc.read_text(path).splitlines()
            except OSError:
                continue
            for line in lines:
                if line.startswith("/"):
                    yield line.strip()


def _python_files(folder: str, top: str) -> Iterator[str]:
    single = os.path.join(folder, top + ".py")
    if os.path.isfile(single):
        yield single
    seen = 0
    for place, folders, names in os.walk(os.path.join(folder, top)):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            seen += 1
            if seen > PLUGIN_FILES_MAX:
                return
            if name.endswith(".py"):
                yield os.path.join(place, name)
