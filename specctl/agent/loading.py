"""The `load` op: more modules for this process, such as a pynvml the host lacks."""

from __future__ import annotations

import sys
from typing import Any, Dict

from .bootstrap import MemoryFinder
from .protocol import OpError

LOADED = MemoryFinder({})
"""Asked last, so that what the host has itself wins."""


def load(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Make `modules` (name to source) importable where the host has none of that name."""
    del cancelled
    modules = params.get("modules")
    if not isinstance(modules, dict) or not all(isinstance(s, str) for s in modules.values()):
        raise OpError("bad_request", "modules must map names to source texts")
    LOADED.add(modules)
    if LOADED not in sys.meta_path:
        sys.meta_path.append(LOADED)
    return {}
