"""Algorithms that plugins add."""

_RESERVED_ALIASES = frozenset({"NEXTN"})
_REGISTRY = {}


def find_plugin(name):
    """The plugin's algorithm of this name, or None."""
    return _REGISTRY.get(name.upper())
