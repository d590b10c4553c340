"""The small files of a model directory: config.json, the tokenizer's files, the weight index."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from specctl.domain.checkpoint.values import ModelConfig, Tokens, WeightsForm
from specctl.domain.missing import Missing, Why
from specctl.domain.text import clean
from specctl.facts.readings import counted, mapping, number, read_text, rows, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

VOCABULARY_FILES = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json")
INDEX = "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth")
_NOT_WEIGHTS = frozenset({"training_args.bin", "optimizer.pt", "scheduler.pt", "optimizer.bin"})
_TEXT_CONFIGS = ("text_config", "llm_config", "language_config", "thinker_config")
_MTP_KEYS = (
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "mtp_num_layers",
    "num_mtp_modules", "n_mtp_layers",
)  # fmt: skip
_INDEX_ENTRY = re.compile(rb'"([^"\\]{1,300})"\s*:\s*"[^"\\]{1,300}\.safetensors"')
_ADDED = re.compile(r'"added_tokens"\s*:\s*(?=\[)')
_SHARD = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})(?P<end>\.\w+)")
MOST_LAYERS, MOST_TOKENS, MOST_SHARDS = 1000, 20_000, 2000


def read_object(text: bytes) -> dict[str, Any] | Missing:
    """A JSON object, or why it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Missing(Why.MALFORMED, f"no JSON: {clean(str(error))[:120]}")
    return found if isinstance(found, dict) else Missing(Why.MALFORMED, "no JSON object")


def read_config(found: Mapping[str, Any]) -> ModelConfig:
    """What of `config.json` matters; a composite model's language part comes first."""
    text = next((mapping(found[k]) for k in _TEXT_CONFIGS if mapping(found.get(k))), {})
    both = {**found, **{key: value for key, value in text.items() if value is not None}}
    eagle, dflash = mapping(both.get("eagle_config")), mapping(both.get("dflash_config"))
    block = dflash.get("block_size", both.get("block_size"))
    listens = dflash.get("target_layer_ids", both.get("target_layer_ids"))
    return ModelConfig(
        architectures=_names(found.get("architectures")) or _names(text.get("architectures")),
        model_type=read_text(found.get("model_type")) or None,
        hidden_size=whole(both.get("hidden_size")),
        layers=whole(both.get("num_hidden_layers")),
        heads=whole(both.get("num_attention_heads")),
        kv_heads=whole(both.get("num_key_value_heads")),
        head_dim=whole(both.get("head_dim")),
        vocab_size=whole(both.get("vocab_size")),
        draft_vocab_size=whole(both.get("draft_vocab_size")),
        target_hidden_size=whole(both.get("target_hidden_size")),
        max_positions=_positions(both),
        ties_embeddings=_truth(both.get("tie_word_embeddings")),
        aux_layers=_layers(eagle.get("eagle_aux_hidden_state_layer_ids")),
        aux_count=whole(both.get("num_aux_hidden_states")),
        mtp_layers=next((n for k in _MTP_KEYS if (n := whole(both.get(k))) is not None), None),
        quantization=_quantization(found, text),
        dtype=read_text(both.get("dtype") or both.get("torch_dtype")) or None,
        block_size=whole(block),
        target_layers=_layers(listens),
        start_tokens=_ids(both.get("bos_token_id")),
        end_tokens=_ids(both.get("eos_token_id")),
        kv_rank=_kv_rank(both),
    )


