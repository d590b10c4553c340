"""What a host and its models tell about a profile, for the rules that need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.arguments import word
from specctl.domain.lint.case import Surroundings
from specctl.domain.missing import Missing
from specctl.facts.gpu_capability import capability_of
from specctl.facts.hub_cache import is_path
from specctl.services.checkpoint_reading import read_checkpoint
from specctl.services.host_files import FileReader
from specctl.services.host_reading import read_gpus
from specctl.services.preflight import read_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.checkpoint.values import ModelConfig
    from specctl.domain.profile import Profile
    from specctl.domain.sample import Sample
    from specctl.services.connection import Connection

FILE_BYTES = 64 << 10
CPU_FILE = "/proc/cpuinfo"
_READ = ("adaptive-config",)
_NAMED = ("ngram-external-corpus-path",)
_IS_SET = {"1", "ON", "YES", "TRUE"}


async def look_around(
    connection: Connection, profile: Profile, *, sample: Sample | None = None
) -> Surroundings:
    """The host's GPUs and memory, the models' configs, and the small files the profile names."""
    sample = sample or await read_gpus(connection)
    reader = FileReader(connection)
    variables = await read_variables(connection, _environment(connection, profile))
    target, _ = await _config(reader, profile.model, variables)
    draft, trouble = None, None
    named = _speculation(profile, "draft-model-path")
    if named is not None:
        draft, trouble = await _config(reader, named, variables)
    texts, lost = await _files(connection, reader, profile)
    device = _device(profile, sample)
    return Surroundings(
        device=device,
        capability=_capability(sample, profile),
        memory_bytes=sample.host.memory_total_bytes,
        has_amx=await _has_amx(reader) if device == "cpu" else None,
        target_config=target,
        draft_config=draft,
        draft_trouble=trouble,
        files=texts,
        missing_files=lost,
    )


def _environment(connection: Connection, profile: Profile) -> Mapping[str, str]:
    host = connection.host
    own = {"HF_HOME": host.hf_home} if host.hf_home else {}
    return {**host.environment, **own, **profile.environment}


def _speculation(profile: Profile, key: str) -> str | None:
    given = profile.speculation.arguments.get(key) if profile.speculation else None
    return None if given is None else word(given)


def _device(profile: Profile, sample: Sample) -> str | None:
    given = profile.arguments.get("device")
    if isinstance(given, str):
        return given.partition(":")[0]
    return "cuda" if sample.gpus else None


def _capability(sample: Sample, profile: Profile) -> tuple[int, int] | None:
    """Of the GPUs it would take; None when they are not of one kind."""
    wanted = profile.placement.gpus
    names = {gpu.name for gpu in sample.gpus if wanted is None or gpu.index in wanted}
    found = {capability_of(name) for name in names}
    return found.pop() if len(found) == 1 else None


async def _config(
    reader: FileReader, name: str, variables: Mapping[str, str | None]
) -> tuple[ModelConfig | None, str | None]:
    """A model's config, and why a server could not read it; neither when it may be downloaded."""
    found = await read_checkpoint(reader, name, variables)
    if found.config is not None:
        return found.config, None
    is_offline = (variables.get("HF_HUB_OFFLINE") or "").upper() in _IS_SET
    reason = found.missing.get("config")
    if not is_path(name) and not is_offline:
        return None, None
    return None, reason.detail or str(reason) if reason else f"{name} has no config.json"


async def _files(
    connection: Connection, reader: FileReader, profile: Profile
) -> tuple[Mapping[str, str], frozenset[str]]:
    """The texts of small files that arguments name, and which files are not there."""
    config = profile.arguments.get("config")
    read = [p for key in _READ if (p := _speculation(profile, key)) is not None]
    read += [config] if isinstance(config, str) else []
    paths = [*read, *(p for key in _NAMED if (p := _speculation(profile, key)) is not None)]
    if not paths:
        return {}, frozenset()
    answer = await connection.agent.call("stat", paths=paths)
    lost = frozenset(path for path in paths if answer.get(path, {}).get("exists") is False)
    texts = {}
    for path in read:
        data = await reader.read(path, 0, FILE_BYTES) if path not in lost else b""
        if not isinstance(data, Missing) and data:
            texts[path] = data.decode("utf-8", "replace")
    return texts, lost


async def _has_amx(reader: FileReader) -> bool | None:
    data = await reader.read(CPU_FILE, 0, FILE_BYTES)
    return None if isinstance(data, Missing) else b" amx_tile" in data
