"""Model directories made by the tests: small, whole, and wrong in one chosen way."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors.numpy import save_file

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY, DRAFT_VOCABULARY = 4096, 512
WIDTH, LAYERS = 64, 12
END, START, THINK = 2, 1, 40


def target_config(**changes: Any) -> dict[str, Any]:
    """A Llama that a draft is made for."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 2048,
        "bos_token_id": START,
        "eos_token_id": END,
        "dtype": "bfloat16",
        **changes,
    }


def eagle3_config(**changes: Any) -> dict[str, Any]:
    """An EAGLE-3 draft for it, with a reduced vocabulary."""
    own = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "num_hidden_layers": 1,
        "draft_vocab_size": DRAFT_VOCABULARY,
        "tie_word_embeddings": False,
    }
    return target_config(**{**own, **changes})


def chosen_ids(seed: int = 0, size: int = DRAFT_VOCABULARY, of: int = VOCABULARY) -> np.ndarray:
    """Target tokens as a training run would choose them: the special ones, then any; ascending."""
    random = np.random.default_rng(seed)
    first = np.array([0, START, END, THINK])
    rest = random.choice(np.setdiff1d(np.arange(of), first), size - len(first), replace=False)
    return np.sort(np.concatenate([first, rest])).astype(np.int64)


def offsets(ids: np.ndarray) -> np.ndarray:
    """The table as SGLang reads it."""
    return ids - np.arange(len(ids))


def marks(ids: np.ndarray, of: int = VOCABULARY) -> np.ndarray:
    """The table of the other direction."""
    found = np.zeros(of, dtype=np.bool_)
    found[ids] = True
    return found


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.float16)


def eagle3_tensors(ids: np.ndarray | None = None, **changes: np.ndarray | None) -> dict[str, Any]:
    """The tensors of a good one; None takes one away, dots are written `__`."""
    ids = chosen_ids() if ids is None else ids
    found: dict[str, Any] = {
        "d2t": offsets(ids),
        "t2d": marks(ids, max(VOCABULARY, int(ids.max()) + 1)),
        "fc.weight": _zeros(WIDTH, 3 * WIDTH),
        "midlayer.self_attn.q_proj.weight": _zeros(WIDTH, 2 * WIDTH),
        "midlayer.self_attn.k_proj.weight": _zeros(WIDTH // 2, 2 * WIDTH),
        "midlayer.self_attn.v_proj.weight": _zeros(WIDTH // 2, 2 * WIDTH),
        "midlayer.self_attn.o_proj.weight": _zeros(WIDTH, WIDTH),
        "midlayer.mlp.gate_proj.weight": _zeros(128, WIDTH),
        "midlayer.mlp.up_proj.weight": _zeros(128, WIDTH),
        "midlayer.mlp.down_proj.weight": _zeros(WIDTH, 128),
        "midlayer.hidden_norm.weight": _zeros(WIDTH),
        "midlayer.input_layernorm.weight": _zeros(WIDTH),
        "midlayer.post_attention_layernorm.weight": _zeros(WIDTH),
        "norm.weight": _zeros(WIDTH),
        "lm_head.weight": _zeros(len(ids), WIDTH),
    }
    for name, value in changes.items():
        found[name.replace("__", ".")] = value
    return {name: value for name, value in found.items() if value is not None}


def model_tensors(
    layers: int = LAYERS, width: int = WIDTH, vocabulary: int = VOCABULARY
) -> dict[str, Any]:
    """The tensors of a complete model, as far as names and shapes go."""
    found = {"model.embed_tokens.weight": _zeros(vocabulary, width), "lm_head.weight": _zeros(8, 8)}
    for layer in range(layers):
        found[f"model.layers.{layer}.self_attn.q_proj.weight"] = _zeros(width, width)
    return found


def tokenizer_json(tokens: dict[str, int] | None = None, size: int = VOCABULARY) -> dict[str, Any]:
    """A tokenizer that the `tokenizers` package reads: words by number."""
    words = {f"w{n}": n for n in range(size)} if tokens is None else tokens
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number, "content": text, "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": special,
            }
            for number, text, special in (
                (END, "</s>", True), (START, "<s>", True), (THINK, "<think>", False),
                (60, "<|reserved_7|>", True),
            )
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "w0"},
    }  # fmt: skip


@dataclass
class Directories:
    """A folder of model directories."""

    folder: Path
    made: list[Path] = field(default_factory=list)

    def make(
        self,
        name: str,
        config: dict[str, Any] | None,
        tensors: dict[str, Any] | None = None,
        **files: Any,
    ) -> str:
        """A directory with those files; a dictionary is written as JSON, `__` is a dot."""
        path = self.folder / name
        path.mkdir(parents=True)
        if config is not None:
            (path / "config.json").write_text(json.dumps(config))
        if tensors:
            arrays = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
            save_file(arrays, str(path / "model.safetensors"), metadata={"format": "pt"})
        for file, value in files.items():
            text = value if isinstance(value, bytes) else json.dumps(value).encode()
            (path / file.replace("__", ".")).write_bytes(text)
        self.made.append(path)
        return str(path)

    def target(self, **changes: Any) -> str:
        """A target with its tokenizer; its weights are there and must not be read."""
        return self.make(
            "target", target_config(**changes), model_tensors(), tokenizer__json=tokenizer_json()
        )

    def draft(self, name: str = "draft", ids: np.ndarray | None = None, **changes: Any) -> str:
        """A good EAGLE-3 draft, with tensors changed."""
        return self.make(name, eagle3_config(), eagle3_tensors(ids, **changes))
