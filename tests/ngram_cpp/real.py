"""The compiled matcher behind the interface of specctl's."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.ngram.automaton import SEPARATOR
from specctl.domain.ngram.draft_tree import DraftTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.ngram.settings import NgramSettings

SHIM = Path(__file__).parent / "shim.cpp"


def compile_matcher(tree: Path, into: Path) -> ctypes.CDLL:
    """The matcher of the SGLang package `tree` as a library; needs g++ with C++20."""
    (folder,) = tree.glob("**/csrc/ngram_corpus")
    is_fresh = not (folder / "suffix_automaton.cpp").exists()
    names = ("result.cpp", "trie.cpp", "ngram.cpp", "suffix_automaton.cpp")
    sources = (SHIM, *(folder / name for name in names[: 3 if is_fresh else 4]))
    options = ["-std=c++20", "-O2", "-fPIC", "-shared", "-pthread", "-w", f"-I{folder}"]
    options += ["-include", "cstddef"]  # which some releases use without including it
    variant = ("-DFRESH",) if is_fresh else ()
    library = into / "matcher.so"
    subprocess.run(("g++", *options, *variant, *sources, "-o", library), check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.matcher_new.restype = ctypes.c_void_p
    loaded.matcher_problem.restype = ctypes.c_char_p
    return loaded


def _array(tokens: Sequence[int]) -> ctypes.Array[ctypes.c_int32]:
    return (ctypes.c_int32 * len(tokens))(*tokens)


class RealMatcher:
    """As `specctl.domain.ngram.matcher.Matcher`."""

    def __init__(self, library: ctypes.CDLL, settings: NgramSettings) -> None:
        self.settings = settings
        self._library = library
        self._rids: dict[str, int] = {}
        self._handle = ctypes.c_void_p(
            library.matcher_new(
                ctypes.c_size_t(settings.capacity),
                ctypes.c_size_t(settings.max_trie_depth),
                ctypes.c_size_t(settings.min_bfs_breadth),
                ctypes.c_size_t(settings.max_bfs_breadth),
                ctypes.c_size_t(settings.num_draft_tokens),
                settings.match_type.encode(),
                ctypes.c_size_t(settings.external_sam_budget),
            )
        )
        if not self._handle:
            raise ValueError(library.matcher_problem().decode())

    def close(self) -> None:
        self._library.matcher_free(self._handle)

    def insert(self, tail: Sequence[int]) -> None:
        self._library.matcher_insert(self._handle, _array(tail), ctypes.c_size_t(len(tail)))

    def draft(self, rid: str, tail: Sequence[int], total_length: int) -> DraftTree:
        size = self.settings.num_draft_tokens
        tokens = (ctypes.c_int32 * size)()
        mask = (ctypes.c_uint8 * (size * size))()
        count = self._library.matcher_draft(
            self._handle,
            ctypes.c_int64(self._rids.setdefault(rid, len(self._rids))),
            _array(tail),
            ctypes.c_size_t(len(tail)),
            ctypes.c_size_t(total_length),
            tokens,
            mask,
        )
        if count != size:
            raise ValueError(self._library.matcher_problem().decode())
        return _read_tree(list(tokens), bytes(mask))

    def forget(self, rid: str) -> None:
        self._library.matcher_forget(self._handle, ctypes.c_int64(self._rids.get(rid, -1)))

    def reset(self) -> None:
        self._library.matcher_reset(self._handle)

    def add_corpus(self, name: str, documents: Sequence[Sequence[int]]) -> int:
        tokens: list[int] = []
        for document in documents:
            if document:
                tokens += [SEPARATOR, *document] if tokens else document
        count = ctypes.c_size_t(len(tokens))
        if self._library.matcher_load(self._handle, name.encode(), _array(tokens), count) != 0:
            raise ValueError(self._library.matcher_problem().decode())
        return len(tokens)

    def remove_corpus(self, name: str) -> None:
        self._library.matcher_unload(self._handle, name.encode())


def _read_tree(tokens: list[int], mask: bytes) -> DraftTree:
    """Nodes and parents from the rows of ancestors; a repeated child of the root is padding."""
    size = len(tokens)
    children: list[dict[int, int]] = [{} for _ in tokens]
    padding = 0
    for place in range(1, size):
        row = mask[place * size : place * size + place]
        parent = row.rindex(1)
        if tokens[place] in children[parent]:
            assert (parent, tokens[place]) == (0, 0)
            padding += 1
        else:
            children[parent][tokens[place]] = place
    return DraftTree(children, padding)
