"""Whether a draft is of the kind that the algorithm uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed, warned
from specctl.domain.checkpoint.kinds import FITTING, Kind, canonical, kind_in
from specctl.domain.checkpoint.values import Severity, WeightsForm
from specctl.domain.missing import Why

if TYPE_CHECKING:
    from specctl.domain.checkpoint.values import Checkpoint, Finding, ModelConfig, Pairing

KEY = "architecture"
_ALL_REJECTED = "it loads without a word and every proposal is rejected: accept length exactly 1.00"
_UNSEEN = "shapes, d2t and t2d, missing tensors and memory cannot be checked without loading it"
_NO_START = "the server ends after the load with an AttributeError"
_MAKERS = {
    Kind.EAGLE: "EAGLE",
    Kind.EAGLE3: "EAGLE3",
    Kind.MTP: "NEXTN",
    Kind.DFLASH: "DFLASH",
    Kind.DSPARK: "DSPARK",
    Kind.ASSISTANT: "NEXTN",
    Kind.MODEL: "STANDALONE",
    Kind.WITH_MTP: "STANDALONE",
}


def check_architecture(pairing: Pairing) -> Finding:
    """The draft's kind against the algorithm."""
    config = pairing.draft.config
    if config is None:
        why = pairing.draft.missing.get("config")
        if pairing.draft.form is WeightsForm.GGUF:
            return hinted(KEY, "a GGUF file brings no config.json", _UNSEEN)
        words = (
            f"the draft's config.json cannot be read: {why.detail if why else 'it is not there'}"
        )
        return failed(KEY, words, "SGLang cannot load it", "Check the draft's path.")
    found = judge_kind(config, pairing.algorithm, looks_like_eagle3(pairing.draft))
    is_itself = pairing.draft.path == pairing.target.path and pairing.algorithm == "STANDALONE"
    if is_itself and found.severity is Severity.PASS:
        words, means = "the target would be its own draft", "every step costs more than it brings"
        return warned(KEY, words, means, "Take a smaller model of the same family as the draft.")
    return found


def judge_kind(config: ModelConfig, algorithm: str, looks_like: bool = False) -> Finding:  # noqa: FBT001, FBT002
    """A configuration against an algorithm; `looks_like` an EAGLE-3 draft by its tensors."""
    name, kind = canonical(algorithm), kind_in(config)
    architecture = config.architecture or "no architecture"
    fitting = FITTING.get(name)
    if fitting is None:
        return hinted(KEY, f"what {algorithm} takes as a draft is not known here")
    if kind in fitting:
        return passed(KEY, f"{architecture} is {kind}, as {algorithm} needs it")
    if kind is Kind.UNKNOWN:
        words = f"{architecture} is of a kind that is not known here"
        return hinted(KEY, words, next_step=f"specctl inspect shows what {algorithm} takes.")
    if kind is Kind.MODEL and looks_like and name == "EAGLE3":
        words = f"config.json says {architecture}, the tensors are those of an EAGLE-3 draft"
        step = 'In config.json: "architectures": ["LlamaForCausalLMEagle3"].'
        return failed(
            KEY, words, "SGLang goes by config.json and ends with an AttributeError", step
        )
    step = f'Set algorithm = "{_MAKERS[kind]}", or take a draft made for {algorithm}.'
    return failed(
        KEY, f"{architecture} is {kind}, not one for {algorithm}", _means(kind, name), step
    )


def _means(kind: Kind, algorithm: str) -> str:
    if kind is Kind.EAGLE3 and algorithm == "EAGLE":
        return f"EAGLE hands it one layer's states where it was trained on three; {_ALL_REJECTED}"
    if kind in (Kind.MODEL, Kind.WITH_MTP) or algorithm == "EAGLE3":
        return _NO_START
    if algorithm == "STANDALONE":
        return "a draft head cannot run by itself: the load fails, or its proposals are noise"
    return f"what it is handed is not what it was trained on: the load fails, or {_ALL_REJECTED}"


def looks_like_eagle3(draft: Checkpoint) -> bool:
    """By its tensors: a table of the reduced vocabulary, and a layer that reads two states."""
    query, fc = draft.tensor("self_attn.q_proj.weight"), draft.tensor("fc.weight")
    own = draft.config.hidden_size if draft.config else None
    reads_two = query is not None and len(query.shape) > 1 and own and query.shape[1] == 2 * own
    return fc is not None and (draft.tensor("d2t") is not None or bool(reads_two))


def check_form(pairing: Pairing) -> Finding | None:
    """How the draft's weights are stored, and so what can be said of them."""
    draft, key = pairing.draft, "weights"
    if not draft.files:
        return None
    if draft.form is WeightsForm.SAFETENSORS:
        return _check_headers(draft)
    if draft.form is WeightsForm.PICKLE:
        step = "Convert it to safetensors on the host, and check again."
        return hinted(key, "pytorch_model.bin and no safetensors", _UNSEEN, step)
    if draft.form is WeightsForm.GGUF:
        return hinted(key, "GGUF and no safetensors", _UNSEEN, "Take a safetensors draft.")
    words = "no weights in the directory"
    return failed(key, words, "the server fails while it loads", "Download the draft's weights.")


def _check_headers(draft: Checkpoint) -> Finding:
    why, key = draft.missing.get("tensors"), "weights"
    if why is None:
        return passed(key, _header_words(draft))
    if why.why is Why.NOT_SUPPORTED:
        return hinted(key, f"safetensors; headers not read: {why.detail}", _UNSEEN)
    words = f"the safetensors files are not whole: {why.detail}"
    return failed(key, words, "the server fails while it loads", "Download the draft again.")


def _header_words(draft: Checkpoint) -> str:
    if draft.tensors:
        return f"safetensors, {len(draft.tensors)} tensors in the headers"
    return f"safetensors, {len(draft.tensor_names)} tensor names in the index"
