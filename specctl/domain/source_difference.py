"""What differs between two source trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.source import Algorithm, Flag, Tree

_ALGORITHM_ASPECTS = ("aliases", "worker", "other_workers", "draft_architectures", "plugin")
_FLAG_ASPECTS = (
    "type", "default", "choices", "aliases", "is_switch", "nargs", "is_deprecated", "is_required",
    "negations",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One aspect of one thing that both trees have."""

    name: str
    aspect: str
    """`default`, `choices`, `worker`, …; `restrictions` counts them."""

    before: str
    """Of a list only what `after` has not."""

    after: str
    """Of a list only what `before` has not."""


@dataclass(frozen=True, slots=True)
class Differences:
    """Names that only one tree has, and aspects that changed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing differs."""
        return not (self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """One tree against another."""

    algorithms: Differences
    flags: Differences
    files: Differences
    """Changed files by their digests."""

    @property
    def is_empty(self) -> bool:
        """The trees are the same."""
        return self.algorithms.is_empty and self.flags.is_empty and self.files.is_empty


def compare_trees(before: Tree, after: Tree) -> TreeDifference:
    """What of `after` is not as in `before`."""
    return TreeDifference(
        _compare(
            {a.name: a for a in before.algorithms},
            {a.name: a for a in after.algorithms},
            _algorithm_aspects,
        ),
        _compare(
            {f.name: f for f in before.flags}, {f.name: f for f in after.flags}, _flag_aspects
        ),
        _compare(before.files, after.files, lambda file: {"digest": file.digest or file.size}),
    )


def _algorithm_aspects(algorithm: Algorithm) -> dict[str, Any]:
    found = {name: getattr(algorithm, name) for name in _ALGORITHM_ASPECTS}
    found["files"] = len(algorithm.files)
    found["restrictions"] = len(algorithm.restrictions)
    return found


def _flag_aspects(flag: Flag) -> dict[str, Any]:
    return {name: getattr(flag, name) for name in _FLAG_ASPECTS}


def _compare(before: Mapping[str, Any], after: Mapping[str, Any], aspects: Any) -> Differences:
    changed: list[Change] = []
    for name in before:
        if name in after:
            old, new = aspects(before[name]), aspects(after[name])
            changed += [
                Change(name, aspect, *_words(old[aspect], new[aspect]))
                for aspect in old
                if old[aspect] != new[aspect]
            ]
    return Differences(_only_in(after, before), _only_in(before, after), tuple(changed))


def _only_in(these: Iterable[str], those: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in these if name not in those)


def _words(old: Any, new: Any) -> tuple[str, str]:
    """Both values; of two lists what only one of them has, unless only their order differs."""
    if not (isinstance(old, tuple) and isinstance(new, tuple)):
        return _word(old), _word(new)
    only_old, only_new = [o for o in old if o not in new], [n for n in new if n not in old]
    if not only_old and not only_new:
        return _listed(old), _listed(new)
    return _listed(only_old), _listed(only_new)


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return _listed(value)
    return "none" if value is None else str(value)


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"
