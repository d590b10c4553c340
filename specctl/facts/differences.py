"""What a server made of the arguments it was asked to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.flags import canonical
from specctl.facts.numbers import fraction_of
from specctl.facts.redact import MASK, is_secret_key

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAME_ALGORITHM = {"NEXTN": "EAGLE"}
_CHAIN_RULE = "with eagle-topk 1 a chain of num-steps drafts and the bonus token is verified"
_NO_OVERLAP = "speculation with this algorithm or device does not overlap scheduling"
_CAUSES: dict[str, str] = {
    "speculative_num_draft_tokens": _CHAIN_RULE,
    "speculative_eagle_topk": "NGRAM sets it to its maximum breadth",
    "speculative_num_steps": "derived from the other speculation arguments",
    "enable_mixed_chunk": "not supported with this speculation",
    "disable_overlap_schedule": _NO_OVERLAP,
    "speculative_algorithm": "promoted by the draft's architecture",
    "page_size": "forced by the attention backend",
    "dtype": "taken from the model",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One argument that is not what was asked for."""

    key: str
    """As SGLang spells the flag, e.g. `speculative-num-draft-tokens`."""

    asked: Any
    got: Any
    cause: str
    """Why the server changed it, where that is known; empty otherwise."""


def differences(
    profile_arguments: Mapping[str, Any], resolved: Mapping[str, Any]
) -> tuple[Difference, ...]:
    """Requested arguments that the server resolved to something else, in the order asked.

    An alias (NEXTN for EAGLE, `tp` for `tp-size`) is no difference; what the server does not
    report, or reports masked, cannot be compared and is left out.
    """
    found = []
    for key, asked in profile_arguments.items():
        name = _argument_name(key)
        if name not in resolved or is_secret_key(name):
            continue
        got = resolved[name]
        if got != MASK and not _is_same(name, asked, got):
            found.append(Difference(name.replace("_", "-"), asked, got, _cause(name, resolved)))
    return tuple(found)


def _argument_name(key: str) -> str:
    return canonical(key.lstrip("-").replace("_", "-")).replace("-", "_")


def _is_same(name: str, asked: Any, got: Any) -> bool:
    if isinstance(asked, bool) or isinstance(got, bool):
        return str(asked).lower() == str(got).lower()
    if isinstance(got, (int, float)):
        return fraction_of(asked) == fraction_of(got)
    if name == "speculative_algorithm" and isinstance(asked, str):
        return _SAME_ALGORITHM.get(asked.upper(), asked.upper()) == str(got)
    if isinstance(asked, (list, tuple)) and isinstance(got, (list, tuple)):
        return [str(item) for item in asked] == [str(item) for item in got]
    return str(asked) == str(got) or _is_default_word(asked, got)


def _is_default_word(asked: Any, got: Any) -> bool:
    """`auto` was asked to be replaced."""
    return asked == "auto" and got is not None


def _cause(name: str, resolved: Mapping[str, Any]) -> str:
    if name == "speculative_num_draft_tokens" and resolved.get("speculative_eagle_topk") != 1:
        return ""
    if name == "speculative_eagle_topk" and resolved.get("speculative_algorithm") != "NGRAM":
        return ""
    return _CAUSES.get(name, "")
