"""The texts of a tree, parsed when first needed; what cannot be parsed is said once."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from specctl.domain.source import Place, ReadingProblem
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PACKAGE = "sglang"
MENTION = "specul"
"""Stands in every file of arguments that has to do with speculation."""

_IMPORTED = ("srt/speculative/", "kernels/ops/speculative/")
_ARGUMENTS = ("srt/arg_groups/", "srt/server_args.py")


class Texts:
    """Texts by their path relative to the package, and what went wrong with them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._modules: dict[str, ast.Module | None] = {}
        self._pristine: set[str] = set()
        self.problems: list[ReadingProblem] = []

    def prepare(self, files: Iterable[str], pristine: Iterable[str] = ()) -> None:
        """Parse those of some files that will be needed, while others may still be on their way.

        `pristine` are files that are as they were released, and so are known to be sound.
        """
        self._pristine.update(pristine)
        for file in files:
            if self._is_needed(file):
                self.module(file)

    def _is_needed(self, file: str) -> bool:
        if file.startswith(_IMPORTED):
            return file.endswith(".py") and not self.is_pristine(file)
        return file.startswith(_ARGUMENTS) and MENTION in self.text(file)

    def is_pristine(self, file: str) -> bool:
        """Whether a file is known to be as it was released."""
        return file in self._pristine

    def __contains__(self, file: str) -> bool:
        return file in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def text(self, file: str) -> str:
        """One text; empty for a file that is not among them."""
        return self._texts.get(file, "")

    def below(self, folder: str, ending: str = ".py") -> list[str]:
        """The files of a folder and of those inside it, in the order of their names."""
        return sorted(f for f in self._texts if f.startswith(folder) and f.endswith(ending))

    def module(self, file: str) -> ast.Module | None:
        """A file's syntax tree; None where there is no such file or it is no Python."""
        if file not in self._modules:
            self._modules[file] = self._parse(file)
        return self._modules[file]

    def _parse(self, file: str) -> ast.Module | None:
        text = self._texts.get(file)
        if text is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what a tree's authors may have overlooked
                return ast.parse(text)
        except SyntaxError as error:
            self.report(file, error.lineno, f"not valid Python: {clean(str(error.msg))}")
        except (ValueError, RecursionError, MemoryError) as error:
            words = clean(str(error))[:200] or "nested too deeply"
            self.report(file, None, f"not readable as Python: {words}")
        return None

    def report(self, file: str, line: int | None, words: str) -> None:
        """Note what could not be read, once."""
        problem = ReadingProblem(Place(file, line), words)
        if problem not in self.problems:
            self.problems.append(problem)

    def file_of(self, module: str) -> str | None:
        """The file of a dotted module of the package, where it is among the texts."""
        head, _, rest = module.partition(".")
        if head != PACKAGE or not rest:
            return None
        path = rest.replace(".", "/")
        return next((f for f in (f"{path}.py", f"{path}/__init__.py") if f in self._texts), None)


def module_of(file: str) -> str:
    """The dotted name of a file's module."""
    path = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{PACKAGE}.{path}"


def imported_module(file: str, node: ast.ImportFrom) -> str:
    """The module that a `from … import` names, relative ones made absolute."""
    if not node.level:
        return node.module or ""
    parts = module_of(file).split(".")
    is_package = file.endswith("/__init__.py")
    kept = parts[: len(parts) - node.level + (1 if is_package else 0)]
    return ".".join([*kept, *([node.module] if node.module else [])])
