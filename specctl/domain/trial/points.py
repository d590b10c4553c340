"""Points of a grid: a profile with some of its speculation arguments set to something else.

A point is named after what it is made of, `llama-eagle3+num-steps=3`; no file has such a name, so
the name alone says how the point is made again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.arguments import word
from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest
from specctl.domain.spelling import Slip, range_slip, value_slip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.profile import Profile, Value

MARK = "+"
MOST_POINTS = 24
DRAFT_MOST = 1024
DRAFTED = frozenset({
    "num-steps", "eagle-topk", "num-draft-tokens", "dflash-block-size", "dspark-block-size",
    "ngram-max-trie-depth", "ngram-max-bfs-breadth", "ngram-branch-length",
})  # fmt: skip
"""What a verify step works on grows with each: `DRAFT_MOST` is far beyond any draft that pays."""

COMMON = "num-steps, eagle-topk, num-draft-tokens"


@dataclass(frozen=True, slots=True)
class Axis:
    """One speculation argument and the values to try."""

    key: str
    """Spelled as in `[speculation]`."""

    values: tuple[Value, ...]


def read_axis(text: str, own: Sequence[str] = ()) -> Axis:
    """The axis that `num-steps=1,3,5` names; `own` are keys the profile has besides SGLang's.

    Raises UsageError for a key that is no speculation argument, with the nearest that is.
    """
    written, equals, rest = text.partition("=")
    parts = [part.strip() for part in rest.split(",")]
    if not equals or not all(parts):
        raise UsageError(
            f"--over {text!r} is no argument with values", hint="Write --over num-steps=1,3,5."
        )
    key = _key(written.strip(), own)
    if len(parts) > MOST_POINTS:
        raise _too_many(len(parts))
    values = tuple(read_value(part) for part in parts)
    if len(set(values)) != len(values):
        raise UsageError(f"--over {key}: a value is named twice", hint="Name each once.")
    for value in values:
        slip = value_slip(flags.SPECULATION_PREFIX + key, value) or range_slip(value)
        slip = slip or _draft_slip(key, value)
        if slip is not None:
            raise UsageError(f"--over {key}={word(value)}: {slip.message}")
    return Axis(key, values)


def _draft_slip(key: str, value: Value) -> Slip | None:
    if key not in DRAFTED or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != int(value):
        return Slip(f"{value} is no whole number")
    if value > DRAFT_MOST:
        return Slip(f"no draft of more than {DRAFT_MOST:,} pays: its launches would only fail")
    return None


def _key(written: str, own: Sequence[str]) -> str:
    key = written.lstrip("-").replace("_", "-").removeprefix(flags.SPECULATION_PREFIX)
    known = {*flags.SPECULATION_KEYS, *own} - {"algorithm"}
    if key in known:
        return key
    if key in flags.KNOWN:
        raise UsageError(
            f"--over {written}: no part of speculation, so its baseline would be another one too",
            hint="Write a profile and a baseline for each value.",
        )
    close = nearest(key, known)
    hint = f"The nearest is {close}." if close else f"It has {COMMON} and more."
    raise UsageError(f"--over {written}: SGLang has no --speculative-{key}", hint=hint)


def read_value(text: str) -> Value:
    """A word as a profile's file would hold it."""
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def grid(profile: Profile, axes: Sequence[Axis]) -> tuple[Profile, ...]:
    """Every point; raises UsageError without speculation, for an axis twice, and for too many."""
    if profile.speculation is None:
        raise UsageError(
            f"{profile.name} does not speculate: there is nothing to go over",
            hint="Name the baseline first and a profile with [speculation] second.",
        )
    keys = [axis.key for axis in axes]
    if len(set(keys)) != len(keys):
        raise UsageError("--over names an argument twice", hint="Give all its values at once.")
    points = prod(len(axis.values) for axis in axes)
    if points > MOST_POINTS:
        raise _too_many(points)
    return tuple(
        at_point(profile, dict(zip(keys, values, strict=True)))
        for values in product(*(axis.values for axis in axes))
    )


def _too_many(points: int) -> UsageError:
    return UsageError(
        f"a grid of {points:,} points is more than {MOST_POINTS}", hint="Try fewer values."
    )


def at_point(profile: Profile, values: Mapping[str, Value]) -> Profile:
    """With these speculation arguments; raises UsageError for a profile that does not speculate."""
    if profile.speculation is None:
        raise UsageError(f"{profile.name} does not speculate")
    set_here = {f"speculation.{key}" for key in values}
    return replace(
        profile,
        name=point_name(profile.name, values),
        speculation=replace(
            profile.speculation, arguments={**profile.speculation.arguments, **values}
        ),
        origins={key: origin for key, origin in profile.origins.items() if key not in set_here},
    )


def point_name(profile: str, values: Mapping[str, Value]) -> str:
    """`llama-eagle3+num-steps=3`."""
    return MARK.join([profile, *(f"{key}={word(value)}" for key, value in values.items())])


def split_name(name: str) -> tuple[str, dict[str, Value]]:
    """The profile of an arm's name, and what it sets; nothing for the profile itself."""
    profile, *parts = name.split(MARK)
    pairs = [part.partition("=") for part in parts]
    return profile, {key: read_value(text) for key, _, text in pairs}
