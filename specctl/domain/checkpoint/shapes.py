"""Whether a draft's sizes are those of the target's states it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed, warned
from specctl.domain.checkpoint.kinds import Kind, kind_in
from specctl.domain.checkpoint.values import ModelConfig, WeightsForm

if TYPE_CHECKING:
    from specctl.domain.checkpoint.values import Finding, Pairing

DEFAULT_AUX = 3
EMBEDDING = -1
"""A layer id that stands for what enters the first layer: SGLang adds 1 to each."""

_NO_TARGET = "the target's config.json does not say"
_OTHER_MODEL = "Take the draft that was made for this target."
_RANDOM = "SGLang leaves what is missing as it was made, random or zero: accept length about 1.0"


def _configs(pairing: Pairing) -> tuple[ModelConfig, ModelConfig]:
    return pairing.target.config or ModelConfig(), pairing.draft.config or ModelConfig()


def check_hidden(pairing: Pairing) -> Finding | None:
    """The width of the target's states against what the draft expects."""
    target, draft = _configs(pairing)
    kind, key = kind_in(pairing.draft.config), "hidden-size"
    if kind not in (Kind.EAGLE, Kind.EAGLE3, Kind.MTP, Kind.DFLASH):
        return None
    wanted = draft.target_hidden_size or draft.hidden_size
    if target.hidden_size is None or wanted is None:
        return hinted(key, f"hidden sizes cannot be compared: {_NO_TARGET}, or the draft's not")
    if wanted == target.hidden_size:
        own = f", its own is {draft.hidden_size}" if draft.hidden_size != wanted else ""
        return passed(key, f"{wanted}, as the target{own}")
    words = f"the draft expects states of {wanted}, the target's are {target.hidden_size}"
    return failed(key, words, "the first step fails on the sizes", _OTHER_MODEL)


def aux_count(config: ModelConfig) -> int:
    """How many of the target's layers an EAGLE-3 draft listens to."""
    if config.aux_count is not None:
        return config.aux_count
    return len(config.aux_layers) if config.aux_layers else DEFAULT_AUX


def check_fc(pairing: Pairing) -> Finding | None:
    """The projection that brings the target's states to the draft's width."""
    _, draft = _configs(pairing)
    kind, key = kind_in(pairing.draft.config), "fc-width"
    if kind not in (Kind.EAGLE, Kind.EAGLE3) or not pairing.draft.tensors:
        return None
    fc = pairing.draft.tensor("fc.weight")
    if fc is None:
        if pairing.draft.tensor("fc.qweight") or pairing.draft.tensor("fc.weight_packed"):
            return hinted(key, "fc is quantised, its width cannot be told from the header")
        return failed(key, "the draft has no fc.weight", _RANDOM, _OTHER_MODEL)
    theirs = draft.target_hidden_size or draft.hidden_size
    if theirs is None or draft.hidden_size is None:
        return hinted(key, "config.json gives no hidden_size to compare fc with")
    many = aux_count(draft) if kind is Kind.EAGLE3 else 2
    wanted = (draft.hidden_size, theirs * many)
    shown = f"fc is {' × '.join(str(size) for size in fc.shape)}"
    if fc.shape == wanted:
        return passed(key, f"{shown}: {many} × {theirs} in")
    words = f"{shown}, config.json makes it {wanted[0]} × {wanted[1]} ({many} × {theirs} in)"
    step = "Correct num_aux_hidden_states or eagle_aux_hidden_state_layer_ids in config.json."
    return failed(key, words, "the load fails on the shape", _fc_step(fc.shape, theirs, step))


def _fc_step(shape: tuple[int, ...], theirs: int, step: str) -> str:
    is_count = len(shape) > 1 and theirs and shape[1] % theirs == 0
    return step if is_count else _OTHER_MODEL


