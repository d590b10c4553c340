"""Which files implement an algorithm: what its worker imports when it is imported.

Imports inside functions are left out, and so are the two files that know every algorithm: with
them each algorithm would come to the whole folder. C++ and CUDA files are never imported; they
are found by the names that the Python files give them, and with their whole folder where that
folder is one matcher's alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.facts.source.imports import imports_in, imports_of_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from specctl.facts.source.texts import Texts

_NOT_FOLLOWED = frozenset({"srt/speculative/spec_info.py", "srt/speculative/spec_registry.py"})
_FOLLOWED = (
    "srt/speculative/",
    "kernels/ops/speculative/",
    "jit_kernel/ngram_corpus.py",
)
_NATIVE_NAME = re.compile(r"""["']([\w./-]*\w\.(?:cpp|cc|cuh?|hpp|h))["']""")
_NATIVE_FILE = re.compile(r"\.(?:cpp|cc|cuh?|hpp|h)$")
_MATCHER = "cpp_ngram/"
_MATCHER_FOLDERS = ("srt/speculative/cpp_ngram/", "csrc/ngram_corpus/")


class Closures:
    """The files behind workers; each file's imports are read once."""

    def __init__(self, texts: Texts, files: Collection[str]) -> None:
        self._texts = texts
        self._native = [f for f in sorted(files) if _NATIVE_FILE.search(f)]
        self._imports: dict[str, tuple[str, ...]] = {}
        self._natives: dict[str, frozenset[str]] = {}

    def of(self, file: str) -> tuple[str, ...]:
        """The files behind the worker in `file`, itself first, native ones last."""
        found, todo = {file: None}, [file]
        while todo:
            for name in self._imported_by(todo.pop()):
                if name not in found:
                    found[name] = None
                    todo.append(name)
        python = [name for name in found if name in self._texts]
        others = sorted(name for name in python if name != file)
        return (*python[:1], *others, *self._native_of(python))

    def _imported_by(self, file: str) -> tuple[str, ...]:
        if file not in self._imports:
            self._imports[file] = tuple(dict.fromkeys(self._read(file)))
        return self._imports[file]

    def _read(self, file: str) -> Iterator[str]:
        for name in self._modules(file):
            found = self._texts.file_of(name) or ""
            if found.startswith(_FOLLOWED) and found not in _NOT_FOLLOWED:
                yield found

    def _modules(self, file: str) -> Iterator[str]:
        if self._texts.is_pristine(file):
            return imports_of_lines(self._texts.text(file), file)
        module = self._texts.module(file)
        return imports_in(module, file) if module is not None else iter(())

    def _native_of(self, files: Iterable[str]) -> list[str]:
        found: set[str] = set()
        for file in files:
            if file not in self._natives:
                self._natives[file] = frozenset(self._named_by(file))
            found |= self._natives[file]
        return sorted(found)

    def _named_by(self, file: str) -> Iterator[str]:
        for name in set(_NATIVE_NAME.findall(self._texts.text(file))):
            ending = "/" + name.lstrip("./")
            yield from (native for native in self._native if ("/" + native).endswith(ending))
        if _MATCHER in file or file.endswith("/ngram_corpus.py"):
            yield from (n for n in self._native if any(part in n for part in _MATCHER_FOLDERS))
