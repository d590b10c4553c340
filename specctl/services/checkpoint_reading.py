"""One model directory of a host, read by its small files; never its weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from specctl.domain.checkpoint.values import Checkpoint, Tensor, WeightsForm
from specctl.domain.missing import Missing, Why
from specctl.facts.checkpoint_files import (
    INDEX,
    index_names,
    missing_shards,
    read_config,
    read_object,
    read_tokens,
    snapshot_of,
    weight_files,
    weights_form,
)
from specctl.facts.hub_cache import cache_dir, is_path, repository_dir
from specctl.facts.safetensors import (
    LENGTH_BYTES,
    header_length,
    read_header,
    read_integers,
    read_truths,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.services.host_files import FileReader

T = TypeVar("T")
GGUF = ".gguf"
CONFIG_BYTES = 128 << 10
SETTINGS_BYTES = 128 << 10
BEGINNING_BYTES = 64 << 10
INDEX_BYTES = 192 << 10
INDEX_END_BYTES = 48 << 10
"""Of an index too long to be read: its beginning and its end."""

HEADER_BYTES = 384 << 10
MOST_HEADERS = 16
LAST_HEADERS = 2
"""Of a model whose index is too long: layers beyond its last one lie in the last files."""


@dataclass(slots=True)
class _Draft:
    """A checkpoint while it is being read."""

    name: str
    path: str = ""
    files: Mapping[str, int] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Tensor name to its file and where that file's tensors begin."""

    tensors: list[Tensor] = field(default_factory=list)


async def read_checkpoint(
    reader: FileReader,
    name: str,
    variables: Mapping[str, str | None],
    *,
    revision: str | None = None,
) -> Checkpoint:
    """Configuration and tokenizer files of a model directory, without a look at its tensors."""
    path, commit, why = await find_directory(reader, name, variables, revision=revision)
    draft = _Draft(name, path)
    if why is None and path.endswith(GGUF):
        return _single_file(name, path)
    files = await reader.names(path) if why is None else why
    if isinstance(files, Missing):
        reasons = dict.fromkeys(("config", "tensors", "d2t", "t2d", "index"), files)
        return Checkpoint(name, path, commit, missing=reasons)
    draft.files = files
    found = await _object(reader, draft, "config.json", CONFIG_BYTES, key="config")
    return Checkpoint(
        name=name,
        path=path,
        commit=commit,
        form=weights_form(files),
        files=files,
        config=read_config(found) if found else None,
        missing=draft.missing,
    )


def _single_file(name: str, path: str) -> Checkpoint:
    """A GGUF file is a model of its own; nothing of it is read."""
    reasons = dict.fromkeys(
        ("config", "tensors", "d2t", "t2d", "index"), Missing(Why.NOT_SUPPORTED, "GGUF is not read")
    )
    files = {path.rpartition("/")[2]: 0}
    return Checkpoint(name, path, form=WeightsForm.GGUF, files=files, missing=reasons)


async def find_directory(
    reader: FileReader,
    name: str,
    variables: Mapping[str, str | None],
    *,
    revision: str | None = None,
) -> tuple[str, str | None, Missing | None]:
    """The directory of a path or of a cached repository, its commit, and why there is none."""
    if is_path(name):
        return name.rstrip("/") or "/", None, None
    repository = repository_dir(cache_dir(variables), name)
    entries, error = await reader.snapshots(repository)
    ref = await reader.read(f"{repository}/refs/{revision or 'main'}", 0, 64)
    commit = ref.decode("ascii", "replace").strip() if isinstance(ref, bytes) else revision
    snapshot = snapshot_of(entries, commit or None)
    if snapshot is None:
        words = error or f"{name} is not in {cache_dir(variables)}, or not this revision of it"
        return repository, None, Missing(Why.ERROR, words)
    return f"{repository}/snapshots/{snapshot}", snapshot, None


async def _object(
    reader: FileReader, draft: _Draft, name: str, most: int, *, key: str = ""
) -> dict[str, Any]:
    """A JSON file's object; empty with a reason under `key` where it is absent or none."""
    if name not in draft.files:
        if key:
            draft.missing[key] = Missing(Why.ERROR, f"{draft.path} has no {name}")
        return {}
    data = await reader.whole(f"{draft.path}/{name}", draft.files[name], most)
    found = read_object(data) if isinstance(data, bytes) else data
    if isinstance(found, Missing):
        draft.missing[key or name] = found
        return {}
    return found


