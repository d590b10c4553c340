"""What an agent answered about a tree, checked: its words are those of a host."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain.source import Install, Place, ReadingProblem, TreeFile
from specctl.domain.text import clean
from specctl.facts.readings import mapping, read_text, rows, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME_MAX = 1024
DIGEST_DIGITS = 32
_DIGITS = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where a tree lies, as the agent found it."""

    path: str
    how: str
    """`installed`, `editable` or `folder`."""

    python: str | None
    stamp: str
    is_unchanged: bool
    metadata: tuple[str, ...] = ()
    commit: str | None = None
    is_dirty: bool | None = None
    described: str | None = None
    why_unknown: str | None = None
    """Why git could not tell."""

    @property
    def commit_words(self) -> str | None:
        """The commit, with `-dirty` behind it where files differ from it."""
        if self.commit is None:
            return None
        return self.commit + ("-dirty" if self.is_dirty else "")


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point that extends SGLang."""

    distribution: str
    name: str
    value: str
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of the files of its package that register an algorithm."""

    def __str__(self) -> str:
        return f"{self.distribution}: {self.name} = {self.value}"


def read_place(value: object) -> FoundPlace | None:
    """The first item of the `tree` op; None where it is none."""
    found = mapping(value)
    path, stamp = _path(found.get("path")), found.get("stamp")
    if not path or not is_digest(stamp):
        return None
    checkout = mapping(found.get("checkout"))
    commit, is_dirty = checkout.get("commit"), checkout.get("is_dirty")
    return FoundPlace(
        path=path,
        how=read_text(found.get("how")),
        python=_path(found.get("python")) or None,
        stamp=str(stamp),
        is_unchanged=found.get("is_unchanged") is True,
        metadata=_texts(found.get("metadata")),
        commit=read_text(commit) or None,
        is_dirty=is_dirty if isinstance(is_dirty, bool) else None,
        described=read_text(checkout.get("described")) or None,
        why_unknown=read_text(checkout.get("why")) or None,
    )


def read_names(value: object) -> tuple[str, ...]:
    """Names of files relative to a package; those that are none are left out."""
    found = value if isinstance(value, list) else []
    return tuple(name for name in found if is_name(name))


def read_edited(value: object) -> tuple[str, ...] | None:
    """Names of files that are not as installed; None where that is not known."""
    return read_names(value) if isinstance(value, list) else None


def is_name(name: object) -> bool:
    """A relative path that stays below its root and can be shown as it is."""
    if not isinstance(name, str) or not 0 < len(name) <= NAME_MAX or clean(name) != name:
        return False
    return not name.startswith("/") and ".." not in name.split("/")


def read_texts(value: object) -> dict[str, str]:
    """Texts by such names."""
    found = mapping(value)
    return {name: t for name, t in found.items() if is_name(name) and isinstance(t, str)}


def read_files(names: Sequence[object], value: object) -> dict[str, TreeFile]:
    """`[size, digest, lines]` of each name, in the same order."""
    found = value if isinstance(value, list) else []
    files = {}
    for name, row in zip(names, found, strict=False):
        if is_name(name) and isinstance(row, list) and row[2:]:
            size, digest, lines = row[:3]
            is_known = is_digest(digest)
            files[str(name)] = TreeFile(
                whole(size) or 0, str(digest) if is_known else None, whole(lines)
            )
    return files


def read_plugins(value: object) -> tuple[Plugin, ...]:
    """The plugins of an environment."""
    return tuple(
        Plugin(
            read_text(row.get("distribution")),
            read_text(row.get("name")),
            read_text(row.get("value")),
            read_texts(row.get("texts")),
        )
        for row in rows(value)
    )


def read_limits(value: object) -> tuple[ReadingProblem, ...]:
    """What the agent left out."""
    return tuple(
        ReadingProblem(Place(read_text(row.get("path"))), read_text(row.get("words")))
        for row in rows(value)
    )


def read_installs(
    answer: Mapping[str, Any], python: str | None, executable: str | None
) -> tuple[Install, ...]:
    """Every SGLang that the `interpreters` op found; at most one is active.

    It is that of the interpreter the host's file names, else the only one there is, else that of
    the Python that a bare `python3` starts.
    """
    found = [row for row in rows(answer.get("found")) if mapping(row.get("sglang"))]
    active = _active(found, python, executable)
    installs = []
    for row in found:
        package = mapping(row.get("sglang"))
        installs.append(
            Install(
                python=_path(row.get("path")) or None,
                path=_path(package.get("path")),
                version=read_text(package.get("version")) or None,
                how=read_text(package.get("how")),
                is_active=row is active,
            )
        )
    return tuple(installs)


def _active(
    found: Sequence[Mapping[str, Any]], python: str | None, executable: str | None
) -> Mapping[str, Any] | None:
    if python is not None:
        return next((row for row in found if row.get("how") == "named"), None)
    if len(found) == 1:
        return found[0]
    return next((row for row in found if row.get("path") == executable), None)


def hash_of(files: Mapping[str, TreeFile]) -> str:
    """The tree hash: of every file's name and digest, of its size where there is no digest."""
    lines = [f"{file.digest or file.size} {name}" for name, file in sorted(files.items())]
    return digest_of("\n".join(lines))


def digest_of(text: str) -> str:
    """A text's digest as the agent makes it of the file's bytes."""
    data = text.encode("utf-8", "surrogateescape")
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


def is_digest(value: object) -> bool:
    """Such a digest."""
    return isinstance(value, str) and len(value) == DIGEST_DIGITS and _DIGITS.issuperset(value)


def _path(value: object) -> str:
    return clean(value)[: 4 * NAME_MAX] if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else []
    return tuple(read_text(item) for item in found if isinstance(item, str))