def _names(value: Any) -> tuple[str, ...]:
    found = [read_text(name) for name in value[:8]] if isinstance(value, list) else []
    return tuple(name for name in found if name)


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _layers(value: Any) -> tuple[int, ...] | None:
    """Layer ids; a negative one stays, for it is a mistake to be shown."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_LAYERS:
        return None
    return tuple(value) if all(type(one) is int for one in value) else None


def _ids(value: Any) -> tuple[int, ...]:
    many = value if isinstance(value, list) else [value]
    return tuple(one for one in many[:64] if type(one) is int and one >= 0)


def _quantization(found: Mapping[str, Any], text: Mapping[str, Any]) -> str | None:
    stated = mapping(found.get("quantization_config")) or mapping(text.get("quantization_config"))
    method = stated.get("quant_method") or stated.get("quant_algo") or stated.get("format")
    return (read_text(method) or "of unknown kind") if stated else None


def _positions(found: Mapping[str, Any]) -> int | None:
    """The longest context, as SGLang works it out: stretched by the factor of its rope scaling.

    Source of the exceptions: SGLang 0.5.23, get_context_length.
    """
    most = whole(found.get("max_position_embeddings"))
    rope = mapping(found.get("rope_scaling")) or mapping(found.get("rope_parameters"))
    factor = number(rope.get("factor"))
    is_counted = "original_max_position_embeddings" in rope or rope.get("rope_type") == "llama3"
    if most is None or factor is None or factor <= 0 or is_counted:
        return most
    return int(most * factor)


def _kv_rank(found: Mapping[str, Any]) -> int | None:
    rank, rope = whole(found.get("kv_lora_rank")), whole(found.get("qk_rope_head_dim"))
    return rank + (rope or 0) if rank else None


def weights_form(files: Iterable[str]) -> WeightsForm:
    """How a directory holds its weights, by its file names; what can be read comes first."""
    names = [name for name in files if name not in _NOT_WEIGHTS]
    if any(name.endswith(".safetensors") for name in names):
        return WeightsForm.SAFETENSORS
    if any(name.endswith(".gguf") for name in names):
        return WeightsForm.GGUF
    return WeightsForm.PICKLE if any(n.endswith(_PICKLES) for n in names) else WeightsForm.NONE


def weight_files(files: Iterable[str]) -> tuple[str, ...]:
    """The safetensors files that are loaded: `model*` where there are such, else all."""
    names = sorted(name for name in files if name.endswith(".safetensors"))
    own = tuple(name for name in names if name.startswith("model"))
    return own or tuple(names)


def missing_shards(names: Iterable[str]) -> tuple[str, ...]:
    """Files that the numbers of the others (`-00001-of-00004`) ask for."""
    have = set(names)
    wanted = {
        f"{match['stem']}-{number:05}-of-{match['count']}{match['end']}"
        for name in have
        if (match := _SHARD.fullmatch(name)) and int(match["count"]) <= MOST_SHARDS
        for number in range(1, int(match["count"]) + 1)
    }
    return tuple(sorted(wanted - have))


def index_names(text: bytes) -> frozenset[str]:
    """The tensor names of a weight index, or of a piece of one."""
    return frozenset(clean(m[1].decode("utf-8", "replace")) for m in _INDEX_ENTRY.finditer(text))


def read_tokens(
    files: Mapping[str, int],
    config: ModelConfig | None,
    generation: Mapping[str, Any],
    settings: Mapping[str, Any],
    beginning: str,
) -> Tokens:
    """Special tokens by id, from tokenizer_config.json, else from tokenizer.json's beginning.

    Where a server ends an answer: `generation_config.json` wins over `config.json`.
    """
    specials = _decoder(settings.get("added_tokens_decoder")) or _added(beginning)
    own = config or ModelConfig()
    return Tokens(
        files={name: size for name, size in files.items() if name in VOCABULARY_FILES},
        specials=specials,
        end_tokens=_ids(generation.get("eos_token_id")) or own.end_tokens,
        start_tokens=_ids(generation.get("bos_token_id")) or own.start_tokens,
    )


def _decoder(value: Any) -> dict[int, str]:
    found = mapping(value)
    pairs = [(key, mapping(row)) for key, row in list(found.items())[:MOST_TOKENS]]
    return {
        token: read_text(row.get("content"))
        for key, row in pairs
        if (token := counted(key)) is not None
    }


def _added(beginning: str) -> dict[int, str]:
    """`added_tokens` stands before the vocabulary, so the file's beginning has it whole."""
    match = _ADDED.search(beginning)
    if match is None:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(beginning, match.end())
    except (ValueError, RecursionError):
        return {}
    return {
        number: read_text(row.get("content"))
        for row in rows(found)[:MOST_TOKENS]
        if (number := whole(row.get("id"))) is not None
    }


def snapshot_of(entries: Sequence[Any], commit: str | None) -> str | None:
    """The snapshot that would be used: the one `refs` names, else the only one there is."""
    names = {
        str(row[0]).split("/")[1]
        for row in entries
        if isinstance(row, list) and row and str(row[0]).startswith("snapshots/")
    }
    if commit is not None:
        return commit if commit in names else None
    return names.pop() if len(names) == 1 else None
