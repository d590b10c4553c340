"""What contradicts itself in a profile, as far as that can be told without a host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.arguments import placeholders, whole
from specctl.domain.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.profile import Profile, Value


@dataclass(frozen=True, slots=True)
class _Finding:
    """One contradiction of a profile, at a dotted key."""

    key: str
    message: str
    is_warning: bool = False


_POSITIVE = (
    "context-length", "cuda-graph-max-bs-decode", "dp-size", "ep-size", "max-prefill-tokens",
    "max-running-requests", "max-total-tokens", "nnodes", "page-size", "pp-size", "tp-size",
)  # fmt: skip
_FRACTIONS = ("mem-fraction-static",)

_KEY_SHAPES = re.compile(
    r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16}|xox[abp]-[A-Za-z0-9-]{10,})"
)
"""Token shapes of Hugging Face, OpenAI and its kin, GitHub, NVIDIA, AWS and Slack."""

_ASSIGNED_SECRET = re.compile(
    r"((?:api[_-]?key|[a-z_]*token|[a-z_]*secret|pass(?:word|wd|phrase)|bearer)[=: ]+)[^\s<\"']+",
    re.IGNORECASE,
)
_SECRET_NAMES = re.compile(
    r"(?:^|[_-])(?:(?:api|access|private|encryption|watermark)[_-]?key(?:[_-]id)?"
    r"|token|secret|password|passwd|passphrase)$"
)
_NOT_SECRET = re.compile(r"tokenizer|tokens$|token[_-]map|max[_-]token")


def looks_like_key(text: str) -> bool:
    """The text has the shape of somebody's access token."""
    return _KEY_SHAPES.search(text) is not None


def masked(text: str) -> str:
    """A text for people with what looks like a secret in it blotted out."""
    return _ASSIGNED_SECRET.sub(r"\1…", _KEY_SHAPES.sub("…", text))


def names_a_secret(name: str) -> bool:
    """A flag or variable of this name holds a secret: `api-key`, `HF_TOKEN`, `DB_PASSWORD`."""
    low = name.lower().lstrip("-")
    return _SECRET_NAMES.search(low) is not None and _NOT_SECRET.search(low) is None


def spelled_secrets(profile: Profile, host_environment: Mapping[str, str]) -> tuple[str, ...]:
    """The keys under which a secret itself is written where only its name may be."""
    texts = [*_texts(profile), *((f"env.{name}", text) for name, text in host_environment.items())]
    return tuple(dict.fromkeys(key for key, text in texts if _is_secret(key, text)))


def contradictions(profile: Profile) -> tuple[Problem, ...]:
    """Every contradiction and value out of range, at the line it was written on."""
    findings = (
        *_ranges(profile),
        *_places(profile),
        *_gpus(profile),
        *_unfinished(profile),
        *_expectations(profile),
    )
    return tuple(_problem(profile, finding) for finding in findings)


def _problem(profile: Profile, finding: _Finding) -> Problem:
    origin = profile.origin(finding.key)
    return Problem(
        file=origin.file if origin else profile.file,
        line=origin.line if origin else None,
        key=finding.key,
        message=finding.message,
        is_warning=finding.is_warning,
    )


def _ranges(profile: Profile) -> Iterator[_Finding]:
    for flag in _POSITIVE:
        value = whole(profile.arguments.get(flag))
        if value is not None and value < 1:
            yield _Finding(f"arguments.{flag}", f"must be at least 1, not {value}")
    for flag in _FRACTIONS:
        share = profile.arguments.get(flag)
        if isinstance(share, int | float) and not 0 < share < 1:
            yield _Finding(f"arguments.{flag}", f"must be between 0 and 1, not {share}")


def _places(profile: Profile) -> Iterator[_Finding]:
    if (whole(profile.arguments.get("nnodes")) or 1) > 1:
        message = "specctl starts servers on one host only"
        yield _Finding("arguments.nnodes", message)
    in_file = [d for d in profile.secrets if d.startswith("argument:")]
    if in_file and "config" in profile.arguments:
        message = "SGLang takes one --config file, and secrets of arguments are passed in it"
        yield _Finding("arguments.config", message)


def _gpus(profile: Profile) -> Iterator[_Finding]:
    listed = profile.placement.gpus
    visible = profile.environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return
    shown = ",".join(str(gpu) for gpu in listed)
    if visible is not None and visible.replace(" ", "") != shown:
        message = f"says {visible}, and placement.gpus says {shown}"
        yield _Finding("env.CUDA_VISIBLE_DEVICES", message)
    if len(set(listed)) != len(listed):
        yield _Finding("placement.gpus", "names a GPU twice")
    needed = gpus_needed(profile.arguments)
    if needed is not None and needed > len(listed):
        message = f"the arguments need {needed} GPUs, and {len(listed)} are listed"
        yield _Finding("placement.gpus", message)
    elif needed is not None and needed < len(listed):
        message = f"the arguments use {needed} of the {len(listed)} GPUs listed"
        yield _Finding("placement.gpus", message, is_warning=True)


def gpus_needed(arguments: Mapping[str, Value]) -> int | None:
    """GPUs a server takes: tp·pp, times dp unless dp splits the attention only; None if unclear."""
    if arguments.get("device", "cuda") != "cuda":
        return 0
    sizes = [arguments.get(flag, 1) for flag in ("tp-size", "pp-size", "dp-size")]
    tp, pp, dp = (whole(size) for size in sizes)
    if tp is None or pp is None or dp is None:
        return None
    step = (whole(arguments.get("gpu-id-step")) or 1) == 1
    start = whole(arguments.get("base-gpu-id")) or 0
    own = tp * pp * (1 if arguments.get("enable-dp-attention") else dp)
    return own + start if step else None


def _unfinished(profile: Profile) -> Iterator[_Finding]:
    for key, text in _texts(profile):
        if looks_like_key(text):
            message = "looks like an access key: name it instead, as `secret:NAME`"
            yield _Finding(key, message)
        elif found := placeholders(text):
            yield _Finding(key, f"{found[0]} is a placeholder that has yet to be filled in")
        elif _is_secret(key, text):
            yield _Finding(key, "holds a secret: name it instead, as `secret:NAME`")


def _is_secret(key: str, text: str) -> bool:
    return looks_like_key(text) or (text != "" and names_a_secret(key.partition(".")[2]))


def _texts(profile: Profile) -> Iterator[tuple[str, str]]:
    yield "model", profile.model
    yield "description", profile.description
    tables: dict[str, Mapping[str, Value]] = {
        "arguments": profile.arguments,
        "env": profile.environment,
        "speculation": profile.speculation.arguments if profile.speculation else {},
    }
    for table, values in tables.items():
        for key, value in values.items():
            for text in _strings(value):
                yield f"{table}.{key}", text


def _strings(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)


def _expectations(profile: Profile) -> Iterator[_Finding]:
    if profile.baseline == profile.name:
        yield _Finding("baseline", "a profile is not its own baseline")
    if profile.speculation is None and profile.expectation.accept_length is not None:
        message = "a profile without speculation has no accept length"
        yield _Finding("expectation.accept_length", message, is_warning=True)
    if profile.expectation.speedup is not None and profile.baseline is None:
        message = "a speedup is measured against a baseline, and none is named"
        yield _Finding("expectation.speedup", message, is_warning=True)
