"""Trees that were looked at, on the operator's disk: by their hash, and who had which last.

Everything here can be fetched again. Files are written beside their place and renamed, so that two
runs of specctl never see half of one; what cannot be read counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from specctl.adapters import paths
from specctl.adapters.source_shelf import tree_of
from specctl.domain.plain import plain
from specctl.facts.source.answers import is_digest, read_texts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from specctl.domain.source import Tree

TREES_MAX = 40
FILES_MAX = 2000
LOOKS_MAX = 400


@dataclass(frozen=True, slots=True)
class Look:
    """What a place last held."""

    path: str
    stamp: str
    tree_hash: str
    plugins: Any = ()
    """As the agent answered."""

    edited: Any = None
    """The same."""


class SourceCache:
    """One folder of trees, texts and looks."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or paths.cache_dir() / "trees"

    def look(self, host: str, place: str) -> Look | None:
        """The last look at a place of a host, whose tree is still here."""
        found = self._read(self._look_file(host, place))
        path, stamp = found.get("path"), found.get("stamp")
        tree_hash = found.get("tree_hash")
        if not isinstance(path, str) or not is_digest(stamp) or not is_digest(tree_hash):
            return None
        look = Look(
            path, str(stamp), str(tree_hash), found.get("plugins") or (), found.get("edited")
        )
        return look if self._tree_file(look.tree_hash).exists() else None

    def tree(self, tree_hash: str) -> Tree | None:
        """A tree as it was read, by its hash; None where another specctl read it."""
        found = self._read(self._tree_file(tree_hash))
        if found.get("reader") != reader_digest():
            return None
        self._touch(self._tree_file(tree_hash))
        return tree_of(found.get("tree"))

    def texts(self, tree_hash: str) -> tuple[dict[str, str], dict[str, str]] | None:
        """The texts and the excerpts of a tree."""
        texts: dict[str, str] = {}
        excerpts: dict[str, str] = {}
        for content in self._read_all(self._folder / f"{tree_hash}.texts"):
            texts |= read_texts(content.get("texts"))
            excerpts |= read_texts(content.get("excerpts"))
        return (texts, excerpts) if texts else None

    def keep(self, tree: Tree, packed_texts: bytes) -> None:
        """Keep a tree that was read, with its texts and excerpts, in one piece or several."""
        if tree.tree_hash is None:
            return
        self._write_bytes(self._folder / f"{tree.tree_hash}.texts", packed_texts)
        self._write(
            self._tree_file(tree.tree_hash), {"reader": reader_digest(), "tree": plain(tree)}
        )
        self._prune()

    def keep_look(self, host: str, place: str, look: Look) -> None:
        """Remember what a place holds."""
        content = {
            "host": host, "place": place, "path": look.path, "stamp": look.stamp,
            "tree_hash": look.tree_hash, "plugins": look.plugins, "edited": look.edited,
        }  # fmt: skip
        self._write(self._look_file(host, place), content)

    def file(self, digest: str) -> str | None:
        """A file that was fetched, by its digest."""
        found = self._read(self._folder / f"{digest}.file").get("text")
        return found if isinstance(found, str) else None

    def keep_file(self, digest: str, text: str) -> None:
        """Keep a file that was fetched."""
        self._write(self._folder / f"{digest}.file", {"text": text})

    def versions(self) -> dict[str, str]:
        """Version to the hash of the tree of that version which was looked at last."""
        found = {}
        for file in sorted(self._folder.glob("*.tree"), key=_age):
            tree = self.tree(file.stem)
            if tree is not None and tree.version:
                found[tree.version] = file.stem
        return found

    # ------------------------------------------------------------------ disk

    def _tree_file(self, tree_hash: str) -> Path:
        return self._folder / f"{tree_hash}.tree"

    def _look_file(self, host: str, place: str) -> Path:
        name = hashlib.sha256(f"{host}\0{place}".encode()).hexdigest()[:32]
        return self._folder / f"{name}.look"

    def _read(self, file: Path) -> dict[str, Any]:
        return next(iter(self._read_all(file)), {})

    def _read_all(self, file: Path) -> list[dict[str, Any]]:
        """Everything that was packed one after the other; nothing of a file that is damaged."""
        found = []
        try:
            data = file.read_bytes()
            while data:
                unpacker = zlib.decompressobj()
                content = json.loads(unpacker.decompress(data))
                found += [content] if isinstance(content, dict) else []
                data = unpacker.unused_data
        except (OSError, ValueError, zlib.error):
            return []
        return found

    def _write(self, file: Path, content: Mapping[str, Any]) -> None:
        self._write_bytes(file, pack(content))

    def _write_bytes(self, file: Path, data: bytes) -> None:
        """A cache that cannot be written is no failure: the next look asks again."""
        beside = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
            beside.replace(file)

    def _touch(self, file: Path) -> None:
        with contextlib.suppress(OSError):
            os.utime(file)

    def _prune(self) -> None:
        for ending, most in ((".tree", TREES_MAX), (".file", FILES_MAX), (".look", LOOKS_MAX)):
            files = sorted(self._folder.glob(f"*{ending}"), key=_age, reverse=True)
            for file in files[most:]:
                with contextlib.suppress(OSError):
                    file.unlink()
                    file.with_suffix(".texts").unlink(missing_ok=True)


def pack(content: Mapping[str, Any]) -> bytes:
    """As an agent packs it, so that what came can be kept as it came."""
    return zlib.compress(json.dumps(content).encode("ascii"), 1)


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def reader_digest() -> str:
    """Of the code that reads trees: what another version read is read again."""
    digest = hashlib.sha256()
    for name in ("specctl.facts.source", "specctl.domain"):
        for file in sorted(resources.files(name).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py") and (name.endswith("source") or file.name == "source.py"):
                digest.update(file.read_bytes())
    return digest.hexdigest()[:32]
