"""The EAGLE draft head as SGLang's `LlamaForCausalLMEagle` loads it.

A projection and one decoder layer. EAGLE (arXiv:2401.15077) predicts the next hidden state from the
embedding of the token just emitted and the hidden state that emitted it; the target's own output
matrix turns the prediction into a token.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM


class EagleHead(torch.nn.Module):
    """Parameter names are the checkpoint's: `fc.*` and `layers.0.*`."""

    def __init__(self, target: LlamaForCausalLM) -> None:
        super().__init__()
        width = target.config.hidden_size
        layer = copy.deepcopy(target.model.layers[-1]).requires_grad_(True)
        layer.input_layernorm = (
            torch.nn.Identity()
        )  # the head's only layer takes the projection as it is
        layer.self_attn.layer_idx = 0
        self.layers = torch.nn.ModuleList([layer])
        self.fc = torch.nn.Linear(2 * width, width)
        torch.nn.init.normal_(self.fc.weight, std=0.02)
        with torch.no_grad():
            self.fc.weight[:, width:] += 0.7 * torch.eye(
                width
            )  # start near "the hidden state stays what it was"
        self._embed = [
            target.model.embed_tokens
        ]  # in lists: borrowed from the target, not parameters of the head
        self._rotary = [target.model.rotary_emb]

    def forward(self, tokens: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden states [batch, length, width] after `tokens`, given those that emitted them."""
        fused = self.fc(torch.cat([self._embed[0](tokens), hidden], dim=-1))
        length = fused.shape[1]
        positions = torch.arange(length)[None]
        causal = torch.full((length, length), float("-inf")).triu(1)[None, None]
        rotary = self._rotary[0](fused, positions)
        out = self.layers[0](
            fused, attention_mask=causal, position_ids=positions, position_embeddings=rotary
        )
        predicted: torch.Tensor = out[0] if isinstance(out, tuple) else out
        return predicted


def eagle_config(target: LlamaForCausalLM) -> str:
    """The head's `config.json`.

    `tie_word_embeddings` must be false: SGLang hands the target's embedding and output matrix to
    the draft model one by one, and fails on a draft model in which they are one tensor.
    """
    config = target.config.to_dict() | {
        "architectures": ["LlamaForCausalLMEagle"],
        "num_hidden_layers": 1,
        "tie_word_embeddings": False,
        "dtype": "float16",
    }
    config.pop("_name_or_path", None)
    return json.dumps(config, indent=2, default=str) + "\n"
