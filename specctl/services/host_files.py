"""Files of a host read piece by piece, with every byte counted against a limit."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import AgentAnswerError
from specctl.domain.missing import Missing, Why

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.services.connection import Connection

MOST_BYTES = 1 << 20
MOST_TABLE_BYTES = 8 << 20
WALK_S = 20.0
_KINDS = {"no_permission": Why.NO_PERMISSION, "timed_out": Why.TIMED_OUT}


class FileReader:
    """Reads byte ranges of files; what goes beyond the limit is not read, and says so."""

    def __init__(
        self,
        connection: Connection,
        *,
        most_bytes: int = MOST_BYTES,
        most_table_bytes: int = MOST_TABLE_BYTES,
    ) -> None:
        self._connection = connection
        self._left = {False: most_bytes, True: most_table_bytes}
        self.bytes_read = 0
        """The table of the draft's vocabulary left out."""

        self.table_bytes = 0

    async def read(
        self, path: str, offset: int, length: int, *, is_table: bool = False
    ) -> bytes | Missing:
        """Exactly `length` bytes, or fewer at the file's end; or why not."""
        if length > self._left[is_table]:
            words = f"{length:,} more bytes would go beyond what is read of a checkpoint"
            return Missing(Why.NOT_SUPPORTED, words)
        data = b""
        while len(data) < length:
            try:
                answer = await self._connection.agent.call(
                    "read", path=path, offset=offset + len(data), length=length - len(data)
                )
            except AgentAnswerError as error:
                return Missing(_KINDS.get(error.kind, Why.ERROR), error.message)
            piece = base64.b64decode(answer.get("data") or b"")
            self._count(len(piece), is_table=is_table)
            data += piece
            if not piece or answer.get("eof"):
                break
        return data

    def _count(self, size: int, *, is_table: bool) -> None:
        self._left[is_table] -= size
        if is_table:
            self.table_bytes += size
        else:
            self.bytes_read += size

    async def whole(self, path: str, size: int, most: int) -> bytes | Missing:
        """A file of at most `most` bytes; or why not."""
        if size > most:
            return Missing(Why.NOT_SUPPORTED, f"it has {size:,} bytes, {most:,} are read")
        return await self.read(path, 0, size)

    async def names(self, directory: str) -> Mapping[str, int] | Missing:
        """The files directly in a directory with their bytes, links followed."""
        try:
            answer = await self._walk(directory, max_depth=1)
        except AgentAnswerError as error:
            why = _KINDS.get(error.kind, Why.ERROR)
            words = f"{directory} is not there" if error.kind == "not_found" else error.message
            return Missing(why, words)
        return {name: size for name, kind, size in _rows(answer) if kind == "file"}

    async def snapshots(self, repository: str) -> tuple[list[Any], str | None]:
        """What lies below a repository's `snapshots/`, and an error; neither when it is absent."""
        try:
            answer = await self._walk(f"{repository}/snapshots", max_depth=1)
        except AgentAnswerError as error:
            return [], None if error.kind == "not_found" else error.message
        return [
            [f"snapshots/{name}"] for name, kind, _ in _rows(answer) if kind == "directory"
        ], None

    async def _walk(self, root: str, *, max_depth: int) -> dict[str, Any]:
        return await self._connection.agent.call(
            "walk", timeout_s=WALK_S, root=root, follow=True, max_depth=max_depth, max_entries=5000
        )


def _rows(answer: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (row[0], row[1], row[2])
        for row in answer.get("entries") or ()
        if isinstance(row, list) and len(row) > 2 and isinstance(row[2], int)  # noqa: PLR2004
    ]
