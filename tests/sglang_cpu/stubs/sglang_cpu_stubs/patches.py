"""Which SGLang modules are amended right after they are imported."""

from __future__ import annotations

import importlib
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

PATCHES = {
    "sglang.srt.layers.attention.torch_native_backend": "sglang_cpu_stubs.torch_native",
    "sglang.srt.speculative.draft_utils": "sglang_cpu_stubs.draft_backend",
}
"""SGLang module: the module whose `amend(module)` is called with it."""


class PatchedLoader(Loader):
    """Loads as the wrapped loader does, then amends."""

    def __init__(self, wrapped: Loader, patch: str) -> None:
        self.wrapped = wrapped
        self.patch = patch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.wrapped.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.wrapped.exec_module(module)
        importlib.import_module(self.patch).amend(module)


class PatchAfterImport(MetaPathFinder):
    """Finds the modules of `PATCHES` where they are and wraps their loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        patch = PATCHES.get(fullname)
        spec = PathFinder.find_spec(fullname, path) if patch else None
        if patch is None or spec is None or spec.loader is None:
            return None
        spec.loader = PatchedLoader(spec.loader, patch)
        return spec
