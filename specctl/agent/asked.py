"""Reading an op's parameters, with a `bad_request` that names the wrong one."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from .protocol import OpError


def text(params: Dict[str, Any], name: str) -> str:
    """A required text."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise OpError("bad_request", "%s must be a text" % name)
    return value


def texts(params: Dict[str, Any], name: str) -> List[str]:
    """A list of texts; empty when absent."""
    value = params.get(name) or []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise OpError("bad_request", "%s must be a list of texts" % name)
    return value


def integers(params: Dict[str, Any], name: str) -> List[int]:
    """A list of integers; empty when absent."""
    value = params.get(name) or []
    if not isinstance(value, list) or not all(type(item) is int for item in value):
        raise OpError("bad_request", "%s must be a list of integers" % name)
    return value


def integer(params: Dict[str, Any], name: str, default: int) -> int:
    """An integer."""
    value = params.get(name, default)
    if type(value) is not int:
        raise OpError("bad_request", "%s must be an integer" % name)
    return value


def seconds(params: Dict[str, Any], name: str, default: float, least: float) -> float:
    """A duration of at least `least`."""
    value = params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
        raise OpError("bad_request", "%s must be at least %g seconds" % (name, least))
    return float(value)


def optional_text(params: Dict[str, Any], name: str) -> Optional[str]:
    """A text or None."""
    return None if params.get(name) is None else text(params, name)


def switch(params: Dict[str, Any], name: str) -> bool:
    """A boolean; false when absent."""
    value = params.get(name, False)
    if not isinstance(value, bool):
        raise OpError("bad_request", "%s must be true or false" % name)
    return value
