"""Evidence bundles: one run with every raw sample in one gzipped JSON file, data only.

Nothing in a bundle is a path that is written to, and reading one is bounded in size.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.files import read_plain
from specctl.domain.errors import UsageError
from specctl.domain.plain import plain
from specctl.domain.runs import Provenance, Run
from specctl.domain.text import clean
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = "specctl/evidence/1"
PACKED_MOST = 64 * 1024 * 1024
UNPACKED_MOST = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run as it travels."""

    run: Run
    blocks: tuple[Mapping[str, Any], ...] = ()
    """Of a trial, its launches as JSON."""


def write_evidence(path: Path, evidence: Evidence) -> int:
    """Write a bundle that is not there yet; its size in bytes."""
    document = {
        "schema": SCHEMA,
        "run": plain(evidence.run),
        "blocks": [dict(block) for block in evidence.blocks],
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    packed = gzip.compress(text.encode(), mtime=0)
    try:
        with path.open("xb") as file:
            file.write(packed)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already", hint="Name another file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    return len(packed)


def read_evidence(path: Path) -> Evidence:
    """The bundle in a file; raises UsageError for one that is none, or too large."""
    try:
        packed = read_plain(path, PACKED_MOST)
    except ValueError as error:
        raise UsageError(f"{path} {error}") from error
    except OSError as error:
        raise UsageError(f"no evidence {path}: {error.strerror or error}") from error
    try:
        value = json.loads(_unpacked(packed))
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")  # noqa: TRY301 - told apart below
        value = _cleaned(value)
        run = object_of(Run, value.get("run") or {}, {"Provenance": Provenance})
        blocks = value.get("blocks")
        if not isinstance(blocks, list) or not all(isinstance(one, dict) for one in blocks):
            raise ValueError("blocks: must be an array of objects")  # noqa: TRY301
    except (ValueError, RecursionError, zlib.error, EOFError) as error:
        raise UsageError(f"{path} is no evidence of specctl: {error}") from error
    return Evidence(run, tuple(blocks))


def _cleaned(value: Any, *, is_recipe: bool = False) -> Any:
    """Safe to show, whoever made the bundle: only recipes have lines."""
    if isinstance(value, str):
        return "\n".join(map(clean, value.split("\n"))) if is_recipe else clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {
            clean(name): _cleaned(one, is_recipe=is_recipe or name == "profiles")
            for name, one in value.items()
        }
    return value


def _unpacked(packed: bytes) -> bytes:
    """Bounded, whatever the file says of its size."""
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    data = reader.decompress(packed, UNPACKED_MOST)
    if reader.unconsumed_tail or not reader.eof:
        kind = "unpacks to over 512 MiB" if reader.unconsumed_tail else "is cut off"
        raise ValueError(f"it {kind}")
    return data
