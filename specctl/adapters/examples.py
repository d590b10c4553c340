"""The example workspace that comes with specctl, and the writing of a new one from it."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from importlib import resources
from typing import TYPE_CHECKING

from specctl.adapters.schema import MODELS, json_schema
from specctl.adapters.workspace_root import PROFILES, REMOTES
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

CHECKOUT_ONLY = ("remotes/cpu.toml", "profiles/tiny-*.toml")
"""Examples that need what only a source checkout has."""


def _home() -> Traversable:
    """Inside the installed package, or the root of a source checkout."""
    package = resources.files("specctl")
    packaged = package / "examples"
    if packaged.is_dir():
        return packaged
    with resources.as_file(package) as directory:
        return directory.parent


def example_files() -> dict[str, str]:
    """Relative path to text of every example that works anywhere."""
    home = _home()
    files: dict[str, str] = {}
    for folder in (REMOTES, PROFILES):
        for entry in sorted((home / folder).iterdir(), key=lambda item: item.name):
            name = f"{folder}/{entry.name}"
            if name.endswith(".toml") and not any(fnmatch(name, p) for p in CHECKOUT_ONLY):
                files[name] = entry.read_text(encoding="utf-8")
    return files


def schema_files() -> dict[str, str]:
    """Relative path to text of the schemas that the examples' first lines name."""
    return {
        f"schema/{kind}.json": json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"
        for kind in MODELS
    }


def write_workspace(directory: Path) -> list[Path]:
    """Write the examples into `directory`; all of them, or none when one is in the way."""
    files = {**example_files(), **schema_files()}
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is not a directory", hint="name a directory")
    taken = [name for name in files if (directory / name).exists()]
    if taken:
        raise UsageError(
            f"{directory / taken[0]} exists already: nothing was written",
            hint="specctl init DIR  with an empty or new directory",
        )
    written: list[Path] = []
    try:
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            written.append(path)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        error.filename = error.filename or str(written[-1])  # a full disk names no file
        raise
    return written
