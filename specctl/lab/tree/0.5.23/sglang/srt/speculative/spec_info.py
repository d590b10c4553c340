"""The ways of speculating that this build knows, and who does the work of each."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from sglang.srt.speculative.spec_registry import find_plugin

if TYPE_CHECKING:
    from sglang.srt.server_args import ServerArgs


class SpeculativeAlgorithm(Enum):
    """One way of speculating."""

    DFLASH = auto()
    UNO = auto()
    DSPARK = auto()
    EAGLE = auto()
    EAGLE3 = auto()
    FROZEN_KV_MTP = auto()
    STANDALONE = auto()
    NGRAM = auto()
    NONE = auto()

    @classmethod
    def from_string(cls, name):
        if name is None:
            return cls.NONE
        found = cls.__members__.get(name.upper()) or find_plugin(name)
        if found is None:
            raise ValueError(f"Unknown speculative algorithm name: {name}")
        return found

    def is_none(self):
        return self == SpeculativeAlgorithm.NONE

    def is_eagle(self):
        return self in (
            SpeculativeAlgorithm.EAGLE,
            SpeculativeAlgorithm.EAGLE3,
            SpeculativeAlgorithm.FROZEN_KV_MTP,
        )

    def is_eagle3(self):
        return self == SpeculativeAlgorithm.EAGLE3

    def is_standalone(self):
        return self == SpeculativeAlgorithm.STANDALONE

    def is_ngram(self):
        return self == SpeculativeAlgorithm.NGRAM

    def is_dflash(self):
        return self == SpeculativeAlgorithm.DFLASH

    def is_dspark(self):
        return self == SpeculativeAlgorithm.DSPARK

    def is_frozen_kv_mtp(self):
        return self == SpeculativeAlgorithm.FROZEN_KV_MTP

    def is_uno(self):
        return self == SpeculativeAlgorithm.UNO

    def create_worker(self, server_args: ServerArgs):
        """The class that drafts and verifies; the most specific one comes first."""
        if self.is_dflash():
            from sglang.srt.speculative.dflash_worker_v2 import DFlashWorkerV2

            return DFlashWorkerV2
        if self.is_dspark():
            from sglang.srt.speculative.dspark_components.dspark_worker_v2 import DSparkWorkerV2

            return DSparkWorkerV2
        if self.is_uno():
            from sglang.srt.speculative.uno_worker_v2 import UnoWorkerV2

            return UnoWorkerV2
        if self.is_frozen_kv_mtp():
            from sglang.srt.speculative.frozen_kv_mtp_worker_v2 import FrozenKVMTPWorkerV2

            return FrozenKVMTPWorkerV2
        if self.is_eagle() and server_args.enable_multi_layer_eagle:
            from sglang.srt.speculative.multi_layer_eagle_worker_v2 import (
                MultiLayerEagleWorkerV2,
            )

            return MultiLayerEagleWorkerV2
        if self.is_eagle():
            from sglang.srt.speculative.eagle_worker_v2 import EAGLEWorkerV2

            return EAGLEWorkerV2
        if self.is_standalone():
            from sglang.srt.speculative.standalone_worker_v2 import StandaloneWorkerV2

            return StandaloneWorkerV2
        if self.is_ngram():
            from sglang.srt.speculative.ngram_worker import NGRAMWorker

            return NGRAMWorker
        raise ValueError("nothing speculates")
