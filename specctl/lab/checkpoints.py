"""Model directories of a lab host: configurations, a working tokenizer, drafters with real tables.

There are no weights: targets hold one empty tensor, drafters narrow zero ones. What can be checked
without running a model is as it should be: shapes agree with config.json, d2t with t2d.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from specctl.lab.chat import TEMPLATE
from specctl.lab.draft_tables import choose_tokens, pack_d2t, pack_t2d
from specctl.lab.safetensors import Tensor, write_safetensors
from specctl.lab.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_METADATA = {"format": "pt", "simulated": "specctl lab"}
_AUX_LAYERS = 3


def write_models(folder: Path, story: Mapping[str, Any]) -> None:
    """A directory in `folder` for every model and drafter of a scenario's story."""
    for name in story.get("models", {}):
        write_model(folder / name)
    for name, row in story.get("drafters", {}).items():
        if "table" in row:
            write_drafter(folder / name, row["table"])
        else:
            write_model(folder / name)


def write_model(folder: Path) -> None:
    """A target, or a drafter that is a whole model; its configuration is the lab's by that name."""
    folder.mkdir(parents=True, exist_ok=True)
    config = _read_config(folder.name)
    _write_json(folder / "config.json", config)
    _write_tokenizer(folder)
    empty = {"specctl.lab.no_weights": Tensor("U8", (1,))}
    write_safetensors(folder / "model.safetensors", empty, _METADATA)


def write_drafter(folder: Path, table: str) -> None:
    """An EAGLE-3 drafter with the draft vocabulary that is called `table`."""
    folder.mkdir(parents=True, exist_ok=True)
    config = _read_config(folder.name)
    _write_json(folder / "config.json", config)
    write_safetensors(folder / "model.safetensors", _list_tensors(config, table), _METADATA)


def _list_tensors(config: Mapping[str, Any], table: str) -> dict[str, Tensor]:
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    size, vocabulary = config["draft_vocab_size"], config["vocab_size"]
    heads = config["num_attention_heads"] * config["head_dim"]
    shared = config["num_key_value_heads"] * config["head_dim"]
    specials = sorted(load_tokenizer().special_ids)
    tokens = choose_tokens(table, size=size, vocabulary=vocabulary, specials=specials)
    shapes = {
        "embed_tokens.weight": (vocabulary, hidden),
        "fc.weight": (hidden, _AUX_LAYERS * config["target_hidden_size"]),
        "lm_head.weight": (size, hidden),
        "midlayer.hidden_norm.weight": (hidden,),
        "midlayer.input_layernorm.weight": (hidden,),
        "midlayer.mlp.down_proj.weight": (hidden, inner),
        "midlayer.mlp.gate_proj.weight": (inner, hidden),
        "midlayer.mlp.up_proj.weight": (inner, hidden),
        "midlayer.post_attention_layernorm.weight": (hidden,),
        "midlayer.self_attn.k_proj.weight": (shared, 2 * hidden),
        "midlayer.self_attn.o_proj.weight": (hidden, heads),
        "midlayer.self_attn.q_proj.weight": (heads, 2 * hidden),
        "midlayer.self_attn.v_proj.weight": (shared, 2 * hidden),
        "norm.weight": (hidden,),
    }
    return {
        "d2t": Tensor("I64", (size,), pack_d2t(tokens)),
        "t2d": Tensor("BOOL", (vocabulary,), pack_t2d(tokens, vocabulary)),
        **{name: Tensor("BF16", shape) for name, shape in shapes.items()},
    }


def _write_tokenizer(folder: Path) -> None:
    tokenizer = load_tokenizer()
    _write_json(folder / "tokenizer.json", tokenizer.describe())
    special = {
        "bos_token": "[BOS]",
        "eos_token": "<|im_end|>",
        "pad_token": "[PAD]",
    }
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 262_144,
        **special,
    }
    _write_json(folder / "tokenizer_config.json", settings)
    _write_json(folder / "special_tokens_map.json", special)
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    ends = sorted(tokenizer.eos_ids)
    _write_json(folder / "generation_config.json", {"eos_token_id": ends, "temperature": 0.6})


def _read_config(name: str) -> dict[str, Any]:
    path = resources.files("specctl.lab.data") / "configs" / f"{name}.json"
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return config


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
