"""A host's Hugging Face cache: whether a repository is there, whole, in part or not at all.

Layout (huggingface_hub, `file_download.py`): `models--OWNER--NAME/refs/REVISION` holds a commit,
`snapshots/COMMIT/` links to `blobs/`, and a download under way is a blob named `*.incomplete`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from specctl.domain.preflight import HubState, ModelReading
from specctl.facts.readings import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
_SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<end>\.\w+)")
_TOTAL_SIZE = re.compile(r'"total_size"\s*:\s*(\d{1,18})\b')
WEIGHTS = (".safetensors", ".bin", ".pt", ".gguf")
INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
INDEX_BYTES = 4096
"""The total stands in the metadata, which libraries write first."""


def is_path(model: str) -> bool:
    """A path on the host, not the name of a repository."""
    return model.startswith(("/", "~", ".")) or _REPOSITORY.fullmatch(model) is None


def cache_dir(environment: Mapping[str, str | None]) -> str:
    """Where huggingface_hub keeps repositories, from the variables that move it."""
    if environment.get("HF_HUB_CACHE"):
        return str(environment["HF_HUB_CACHE"])
    if environment.get("HF_HOME"):
        return f"{environment['HF_HOME']}/hub"
    if environment.get("XDG_CACHE_HOME"):
        return f"{environment['XDG_CACHE_HOME']}/huggingface/hub"
    return "~/.cache/huggingface/hub"


def repository_dir(cache: str, repository: str) -> str:
    """Where one repository lies."""
    return f"{cache}/models--{repository.replace('/', '--')}"


def read_hub(
    repository: str,
    place: str,
    walk: Mapping[str, Any] | None,
    *,
    commit: str | None = None,
    index: str = "",
    detail: str = "",
) -> ModelReading:
    """What a walk of the repository's directory shows, links followed; None when it is not there.

    `commit` is what `refs/main` says, `index` the beginning of the weight index when there is one.
    """
    if walk is None:
        state = HubState.UNKNOWN if detail else HubState.ABSENT
        return ModelReading(repository, is_path=False, hub=state, place=place, detail=detail)
    entries = [row for row in walk.get("entries", ()) if isinstance(row, list) and len(row) > 2]  # noqa: PLR2004
    blobs = {row[0]: row[2] for row in entries if str(row[0]).startswith("blobs/")}
    unfinished = tuple(read_text(name) for name in blobs if name.endswith(".incomplete"))
    snapshot = _snapshot(entries, commit)
    have = sum(size for size in blobs.values() if isinstance(size, int))
    total = _TOTAL_SIZE.search(index)
    return ModelReading(
        repository,
        is_path=False,
        hub=_state(snapshot, unfinished),
        place=place,
        have_bytes=have,
        total_bytes=int(total[1]) if total else None,
        unfinished=unfinished,
    )


def _snapshot(entries: Sequence[Sequence[Any]], commit: str | None) -> dict[str, str]:
    """File name to kind, of the snapshot that would be used; a dangling link has kind `link`."""
    found: dict[str, dict[str, str]] = {}
    for relative, kind, *_ in entries:
        parts = str(relative).split("/", 2)
        if len(parts) == 3 and parts[0] == "snapshots":  # noqa: PLR2004
            found.setdefault(parts[1], {})[parts[2]] = str(kind)
    if commit is not None:
        return found.get(commit, {})
    return next(iter(found.values()), {}) if len(found) == 1 else {}


def _state(snapshot: Mapping[str, str], unfinished: Sequence[str]) -> HubState:
    files = {name for name, kind in snapshot.items() if kind == "file"}
    weights = {name for name in files if name.endswith(WEIGHTS)}
    if not snapshot and not unfinished:
        return HubState.ABSENT
    dangling = any(kind == "link" for kind in snapshot.values())
    if unfinished or dangling or "config.json" not in files or not weights:
        return HubState.PARTIAL
    return HubState.COMPLETE if _has_every_shard(weights) else HubState.PARTIAL


def _has_every_shard(weights: set[str]) -> bool:
    shards: dict[tuple[str, str], tuple[int, set[int]]] = {}
    for name in weights:
        match = _SHARD.fullmatch(name)
        if match:
            key = (match["stem"], match["end"])
            count, numbers = shards.get(key, (int(match["count"]), set()))
            shards[key] = (count, numbers | {int(match["number"])})
    return all(len(numbers) == count for count, numbers in shards.values())
