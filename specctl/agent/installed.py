"""An installed SGLang as its files show it: a normal or an editable install, or a path entry."""

from __future__ import annotations

import glob
import json
import os
import re
from typing import Any, Dict, Iterator, List, Optional
from urllib.parse import unquote, urlparse

from . import proc

_VERSION_LINE = re.compile(
    r"^(?:__version__|version)\s*(?::\s*\w+\s*)?=[^'\"\n]*['\"]([^'\"]+)['\"]", re.M
)
_METADATA_VERSION = re.compile(r"^Version:\s*(\S+)", re.M)
_QUOTED_PATH = re.compile(r"['\"](/[^'\"\n]+)['\"]")


def find_sglang(folders: List[str]) -> Optional[Dict[str, Any]]:
    """{version, path, how} of the SGLang in these site folders, or None."""
    for folder in folders:
        package = os.path.join(folder, "sglang")
        metadata = _metadata(folder)
        if os.path.isfile(os.path.join(package, "__init__.py")):
            version = _metadata_version(metadata) or source_version(package)
            return {"version": version, "path": package, "how": "installed"}
        for root in _editable_roots(folder, metadata):
            for package in (os.path.join(root, "sglang"), os.path.join(root, "python", "sglang")):
                if os.path.isdir(package):
                    version = source_version(package) or _metadata_version(metadata)
                    return {"version": version, "path": package, "how": "editable"}
    return None


def _metadata(folder: str) -> Optional[str]:
    found = glob.glob(os.path.join(folder, "sglang-*.dist-info"))
    found += glob.glob(os.path.join(folder, "sglang-*.egg-info"))
    return max(found, key=os.path.getmtime) if found else None


def _metadata_version(metadata: Optional[str]) -> Optional[str]:
    if metadata is None:
        return None
    for name in ("METADATA", "PKG-INFO"):
        text = _text(os.path.join(metadata, name))
        match = _METADATA_VERSION.search(text.partition("\n\n")[0])
        if match:
            return match.group(1)
    return None


def source_version(package: str) -> Optional[str]:
    """The version a source tree gives itself; an editable install's metadata may be older."""
    for name in ("_version.py", "version.py"):
        match = _VERSION_LINE.search(_text(os.path.join(package, name)))
        if match:
            return match.group(1)
    return None


def _editable_roots(folder: str, metadata: Optional[str]) -> Iterator[str]:
    """Folders that an editable install or a .pth file adds."""
    if metadata is not None:
        yield from _direct_url(metadata)
    for path in sorted(glob.glob(os.path.join(folder, "*.pth")))[:100]:
        for line in _text(path).splitlines():
            if line.startswith("/"):
                yield line.strip()
    for path in glob.glob(os.path.join(folder, "__editable__*sglang*finder.py")):
        for root in _QUOTED_PATH.findall(_text(path)):
            yield os.path.dirname(root) if os.path.basename(root) == "sglang" else root
    for path in glob.glob(os.path.join(folder, "sglang*.egg-link")):
        yield _text(path).partition("\n")[0].strip()


def _direct_url(metadata: str) -> Iterator[str]:
    """PEP 610: where an editable install came from."""
    try:
        record = json.loads(_text(os.path.join(metadata, "direct_url.json")) or "{}")
        is_editable = record.get("dir_info", {}).get("editable") is True
        url = urlparse(record.get("url", ""))
    except (ValueError, AttributeError):
        return
    if is_editable and url.scheme == "file":
        yield unquote(url.path)


def _text(path: str) -> str:
    try:
        return proc.read_text(path)
    except OSError:
        return ""
