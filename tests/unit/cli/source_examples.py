"""Examples of what `inspect` and `source` print, from one small tree."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from specctl.cli import inspection_text
from specctl.cli.inspection import Asked
from specctl.domain.plain import plain
from specctl.domain.published_source import (
    FoundFiles,
    InspectedDifference,
    SourceMatch,
    SourceText,
    compared_tree,
    shown_flag,
)
from specctl.domain.source import (
    Algorithm,
    Flag,
    Install,
    Place,
    ReadingProblem,
    Restriction,
    Tree,
    TreeFile,
)
from specctl.domain.source_difference import compare_trees
from specctl.services.inspection import Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WORKER = "srt/speculative/ngram_worker.py"
RULE = Restriction(
    "device",
    "Ngram speculative decoding only supports CUDA device.",
    Place("srt/server_args.py", 1617),
    "refused",
    "self.device != 'cuda'",
)
NGRAM = Algorithm(
    name="NGRAM",
    worker=f"{WORKER}:NGRAMWorker",
    files=(WORKER, "srt/speculative/cpp_ngram/ngram.cpp"),
    lines=900,
    restrictions=(RULE,),
    place=Place("srt/speculative/spec_info.py", 313),
)
EAGLE = Algorithm(
    name="EAGLE",
    aliases=("NEXTN",),
    worker="srt/speculative/eagle_worker.py:EAGLEWorker",
    other_workers=("srt/speculative/eagle_worker_v2.py:EAGLEWorkerV2",),
    files=("srt/speculative/eagle_worker.py",),
    lines=400,
    draft_architectures=("LlamaForCausalLMEagle",),
    place=Place("srt/speculative/spec_info.py", 294),
)
BREADTH = Flag(
    name="--speculative-ngram-max-bfs-breadth",
    type="int",
    default=10,
    place=Place("srt/server_args.py", 2796),
    help="The maximum breadth for BFS (Breadth-First Search).",
    field_name="speculative_ngram_max_bfs_breadth",
)
ALGORITHM = Flag(
    name="--speculative-algorithm",
    type="str",
    choices=("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM"),
    place=Place("srt/server_args.py", 2698),
    field_name="speculative_algorithm",
)
FILES = {
    WORKER: TreeFile(24_310, "0f" * 16, 612),
    "srt/speculative/cpp_ngram/ngram.cpp": TreeFile(11_204, "1e" * 16, 288),
    "srt/speculative/eagle_worker.py": TreeFile(17_804, "2d" * 16, 400),
}
TREE = Tree(
    path="/sgl-workspace/sglang/python/sglang",
    version="0.5.5",
    tree_hash="a4" * 16,
    algorithms=(EAGLE, NGRAM),
    flags=(ALGORITHM, BREADTH),
    problems=(ReadingProblem(Place("srt/models/mine.py"), "5242880 bytes: listed, not read"),),
    commit="9f3c0b7d2e114a5f8c6b0a9d7e5f4c3b2a190817-dirty",
    is_editable=True,
    files=FILES,
    edited=("srt/speculative/ngram_worker.py",),
)
NEWER = replace(
    TREE,
    path="/opt/venv/lib/python3.11/site-packages/sglang",
    version="0.5.12",
    tree_hash="b5" * 16,
    algorithms=(EAGLE, replace(NGRAM, files=(WORKER,)), Algorithm("DFLASH")),
    flags=(replace(ALGORITHM, choices=None),),
    files={**FILES, WORKER: TreeFile(25_000, "3c" * 16, 630)},
)


def inspected() -> dict[str, Any]:
    opened: Any = SimpleNamespace(tree=TREE, cost=Cost(0.41, 241_576, is_from_cache=False))
    installs = (
        Install("/opt/venv/bin/python", TREE.path, "0.5.5", "editable", is_active=True),
        Install("/usr/bin/python3", "/usr/lib/sglang", None, "installed", is_active=False),
    )
    return inspection_text.as_json(opened, installs, Asked("gpu8"), None)


def found() -> dict[str, Any]:
    files = tuple(FILES)[:2]
    return dict(plain(FoundFiles("ngram", TREE.path, files, (shown_flag(BREADTH),), ("NGRAM",))))


def difference() -> dict[str, Any]:
    differing = compare_trees(TREE, NEWER)
    return dict(
        plain(
            InspectedDifference(
                compared_tree("gpu8", TREE),
                compared_tree("0.5.12", NEWER),
                differing.algorithms,
                differing.flags,
                differing.files,
                "--- gpu8\n+++ 0.5.12\n@@ -1 +1 @@\n-a\n+b",
            )
        )
    )


def searched() -> dict[str, Any]:
    matches = (SourceMatch(WORKER, 41, "class NGRAMWorker:"),)
    return dict(plain(SourceText(TREE.path, None, None, None, None, matches, "matches", 679)))


SOURCE_EXAMPLES: Mapping[str, Callable[[], dict[str, Any]]] = {
    "inspect": inspected,
    "found": found,
    "difference": difference,
    "source": searched,
}
