from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from specctl.cli.inspection_text import algorithm_lines, flag_lines, heading, overview
from specctl.domain.missing import Missing, Why
from specctl.domain.source import Algorithm, Install
from specctl.services.inspection import Cost
from tests.unit.cli.source_examples import BREADTH, NGRAM, TREE

INSTALLS = (
    Install("/opt/venv/bin/python", TREE.path, "0.5.5", "editable", is_active=True),
    Install("/usr/bin/python3", "/usr/lib/sglang", None, "installed", is_active=False),
)


def shown(tree=TREE, installs=INSTALLS, cost=Cost(0.4, 241_000, is_from_cache=False)):  # noqa: B008
    opened: Any = SimpleNamespace(tree=tree, cost=cost)
    return heading("gpu8", opened, installs)


def test_the_heading_names_the_tree_its_edits_and_every_install():
    lines = shown()
    assert lines[0] == "gpu8  SGLang 0.5.5"
    assert "editable checkout, commit 9f3c0b7d2e11 with local edits" in lines[2]
    assert "241 kB in 0.40 s" in lines[2]
    assert "  ▲ not as installed: srt/speculative/ngram_worker.py" in lines
    rows = [line for line in lines if "python" in line and "sglang" in line]
    assert [row.split()[:3] for row in rows[1:]] == [
        ["●", "/opt/venv/bin/python", "0.5.5"], ["/usr/bin/python3", "—", "installed"],
    ]  # fmt: skip
    assert "  ▲ srt/models/mine.py  5242880 bytes: listed, not read" in lines


def test_one_install_is_not_listed_and_a_known_tree_costs_nothing():
    lines = shown(installs=INSTALLS[:1], cost=Cost(0.01, 0, is_from_cache=True))
    assert not [line for line in lines if "●" in line]
    assert "nothing transferred" in lines[2]


def test_what_is_not_known_is_a_dash_with_its_reason():
    missing = {
        "version": Missing(Why.NOT_SUPPORTED, "no file"),
        "commit": Missing(Why.ERROR, "git"),
    }
    lines = shown(replace(TREE, version=None, commit=None, missing=missing))
    assert lines[0] == "gpu8  SGLang — (not supported: no file)"
    assert "  commit —  error: git" in lines


def test_an_algorithm_of_a_plugin_is_told_apart():
    plugged = Algorithm("MINE", plugin="mine-1.0")
    tree = replace(TREE, algorithms=(*TREE.algorithms, plugged))
    row = next(
        line for line in overview(tree, with_files=False, with_flags=False) if "MINE" in line
    )
    assert row.split() == ["MINE", "of", "mine-1.0", "—", "—", "—", "—"]
    assert "registered by the plugin mine-1.0" in algorithm_lines(tree, plugged)[-1]


def test_an_algorithm_shows_only_its_own_flags():
    lines = "\n".join(algorithm_lines(TREE, NGRAM))
    assert "--speculative-ngram-max-bfs-breadth" in lines
    assert "REFUSES  1" in lines
    assert "if self.device != 'cuda'" in lines
    eagle = "\n".join(algorithm_lines(TREE, TREE.algorithms[0]))
    assert "ngram" not in eagle
    assert "--speculative-algorithm" in eagle


def test_defaults_and_long_choices_are_short():
    many = replace(BREADTH, choices=tuple(f"choice-{n}" for n in range(20)))
    required = replace(BREADTH, is_required=True)
    switch = replace(BREADTH, is_switch=True, default=False, is_deprecated=True)
    lines = flag_lines([many, required, switch])
    assert "+14" in lines[1]
    assert "required" in lines[2]
    assert "(deprecated)" in lines[3]
    assert " off " in lines[3]
