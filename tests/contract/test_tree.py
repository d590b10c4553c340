"""The source tree that is laid into a lab host reads as one of its release does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.domain.versions import read_version
from specctl.lab.declaring import field_of
from specctl.lab.dialects import VERSIONS, read_dialect_data
from specctl.lab.laying import lay_tree
from specctl.services.inspection import read_tree_here

if TYPE_CHECKING:
    from pathlib import Path

ALGORITHMS = {
    "0.5.23": {
        "DFLASH", "UNO", "DSPARK", "EAGLE", "EAGLE3", "FROZEN_KV_MTP", "STANDALONE", "NGRAM",
    },
    "0.5.10": {"EAGLE", "EAGLE3", "STANDALONE", "NGRAM"},
    "0.5.2": {"EAGLE", "EAGLE3", "STANDALONE"},
}  # fmt: skip


@pytest.fixture(params=VERSIONS)
def laid(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    packages = tmp_path / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    return request.param, lay_tree(packages, request.param)


async def test_it_is_read_without_a_problem(laid: tuple[str, Path]) -> None:
    version, package = laid
    tree = await read_tree_here(package)
    assert (tree.version, tree.problems) == (version, ())
    assert {one.name for one in tree.algorithms} == ALGORITHMS[version]
    workers = {one.name: one.worker for one in tree.algorithms}
    assert all(workers.values()), workers


async def test_n_grams_are_found_with_their_files(laid: tuple[str, Path]) -> None:
    version, package = laid
    found = (await read_tree_here(package)).algorithm("NGRAM")
    if version == "0.5.2":
        assert found is None
        return
    assert found is not None
    assert "srt/speculative/ngram_worker.py" in found.files
    assert "srt/speculative/cpp_ngram/ngram_corpus.py" in found.files
    assert [file for file in found.files if file.endswith("ngram_corpus/trie.cpp")]
    assert not [file for file in found.files if "eagle" in file]


async def test_every_flag_of_the_command_line_is_declared(laid: tuple[str, Path]) -> None:
    version, package = laid
    tree = await read_tree_here(package)
    rows = read_dialect_data(version, "flags")
    assert {flag.name for flag in tree.flags} == {row["names"][0] for row in rows}
    for row in rows:
        flag = tree.flag(row["names"][0])
        assert flag is not None
        assert flag.field_name == field_of(row)
        assert flag.aliases == tuple(row["names"][1:])
        assert flag.choices == (tuple(map(str, row["choices"])) if "choices" in row else None)


async def test_what_the_server_refuses_is_found_in_it(laid: tuple[str, Path]) -> None:
    version, package = laid
    if (read_version(version) or ()) < (0, 5, 20, 0):
        return
    found = (await read_tree_here(package)).algorithm("NGRAM")
    assert found is not None
    words = [one.words for one in found.restrictions]
    assert [one for one in words if "does not support dp attention" in one]
    assert {one.place.file for one in found.restrictions} == {"srt/arg_groups/speculative_hook.py"}
