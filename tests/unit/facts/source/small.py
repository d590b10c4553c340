"""Small trees, written for the tests in the manner of each era."""

from __future__ import annotations

from textwrap import dedent

from specctl.facts.source.reading import TreeText, complete, read_source
from specctl.facts.source.texts import Texts

SPEC = "srt/speculative/spec_info.py"
REGISTRY = "srt/speculative/spec_registry.py"
ARGUMENTS = "srt/server_args.py"


def texts(**files: str) -> Texts:
    return Texts({name: dedent(text) for name, text in files.items()})


def tree(files: dict[str, str], *, excerpts: dict[str, str] | None = None, names=()):
    """A tree of these texts; `names` are further files of it."""
    found = {name: dedent(text) for name, text in files.items()}
    every = (*found, *(excerpts or {}), *names)
    read = read_source(TreeText("/x/sglang", found, excerpts or {}, every))
    return complete(read, {}, "0" * 32)


ENUM = """
    from enum import Enum, auto

    class SpeculativeAlgorithm(Enum):
        NONE = auto()
        EAGLE = auto()
        EAGLE3 = auto()
        NGRAM = auto()

        def is_none(self):
            return self == SpeculativeAlgorithm.NONE

        def is_eagle(self):
            return self in (SpeculativeAlgorithm.EAGLE, SpeculativeAlgorithm.EAGLE3)

        def is_eagle3(self):
            return self is SpeculativeAlgorithm.EAGLE3

        def is_ngram(self):
            return not self.is_eagle() and self != SpeculativeAlgorithm.NONE

        def create_worker(self, server_args):
            if self.is_eagle() and server_args.enable_multi_layer_eagle:
                from sglang.srt.speculative.layers_worker import LayersWorker

                return LayersWorker
            elif self.is_eagle():
                from sglang.srt.speculative.eagle_worker import EagleWorker

                return EagleWorker
            elif self.is_ngram():
                from sglang.srt.speculative.ngram_worker import NgramWorker

                return NgramWorker
            raise ValueError("Unreachable")
    """

CALLS = """
    import argparse
    import dataclasses

    MODES = ["fast", "exact"]

    @dataclasses.dataclass
    class ServerArgs:
        model_path: str
        device: str = "cuda"
        speculative_algorithm: str = None
        speculative_num_steps: int = None
        speculative_eagle_topk: int = 2 * 4
        enable_dp_attention: bool = False
        modes: list = dataclasses.field(default_factory=lambda: ["fast"])

        def __post_init__(self):
            if self.speculative_algorithm == "NEXTN":
                self.speculative_algorithm = "EAGLE"
            if self.speculative_algorithm in ("EAGLE", "EAGLE3"):
                if self.speculative_num_steps is None:
                    assert self.speculative_eagle_topk is None
                    self.speculative_num_steps = 5
                if self.page_size > 1:
                    logger.warning("page size %s is no good", self.page_size)
            if self.speculative_algorithm == "NGRAM":
                if self.device != "cuda":
                    raise ValueError(f"NGRAM needs CUDA, not {self.device}.")
                self.finish()

        def finish(self):
            if self.enable_dp_attention:
                raise ValueError("No dp attention here.")

        @staticmethod
        def add_cli_args(parser):
            parser.add_argument("--model-path", "--model", type=str, required=True)
            parser.add_argument("--device", type=str, default=ServerArgs.device, choices=MODES)
            parser.add_argument(
                "--speculative-algorithm", type=str, choices=["EAGLE", "EAGLE3", "NEXTN", "NGRAM"]
            )
            parser.add_argument(
                "--speculative-num-steps", type=int, default=ServerArgs.speculative_num_steps
            )
            parser.add_argument(
                "--speculative-eagle-topk", type=int, default=ServerArgs.speculative_eagle_topk
            )
            parser.add_argument("--enable-dp-attention", action="store_true")
            parser.add_argument("--modes", nargs="+", default=ServerArgs.modes)
    """

WORKERS = {
    "srt/speculative/layers_worker.py": """
        from sglang.srt.speculative.eagle_worker import EagleWorker
        """,
    "srt/speculative/eagle_worker.py": """
        from typing import TYPE_CHECKING

        import torch
        from sglang.srt.speculative.spec_info import SpeculativeAlgorithm
        from sglang.srt.speculative import shared

        if TYPE_CHECKING:
            from sglang.srt.speculative.ngram_worker import NgramWorker

        class EagleWorker:
            def later(self):
                from sglang.srt.speculative import only_later
        """,
    "srt/speculative/ngram_worker.py": """
        from .shared import tree
        from .cpp_ngram.corpus import Corpus

        class NgramWorker:
            pass
        """,
    "srt/speculative/cpp_ngram/corpus.py": 'SOURCES = ["corpus.cpp"]\n',
    "srt/speculative/shared.py": 'KERNEL = "kernels/tree.cuh"\n',
    "srt/speculative/only_later.py": "",
}
NATIVE = (
    "srt/speculative/cpp_ngram/corpus.cpp",
    "srt/speculative/cpp_ngram/param.h",
    "kernels/jit/csrc/kernels/tree.cuh",
    "kernels/jit/csrc/kernels/other.cuh",
)
WHOLE = {SPEC: ENUM, ARGUMENTS: CALLS, "version.py": '__version__ = "0.5.9"\n', **WORKERS}
