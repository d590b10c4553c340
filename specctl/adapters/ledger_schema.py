"""The ledger's tables: how one version of the file becomes the next, and what is kept of it then.

An older specctl refuses a newer file, so a copy of the file as it was lies beside it, one for each
version, and whoever listens is told.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.file_trouble import next_step

if TYPE_CHECKING:
    from pathlib import Path

MIGRATIONS = (
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        host TEXT NOT NULL,
        profiles TEXT NOT NULL,
        began_s REAL NOT NULL,
        ended_s REAL,
        outcome TEXT NOT NULL DEFAULT '',
        provenance TEXT NOT NULL,
        document TEXT NOT NULL
    ) STRICT;
    CREATE INDEX runs_by_time ON runs (began_s);
    CREATE TABLE blocks (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT;
    """,
    """
    CREATE TABLE spreads (
        run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        host TEXT NOT NULL,
        recipe TEXT NOT NULL,
        concurrency INTEGER NOT NULL,
        at_s REAL NOT NULL,
        launches INTEGER NOT NULL,
        spread REAL NOT NULL,
        PRIMARY KEY (run, recipe, concurrency)
    ) STRICT;
    """,
    "ALTER TABLE spreads ADD COLUMN trained_on TEXT NOT NULL DEFAULT ''",
    # forecasts, whose host may be ''
    "CREATE INDEX runs_by_kind ON runs (kind, host, began_s)",
)
"""Each brings the file from one version to the next; a released one never changes."""

WITH_SPREADS, WITH_TRAINING = 2, 3
"""Versions from which on spreads are kept, and those after a training set apart."""


def read_version(file: sqlite3.Connection, path: Path) -> int:
    """The version of a file, 0 for an empty one; raises UsageError for one of a newer specctl."""
    (version,) = file.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise UsageError(
            f"the ledger {path} was made by a newer specctl (version {version})",
            hint=f"This one knows version {len(MIGRATIONS)}: update specctl.",
        )
    return int(version)


def migrate(file: sqlite3.Connection, path: Path | None) -> str:
    """Bring it to the newest version, in the transaction that is open; what to say of that.

    `path`: of the file, a copy of which is kept first; None for one in memory.
    """
    version, said = read_version(file, path) if path else 0, ""
    if path is not None and 0 < version < len(MIGRATIONS):
        copy = _copy(path, version)
        said = (
            f"the ledger {path} went from version {version} to {len(MIGRATIONS)}, which an older "
            f"specctl refuses; as it was: {copy}"
        )
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in filter(str.strip, script.split(";")):
            file.execute(statement)
        file.execute(f"PRAGMA user_version = {number}")
    return said


def _copy(path: Path, version: int) -> Path:
    """What is committed in the file; nobody else can write while this one is about to."""
    target = path.with_name(f"{path.name}.version-{version}")
    part = target.with_name(f"{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as copy:
            source.backup(copy)
        part.replace(target)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        words = getattr(error, "strerror", None) or error
        hint = next_step(error) if isinstance(error, OSError) else "Look whether its disk is full."
        raise UsageError(
            f"the ledger {path} is of version {version}, and no copy can be kept of it as it is: "
            f"{words}",
            hint=hint,
        ) from error
    return target
