"""Every sampled release, read as a tree of this machine."""

from __future__ import annotations

import json
from functools import cache as once
from typing import TYPE_CHECKING, Any

import pytest

from specctl.services.inspection import open_tree_here
from tests.data import data_text
from tests.trees.expected import ALGORITHMS, WITHOUT_NEXTN, worker_file
from tests.trees.releases import ERAS, VERSIONS, release

if TYPE_CHECKING:
    from specctl.domain.source import Algorithm, Flag, Tree

pytestmark = pytest.mark.timeout(900)
EVERY = [
    pytest.param(version, marks=() if version in ERAS else (pytest.mark.trees,))
    for version in VERSIONS
]
RECORDED = json.loads(data_text("sglang/algorithms.json"))


@pytest.fixture(params=EVERY)
async def tree(request, cache) -> Tree:
    return (await open_tree_here(release(request.param), cache=cache)).tree


@once
def recorded_flags(version: str) -> dict[str, dict[str, Any]]:
    return dict(json.loads(data_text(f"sglang/flags/{version}.json")))


async def test_a_release_is_read_without_a_problem(tree):
    version = tree.version or ""
    assert tree.problems == ()
    assert tree.missing == {}
    assert {a.name for a in tree.algorithms} == set(ALGORITHMS[version])
    assert tree.has_speculation is (version != "0.4.1")
    nextn = [a.name for a in tree.algorithms if "NEXTN" in a.aliases]
    assert nextn == ([] if version in WITHOUT_NEXTN else ["EAGLE"])
    for algorithm in tree.algorithms:
        check_algorithm(tree, algorithm)
    check_flags(tree)
    if version in RECORDED:
        check_recorded(tree, version)


def check_algorithm(tree: Tree, one: Algorithm) -> None:
    where = f"{tree.version} {one.name}"
    file, _, name = (one.worker or "").partition(":")
    assert file == worker_file(tree.version or "", one.name), where
    assert name.endswith(("Worker", "WorkerV2")), where
    assert one.files[0] == file, where
    assert not [f for f in one.files if "__pycache__" in f or "spec_info" in f], where
    assert all(f in tree.files for f in one.files), where
    assert one.lines == sum(tree.files[f].lines or 0 for f in one.files), where
    assert one.restrictions, where
    assert (one.draft_architectures != ()) is (one.name not in {"NGRAM", "STANDALONE", "UNO"})
    has_matcher = any(f.endswith("ngram.cpp") for f in one.files)
    assert has_matcher is (one.name == "NGRAM"), where


def check_flags(tree: Tree) -> None:
    for flag in tree.flags:
        assert flag.name.startswith("--"), flag
        assert flag.place.file in tree.files, flag
        assert flag.place.line, flag
        assert flag.field_name.isidentifier(), flag
    spellings = [name for flag in tree.flags for name in flag.names]
    assert len(spellings) == len(set(spellings))
    model = tree.flag("--model-path")
    assert model is not None
    assert model.is_required
    has_algorithm = tree.flag("--speculative-algorithm") is not None
    assert has_algorithm is (tree.version != "0.4.1")


def check_recorded(tree: Tree, version: str) -> None:
    assert {a.name for a in tree.algorithms} == set(RECORDED[version]["algorithms"])
    aliases = {alias: a.name for a in tree.algorithms for alias in a.aliases}
    assert aliases == RECORDED[version]["aliases"]
    for name, row in recorded_flags(version).items():
        flag = tree.flag(name)
        assert flag is not None, name
        check_recorded_flag(flag, row)
    own = {f.name for f in tree.flags if f.name.startswith("--speculative-")}
    deprecated = {f.name for f in tree.flags if f.is_deprecated}
    assert own - deprecated <= set(recorded_flags(version))


def check_recorded_flag(flag: Flag, row: dict[str, Any]) -> None:
    found = {
        "type": flag.type,
        "default": flag.default,
        "aliases": list(flag.aliases),
        "file": flag.place.file,
        "line": flag.place.line,
    }
    assert found == {name: row[name] for name in found}, flag.name
    if "choices_constant" in row:
        assert len(flag.choices or ()) > 1, flag.name
    else:
        assert (None if flag.choices is None else list(flag.choices)) == row["choices"], flag.name


@pytest.mark.parametrize("version", ["0.5.9", "0.5.23"])
def test_there_is_a_record_of_both_ends(version):
    assert recorded_flags(version)


async def test_the_files_behind_an_algorithm_are_its_own(cache):
    tree = (await open_tree_here(release("0.5.23"), cache=cache)).tree
    again = await open_tree_here(release("0.5.23"), cache=cache)
    assert (again.tree == tree, again.cost.received_bytes) == (True, 0)
    counts = {a.name: len([f for f in a.files if f.endswith(".py")]) for a in tree.algorithms}
    assert counts["NGRAM"] == 17
    assert counts["EAGLE"] < 40
    folder = [f for f in tree.files if f.startswith("srt/speculative/")]
    assert max(counts.values()) < len(folder)


async def test_0_5_5_restricts_ngram_as_its_source_says(cache):
    opened = await open_tree_here(release("0.5.5"), cache=cache)
    ngram = opened.tree.algorithm("ngram")
    assert ngram is not None
    rules = {(r.kind, r.effect): r for r in ngram.restrictions}
    device = rules["device", "refused"]
    assert "only supports CUDA" in device.words
    assert device.condition == "not self.device.startswith('cuda')"
    line = opened.texts[device.place.file].split("\n")[(device.place.line or 0) - 1]
    assert "raise ValueError" in line
    assert ("dp-attention", "refused") in rules
    assert ("page-size", "refused") in rules
    rewritten = [r.words for r in ngram.restrictions if r.effect == "rewritten"]
    assert "speculative_eagle_topk = self.speculative_ngram_max_bfs_breadth" in rewritten
    assert "max_running_requests = 48" in rewritten


async def test_what_eagle_asserts_without_words_is_shown_as_its_condition(cache):
    tree = (await open_tree_here(release("0.4.6.post5"), cache=cache)).tree
    eagle = tree.algorithm("NEXTN")
    assert eagle is not None
    asserted = [r.words for r in eagle.restrictions if r.effect == "asserted"]
    assert any(words.startswith("assert self.speculative_eagle_topk is None") for words in asserted)