async def with_tokens(reader: FileReader, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, with what its tokenizer's files say of special tokens."""
    draft = _of(checkpoint)
    generation = await _object(reader, draft, "generation_config.json", CONFIG_BYTES)
    settings = await _object(reader, draft, "tokenizer_config.json", SETTINGS_BYTES)
    beginning = b""
    if "tokenizer.json" in draft.files and not settings.get("added_tokens_decoder"):
        size = min(draft.files["tokenizer.json"], BEGINNING_BYTES)
        found = await reader.read(f"{draft.path}/tokenizer.json", 0, size)
        beginning = found if isinstance(found, bytes) else b""
    tokens = read_tokens(
        draft.files, checkpoint.config, generation, settings, beginning.decode("utf-8", "replace")
    )
    return replace(checkpoint, tokens=tokens, missing=draft.missing)


async def with_tensors(reader: FileReader, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, with the tensors of its headers and the two small tables."""
    if checkpoint.form is not WeightsForm.SAFETENSORS:
        return _without_tensors(checkpoint)
    draft = _of(checkpoint)
    names = weight_files(draft.files)
    if len(names) > MOST_HEADERS:
        words = f"{len(names)} files; headers of at most {MOST_HEADERS} are read"
        draft.missing["tensors"] = Missing(Why.NOT_SUPPORTED, words)
        return replace(checkpoint, missing=draft.missing)
    for name in names:
        await _read_header(reader, draft, name)
    if lost := missing_shards(names):
        words = f"{lost[0]}{f' and {len(lost) - 1} more' if lost[1:] else ''}: not there"
        draft.missing["tensors"] = Missing(Why.ERROR, words)
    d2t = await _table(reader, draft, "d2t")
    t2d = await _table(reader, draft, "t2d")
    return replace(
        checkpoint,
        tensors=tuple(draft.tensors),
        tensor_names=frozenset(tensor.name for tensor in draft.tensors),
        has_all_names="tensors" not in draft.missing,
        d2t=_kept(draft, "d2t", read_integers(*d2t) if d2t else None),
        t2d=_kept(draft, "t2d", read_truths(*t2d) if t2d else None),
        missing=draft.missing,
    )


def _without_tensors(checkpoint: Checkpoint) -> Checkpoint:
    words = {
        WeightsForm.PICKLE: "pytorch_model.bin is not read: that would mean unpickling it",
        WeightsForm.GGUF: "GGUF is not read",
    }.get(checkpoint.form, "no weights are there")
    why = Missing(Why.NOT_SUPPORTED, words)
    reasons = dict.fromkeys(("tensors", "d2t", "t2d", "index"), why)
    return replace(checkpoint, missing={**reasons, **checkpoint.missing})


def _of(checkpoint: Checkpoint) -> _Draft:
    return _Draft(checkpoint.name, checkpoint.path, checkpoint.files, dict(checkpoint.missing))


def _kept(draft: _Draft, key: str, found: T | Missing | None) -> T | None:
    if isinstance(found, Missing):
        draft.missing[key] = found
        return None
    return found


async def _read_header(reader: FileReader, draft: _Draft, name: str) -> None:
    """Add one file's tensors; the reason, where its header is not to be had."""
    path, size = f"{draft.path}/{name}", draft.files[name]
    first = await reader.read(path, 0, LENGTH_BYTES)
    length = header_length(first, size) if isinstance(first, bytes) else first
    if isinstance(length, int) and length > HEADER_BYTES:
        words = f"its header has {length:,} bytes, {HEADER_BYTES:,} are read"
        length = Missing(Why.NOT_SUPPORTED, words)
    text = await reader.read(path, LENGTH_BYTES, length) if isinstance(length, int) else length
    tensors = read_header(text, size) if isinstance(text, bytes) else text
    if isinstance(tensors, Missing):
        draft.missing["tensors"] = Missing(tensors.why, f"{name}: {tensors.detail}")
        return
    begin = LENGTH_BYTES + (len(text) if isinstance(text, bytes) else 0)
    draft.tensors += tensors
    draft.places.update({tensor.name: (path, begin) for tensor in tensors})


async def _table(reader: FileReader, draft: _Draft, ending: str) -> tuple[Tensor, bytes] | None:
    """A small table's bytes; nothing where there is no such tensor, or a reason was noted."""
    tensor = next((t for t in draft.tensors if t.name.rpartition(".")[2] == ending), None)
    if tensor is None:
        return None
    path, begin = draft.places[tensor.name]
    is_table = ending == "d2t"
    data = await reader.read(path, begin + tensor.begin, tensor.size_bytes, is_table=is_table)
    if isinstance(data, Missing):
        draft.missing[ending] = data
        return None
    return tensor, data


async def with_names(reader: FileReader, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, with its tensors' names: of the index, in part where that is long."""
    size = checkpoint.files.get(INDEX)
    if size is None:
        return await with_tensors(reader, checkpoint)
    path, draft = f"{checkpoint.path}/{INDEX}", _of(checkpoint)
    if size <= INDEX_BYTES:
        data = await reader.read(path, 0, size)
        names = index_names(data) if isinstance(data, bytes) else frozenset()
        has_all = isinstance(data, bytes)
    else:
        names, has_all = await _ends(reader, path, size), False
        words = f"the index has {size:,} bytes, its two ends and the last files' headers were read"
        draft.missing["index"] = Missing(Why.NOT_SUPPORTED, words)
        for name in weight_files(draft.files)[-LAST_HEADERS:]:
            await _read_header(reader, draft, name)
        names |= {tensor.name for tensor in draft.tensors}
        draft.missing.pop("tensors", None)
    return replace(checkpoint, tensor_names=names, has_all_names=has_all, missing=draft.missing)


async def _ends(reader: FileReader, path: str, size: int) -> frozenset[str]:
    names: frozenset[str] = frozenset()
    for offset in (0, size - INDEX_END_BYTES):
        data = await reader.read(path, offset, INDEX_END_BYTES)
        names |= index_names(data) if isinstance(data, bytes) else frozenset()
    return names
