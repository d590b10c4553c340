"""The ledger: one SQLite file on the operator's machine with every launch, probe and trial.

Raw samples stay in it, so that every number can be worked out again. Several specctl may write at
once (WAL); a file made by a newer specctl is refused, an older one is read as it is, and migrated
in one transaction when it is first written to.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from specctl.adapters import ledger_schema
from specctl.adapters.ledger_notice import notify
from specctl.domain.errors import UsageError
from specctl.domain.file_trouble import next_step
from specctl.domain.plain import plain
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.text import clean
from specctl.domain.training import key_of
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from specctl.domain.training import TrainedOn

BUSY_S = 10.0
SHORTEST_PREFIX = 4
LAST_S = 1e11
"""The year 5138: no run began later, and no calendar of a platform ends earlier."""


class Ledger:
    """One open ledger."""

    def __init__(self, path: Path) -> None:
        """Open the file to be read, as it is; raises UsageError when it cannot be used.

        The first change makes the file where there is none, and brings it to the newest version.
        """
        self.path = path
        self.damaged: dict[str, str] = {}
        """Runs that a list left out, by id, with why."""

        self._is_writable = False
        with self._opening():
            self._file = self._open_to_read()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def _opening(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            words = getattr(error, "strerror", None) or error
            raise UsageError(
                f"the ledger {self.path} cannot be used: {words}", hint=_next_step(error)
            ) from error

    def _open_to_read(self) -> sqlite3.Connection:
        """Of a file that holds nothing the tables alone, in memory."""
        if self.path.exists():
            place = f"{self.path.absolute().as_uri()}?mode=rw"
            file = sqlite3.connect(place, uri=True, timeout=BUSY_S, isolation_level=None)
            try:
                if ledger_schema.read_version(file, self.path):
                    file.execute("PRAGMA query_only = ON")
                    return file
            except BaseException:
                file.close()
                raise
            file.close()
        empty = sqlite3.connect(":memory:", isolation_level=None)
        ledger_schema.migrate(empty, None)
        return empty

    def _open_to_write(self) -> None:
        with self._opening():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
            self._file.close()
            self._file = file
            self.path.chmod(0o600)
            file.execute("PRAGMA foreign_keys = ON")
            file.execute("PRAGMA journal_mode = WAL")
        with self._transaction():
            said = ledger_schema.migrate(file, self.path)
        self._is_writable = True
        if said:
            notify(said)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if not self._is_writable:
            self._open_to_write()
        with self._transaction():
            yield

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled it back already
                    self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")
        except sqlite3.IntegrityError:  # the caller's mistake
            raise
        except sqlite3.Error as error:  # locked for long, read-only, a full disk, or damaged
            raise UsageError(
                f"the ledger {self.path} cannot be written: {error}", hint=_next_step(error)
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, LookupError, TypeError) as error:
            raise UsageError(
                f"the ledger {self.path} cannot be read: {error}",
                hint="Restore a copy of it, or move it away to begin a new one.",
            ) from error

    def prepare(self) -> None:
        """Find out that it can be written to, before something is done that is to be kept."""
        with self._writing():
            pass

    def add(self, run: Run) -> None:
        """Keep a run that is not there yet."""
        row = (
            run.id,
            run.kind.value,
            run.host or "",
            json.dumps(run.profiles),
            run.began_s,
            run.ended_s,
            run.outcome,
            _text(plain(run.provenance)),
            _text(run.document),
        )
        with self._writing():
            self._file.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def end(
        self,
        run_id: str,
        *,
        ended_s: float,
        outcome: str,
        document: Mapping[str, Any] | None = None,
        provenance: Provenance | None = None,
    ) -> None:
        """Say how a run ended; raises UsageError when there is none of that id."""
        changes: dict[str, Any] = {"ended_s": ended_s, "outcome": outcome}
        if document is not None:
            changes["document"] = _text(document)
        if provenance is not None:
            changes["provenance"] = _text(plain(provenance))
        names = ", ".join(f"{name} = ?" for name in changes)
        with self._writing():
            done = self._file.execute(
                f"UPDATE runs SET {names} WHERE id = ?",  # noqa: S608 - names are those above
                (*changes.values(), run_id),
            )
            if not done.rowcount:
                raise UsageError(f"no run {run_id} in {self.path}")

    def plan_again(self, run_id: str, document: Mapping[str, Any]) -> None:
        """Keep another document of a run that goes on."""
        with self._writing():
            self._file.execute(
                "UPDATE runs SET document = ? WHERE id = ?", (_text(document), run_id)
            )

    def add_block(self, run_id: str, document: Mapping[str, Any]) -> int:
        """Keep a launch of a trial; its number, from 0."""
        with self._writing():
            (number,) = self._file.execute(
                "SELECT coalesce(max(number) + 1, 0) FROM blocks WHERE run = ?", (run_id,)
            ).fetchone()
            self._file.execute(
                "INSERT INTO blocks VALUES (?, ?, ?)", (run_id, number, _text(document))
            )
        return int(number)

    def blocks(self, run_id: str) -> tuple[dict[str, Any], ...]:
        """The launches of a trial in the order in which they were made."""
        with self._reading():
            rows = self._file.execute(
                "SELECT document FROM blocks WHERE run = ? ORDER BY number", (run_id,)
            )
            return tuple(json.loads(text) for (text,) in rows)

    def has_run(self, run_id: str) -> bool:
        """Whether a run of this very id is kept."""
        return bool(self._rows("SELECT * FROM runs WHERE id = ?", (run_id,)))

    def run(self, run_id: str) -> Run:
        """By its id or the beginning of it; raises UsageError when it is none or several."""
        rows = self._rows("SELECT * FROM runs WHERE id = ?", (run_id,))
        if not rows and len(run_id) >= SHORTEST_PREFIX:
            rows = self._rows(
                "SELECT * FROM runs WHERE substr(id, 1, ?) = ?", (len(run_id), run_id)
            )
        if len(rows) == 1:
            return rows[0]
        if rows:
            ids = ", ".join(run.id for run in rows[:5])
            raise UsageError(f"{run_id} may be any of {ids}", hint="Name one of them.")
        raise UsageError(f"no run {run_id}", hint="specctl runs list shows them.")

    def runs(
        self,
        *,
        host: str | None = None,
        kind: RunKind | None = None,
        kinds: Collection[RunKind] = (),
        profile: str | None = None,
        training: str | None = None,
        most: int = 50,
    ) -> tuple[Run, ...]:
        """The newest first; rows that cannot be read are left out, and noted in `damaged`.

        `kinds`: any of these, `host`: "" for those of no host, `training`: the `key_of` what
        servers were sent before each window.
        """
        among = [one.value for one in kinds]
        wanted = {
            "host = ?": host,
            "kind = ?": kind.value if kind else None,
            "kind IN (SELECT value FROM json_each(?))": json.dumps(among) if among else None,
            _HAS_PROFILE: profile,
            _HAS_TRAINING: training,
        }
        asked = {term: value for term, value in wanted.items() if value is not None}
        where = " AND ".join(asked)
        values = (*asked.values(), most)
        query = (
            f"SELECT * FROM runs {'WHERE ' if where else ''}{where} "  # noqa: S608 - as above
            "ORDER BY began_s DESC, id LIMIT ?"
        )
        with self._reading():
            rows = self._file.execute(query, values).fetchall()
        return tuple(run for row in rows if (run := self._readable(row)) is not None)

    def _readable(self, row: Sequence[Any]) -> Run | None:
        try:
            return _run(row)
        except (ValueError, LookupError, TypeError) as error:
            self.damaged[str(row[0])] = clean(f"{type(error).__name__}: {error}")
            return None

    def _rows(self, query: str, values: Sequence[Any]) -> tuple[Run, ...]:
        with self._reading():
            return tuple(_run(row) for row in self._file.execute(query, values))

    def keep_spread(
        self,
        run_id: str,
        *,
        host: str,
        recipe: str,
        concurrency: int,
        at_s: float,
        launches: int,
        spread: float,
        trained_on: TrainedOn | None = None,
    ) -> None:
        """Keep how much launches of one recipe differed on a host (log scale)."""
        trained = key_of(trained_on)
        row = (run_id, host, recipe, concurrency, at_s, launches, spread, trained)
        with self._writing():
            self._file.execute(
                "INSERT OR REPLACE INTO spreads VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row
            )

    def spreads(
        self,
        host: str,
        recipes: Sequence[str],
        concurrency: int,
        since_s: float,
        *,
        trained_on: TrainedOn | None = None,
    ) -> tuple[tuple[int, float], ...]:
        """(launches, spread) of these recipes on a host at one concurrency since then.

        Of launches that were sent the same training set, or none.

        A launch is measured at every concurrency, so more than one would count it again.
        """
        marks = ", ".join("?" for _ in recipes)
        training = key_of(trained_on)
        with self._reading():
            version = ledger_schema.read_version(self._file, self.path)
            if version < ledger_schema.WITH_SPREADS:
                return ()
            trained = "trained_on" if version >= ledger_schema.WITH_TRAINING else "''"
            wanted = f"{trained} = ? AND host = ? AND concurrency = ? AND at_s >= ?"
            rows = self._file.execute(
                f"SELECT launches, spread FROM spreads WHERE {wanted} AND recipe IN ({marks})",  # noqa: S608 - question marks
                (training, host, concurrency, since_s, *recipes),
            )
            return tuple((count, spread) for count, spread in rows)


_HAS_PROFILE = "json_valid(profiles) AND EXISTS (SELECT 1 FROM json_each(profiles) WHERE value = ?)"
_HAS_TRAINING = (
    "json_valid(provenance) AND coalesce(json_extract(provenance, '$.trained_on.sha256') || '/' "
    "|| json_extract(provenance, '$.trained_on.prompts'), '') = ?"
)


def may_pass(error: UsageError) -> bool:
    """The file was busy, or its disk did not answer: the same read may do later."""
    return isinstance(error.__cause__, sqlite3.OperationalError)


def _next_step(error: Exception) -> str:
    if isinstance(error, OSError):
        return next_step(error)
    if "locked" in str(error):
        return "Another specctl writes to it: wait until that one has ended."
    return "Look whether its disk is full; a damaged one, move away to begin a new one."


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _run(row: Sequence[Any]) -> Run:
    run_id, kind, host, profiles, began_s, ended_s, outcome, provenance, document = row
    if not abs(began_s) < LAST_S:
        raise ValueError(f"{began_s:g} is no time")
    return Run(
        id=run_id,
        kind=RunKind(kind),
        host=host or None,
        profiles=tuple(json.loads(profiles)),
        began_s=began_s,
        ended_s=ended_s,
        outcome=outcome,
        provenance=object_of(Provenance, json.loads(provenance), {}),
        document=json.loads(document),
    )
