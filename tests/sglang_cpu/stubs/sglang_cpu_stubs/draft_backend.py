"""Several draft steps in a row on the `torch_native` backend, for EAGLE and STANDALONE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from sgl_kernel import build_draft_decode_metadata_cpu
from sglang.srt.layers.attention import torch_native_backend
from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend
from torch import Tensor

from sglang_cpu_stubs.torch_native import store_kv

if TYPE_CHECKING:
    from types import ModuleType

NAME = "torch_native"


class DraftStepBackend(TorchNativeAttnBackend):  # type: ignore[misc]
    """Decodes one draft step: a branch attends to its sequence and its own earlier draft tokens."""

    branch_table: Tensor
    seq_lens: Tensor

    def forward_decode(
        self, q: Tensor, k: Tensor, v: Tensor, layer: Any, batch: Any, save_kv_cache: bool = True
    ) -> Tensor:
        if save_kv_cache:
            store_kv(torch_native_backend, self, layer, batch, k, v)
        query = q.reshape(-1, layer.tp_q_head_num, layer.qk_head_dim)
        output = query.new_empty((query.shape[0], layer.tp_q_head_num, layer.v_head_dim))
        self._run_sdpa_forward_decode(
            query,
            output,
            self.token_to_kv_pool.get_key_buffer(layer.layer_id),
            self.token_to_kv_pool.get_value_buffer(layer.layer_id),
            self.branch_table,
            torch.arange(self.branch_table.shape[0]),
            self.seq_lens,
            scaling=layer.scaling,
            enable_gqa=layer.tp_q_head_num != layer.tp_k_head_num,
        )
        return output.flatten(1)


class TorchNativeMultiStepDraftBackend:
    """One `DraftStepBackend` per step but the last, whose token is only proposed."""

    def __init__(self, model_runner: Any, top_k: int, steps: int) -> None:
        self.topk = top_k
        self.speculative_num_steps = steps
        self.device = model_runner.device
        self.table = model_runner.req_to_token_pool.req_to_token
        self.attn_backends = [DraftStepBackend(model_runner) for _ in range(steps - 1)]

    def init_forward_metadata(self, batch: Any) -> None:
        """Lay the branches out once; step `i` sees `i + 1` draft tokens of its branch."""
        branch_table = build_draft_decode_metadata_cpu(
            self.table,
            batch.req_pool_indices,
            batch.seq_lens,
            self.topk,
            self.speculative_num_steps,
            self.table.shape[1],
        )
        lengths = batch.seq_lens.repeat_interleave(self.topk)
        for step, backend in enumerate(self.attn_backends, start=1):
            backend.branch_table = branch_table
            backend.seq_lens = lengths + step


def amend(module: ModuleType) -> None:
    """Register both draft backends in `DraftBackendFactory`."""
    factory_class = module.DraftBackendFactory
    plain_create = factory_class._create_backend

    def create_backend(
        self: Any,
        backend_name: str,
        backend_map: dict[str, Any],
        error_template: str,
        stamps_children: bool = False,
    ) -> Any:
        """Callers set `stamps_children` when they want the multi-step container."""

        def build() -> tuple[str, object]:
            runner, steps = self.draft_model_runner, self.speculative_num_steps
            if stamps_children:
                return NAME, TorchNativeMultiStepDraftBackend(runner, self.topk, steps)
            return NAME, TorchNativeAttnBackend(runner)

        known = backend_map | {NAME: build}
        return plain_create(self, backend_name, known, error_template, stamps_children)

    factory_class._create_backend = create_backend
