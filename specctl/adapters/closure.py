"""Which modules a streamed module needs: itself, its packages, and whatever those import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_RELATIVE = re.compile(
    r"^[ \t]*from (?P<dots>\.+)(?P<module>[\w.]*) import (?:\((?P<many>[^)]*)\)|(?P<one>[^\n#]+))",
    re.MULTILINE,
)
"""The agent imports its own modules in no other way; parsing would take a hundred times as long."""

_NAME = re.compile(r"(\w+)(?: as \w+)?")


def closure(names: tuple[str, ...], sources: Mapping[str, str]) -> dict[str, str]:
    """The sources of `names` and of all they import, directly or not, at any place in them."""
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in sources and name not in found:
            found[name] = sources[name]
            waiting += imports_of(name, sources)
    return dict(sorted(found.items()))


def imports_of(name: str, sources: Mapping[str, str]) -> Iterator[str]:
    """Its package, and every name that it may import a module by."""
    is_package = any(other.startswith(f"{name}.") for other in sources)
    package = name if is_package else name.rpartition(".")[0]
    yield package
    for match in _RELATIVE.finditer(sources[name]):
        parents = package.split(".")[: 1 - len(match["dots"]) or None]
        target = ".".join([*parents, match["module"]] if match["module"] else parents)
        yield target
        yield from (f"{target}.{one}" for one in _NAME.findall(match["many"] or match["one"]))