def check_aux_layers(pairing: Pairing) -> Finding | None:
    """Which of the target's layers the draft listens to."""
    target, draft = _configs(pairing)
    kind, key = kind_in(pairing.draft.config), "aux-layers"
    if kind not in (Kind.EAGLE3, Kind.DFLASH):
        return None
    ids = draft.aux_layers if kind is Kind.EAGLE3 else draft.target_layers
    if ids is None:
        if target.layers is None or kind is Kind.DFLASH:
            return hinted(key, "config.json names no layers of the target: SGLang's default")
        n = target.layers
        return passed(key, f"not named: what enters layers 2, {n // 2} and {n - 3} of {n}")
    shown = ", ".join(str(one) for one in ids)
    first = EMBEDDING if kind is Kind.EAGLE3 else 0
    if target.layers is not None and not all(first <= one < target.layers for one in ids):
        words = f"layers {shown} are named, the target has {target.layers}"
        return failed(key, words, "states that do not exist are asked for", _OTHER_MODEL)
    if draft.aux_count is not None and draft.aux_count != len(ids):
        words = f"{len(ids)} layers are named, num_aux_hidden_states is {draft.aux_count}"
        step = "Make them agree in config.json."
        return failed(key, words, "the load fails on the width of fc, or the first step does", step)
    return passed(key, f"outputs of layers {shown}")


def check_projections(pairing: Pairing) -> Finding | None:
    """The first layer of an EAGLE-3 draft reads the embedding beside the states: 2 × its width."""
    _, draft = _configs(pairing)
    query = pairing.draft.tensor("self_attn.q_proj.weight")
    if kind_in(pairing.draft.config) is not Kind.EAGLE3 or query is None or not draft.hidden_size:
        return None
    wanted, key = 2 * draft.hidden_size, "first-layer"
    if len(query.shape) > 1 and query.shape[1] == wanted:
        return passed(key, f"reads {wanted}: the embedding beside the states")
    words = f"q_proj is {' × '.join(map(str, query.shape))}, an EAGLE-3 layer reads {wanted}"
    return failed(key, words, "the load fails on the shape", "This is no EAGLE-3 draft.")


def check_layers(pairing: Pairing) -> Finding | None:
    """Older versions run one layer only."""
    _, draft = _configs(pairing)
    if kind_in(pairing.draft.config) is not Kind.EAGLE3 or (draft.layers or 1) == 1:
        return None
    words = f"{draft.layers} layers in the draft"
    means = "SGLang up to 0.5.11 refuses it: EAGLE3 currently only supports 1 layer"
    return hinted("layers", words, means, "Use 0.5.12 or newer.")


def check_parts(pairing: Pairing) -> Finding | None:
    """Every part of the layer is there: the loader says nothing of what is missing."""
    kind, key = kind_in(pairing.draft.config), "parts"
    if kind not in (Kind.EAGLE, Kind.EAGLE3) or not pairing.draft.tensors:
        return None
    names = [tensor.name for tensor in pairing.draft.tensors]
    wanted = ["o_proj", "down_proj"]
    if kind is Kind.EAGLE3:
        wanted += ["norm.weight"] if _takes_embedding(pairing) else ["norm.weight", "embed_tokens"]
    lost = [part for part in wanted if not any(part in name for name in names)]
    if not lost:
        return passed(key, "attention, MLP and norms are there")
    words = f"no tensor called {', '.join(lost)}"
    return failed(key, words, _RANDOM, "Download the draft again, or take another one.")


def _takes_embedding(pairing: Pairing) -> bool:
    """The target's is used, which only fits a draft as wide as the target."""
    _, draft = _configs(pairing)
    return draft.target_hidden_size in (None, draft.hidden_size)


def check_positions(pairing: Pairing) -> Finding | None:
    """How long a context the draft was made for: SGLang asks the target's of it."""
    target, draft = _configs(pairing)
    key, own = "positions", draft.max_positions
    theirs = pairing.context_length or target.max_positions
    if pairing.target.path == pairing.draft.path or theirs is None or own is None:
        return None
    if own >= theirs:
        return passed(key, f"{own:,}, the target is run with {theirs:,}")
    words = f"the draft has {own:,} positions by its config.json, the target is run with {theirs:,}"
    means = (
        "SGLang 0.5.23 refuses that unless SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1; with it "
        "the accept length may fall in contexts longer than the draft was trained on"
    )
    step = f"Set that variable, or context-length = {own}."
    return warned(key, words, means, step)


def check_target(pairing: Pairing) -> Finding | None:
    """The target's own configuration can be read."""
    if pairing.target.config is not None:
        return None
    why = pairing.target.missing.get("config")
    words = f"the target's config.json cannot be read: {why.detail if why else 'it is not there'}"
    form = pairing.target.form
    step = "Check the target's path."
    if form is WeightsForm.GGUF:
        return hinted(
            "target", f"{words} (GGUF)", "sizes and vocabularies cannot be compared", step
        )
    return failed("target", words, "nothing can be compared with it", step)
