from __future__ import annotations

import ast

import pytest

from specctl.adapters.bundle import agent_modules, modules_of, oneshot_modules
from specctl.adapters.closure import closure, imports_of

SOURCES = {**agent_modules(), **oneshot_modules()}
ONESHOTS = sorted(name for name in SOURCES if ".oneshot." in name)


def _parsed_imports(name):
    """The same by Python's own parser: what of these modules a module imports, anywhere in it."""
    package = (
        name if name in ("specctl_agent", "specctl_agent.oneshot") else name.rpartition(".")[0]
    )
    for node in ast.walk(ast.parse(SOURCES[name])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = parents[: len(parents) - node.level + 1] if node.level else []
            target = ".".join([*base, node.module] if node.module else base)
            yield target
            yield from (f"{target}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_import_of_the_agents_modules_is_seen(name):
    wanted = {found for found in _parsed_imports(name) if found in SOURCES}
    assert wanted <= set(imports_of(name, SOURCES))


@pytest.mark.parametrize("name", ONESHOTS)
def test_a_one_shot_carries_all_it_imports_and_no_more_than_it_may_need(name):
    carried = modules_of(name)
    assert {name, "specctl_agent", "specctl_agent.oneshot", "specctl_agent.bootstrap"} <= set(
        carried
    )
    for module in carried:
        assert {found for found in _parsed_imports(module) if found in SOURCES} <= set(carried)
    assert "specctl_agent.nvml" not in carried


def test_a_closure_follows_every_form_of_import():
    sources = {
        "a": "",
        "a.b": "from . import c\ndef f():\n  from .d import (\n    x,\n    y as z,\n  )\n",
        "a.c": "from .e import f as g  # noqa\n",
        "a.d": "import json\n",
        "a.e": "",
        "a.p": "",
        "a.p.q": "from .. import e\nfrom ..c import g\n",
        "a.other": "",
    }
    assert set(closure(("a.b",), sources)) == {"a", "a.b", "a.c", "a.d", "a.e"}
    assert set(closure(("a.p.q",), sources)) == {"a", "a.p", "a.p.q", "a.e", "a.c"}
