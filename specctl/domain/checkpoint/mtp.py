"""Whether a checkpoint brings the layers for multi-token prediction that it says it has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed
from specctl.domain.checkpoint.kinds import Kind, canonical, kind_in
from specctl.domain.checkpoint.values import WeightsForm

if TYPE_CHECKING:
    from specctl.domain.checkpoint.values import Checkpoint, Finding, Pairing

KEY = "mtp-layers"
_WORDS = ("mtp", "nextn", "eh_proj", "enorm", "hnorm")
_LAYER = re.compile(r"(?:^|\.)layers\.(\d{1,4})\.")


def check_mtp(pairing: Pairing) -> Finding | None:
    """Layers that are said to be there, and are."""
    draft = pairing.draft
    if canonical(pairing.algorithm) != "EAGLE":
        return None
    if kind_in(draft.config) not in (Kind.MTP, Kind.WITH_MTP) or draft.config is None:
        return None
    said = draft.config.mtp_layers
    found = mtp_names(draft)
    if found:
        words = f"{len(found)} tensors" if draft.has_all_names else f"at least {len(found)} tensors"
        many = f", {said} layer{'s' if said != 1 else ''} by config.json" if said else ""
        return passed(KEY, f"there: {words}{many}")
    if not draft.has_all_names:
        why = draft.missing.get("index") or draft.missing.get("tensors")
        known = _unreadable(draft) or f"not every tensor's name was read ({why or 'no index'})"
        return hinted(KEY, f"not seen: {known}", "without them nothing is proposed that is right")
    by = f" although config.json says {said}" if said else ""
    words = f"no tensor of a layer for multi-token prediction{by}"
    if draft.config.quantization:
        words += f"; whoever quantised it ({draft.config.quantization}) left them out"
    means = "the draft runs with random weights: accept length about 1.0"
    step = "Take a checkpoint that keeps them, or name a draft that brings them."
    return failed(KEY, words, means, step)


def mtp_names(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Names of tensors that belong to such layers: by their words, or beyond the last layer."""
    layers = checkpoint.config.layers if checkpoint.config else None
    return tuple(name for name in sorted(checkpoint.tensor_names) if _is_mtp(name, layers))


def _is_mtp(name: str, layers: int | None) -> bool:
    if any(word in name for word in _WORDS):
        return True
    match = _LAYER.search(name)
    return match is not None and layers is not None and int(match[1]) >= layers


def _unreadable(checkpoint: Checkpoint) -> str:
    if checkpoint.form in (WeightsForm.PICKLE, WeightsForm.GGUF):
        return f"the weights are {checkpoint.form} files"
    return ""
