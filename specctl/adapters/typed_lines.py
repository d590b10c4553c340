"""Lines typed on the screen, kept from one session to the next in a file of the operator's."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from specctl.domain.errors import SpecctlError
from specctl.domain.text import clean

MOST = 200
"""So many are kept; the file is shortened when it holds twice as many."""


class TypedLines:
    """One line of the file each, the oldest first; several sessions may write."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[str]:
        """The newest ones; SpecctlError where the file cannot be read."""
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._failed(error) from error
        return [line for line in map(clean, text.splitlines()) if line][-MOST:]

    def add(self, line: str) -> None:
        """One more; SpecctlError where the file cannot be written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_APPEND | os.O_CREAT | os.O_WRONLY
            with os.fdopen(os.open(self._path, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(clean(line) + "\n")
            self._shorten()
        except OSError as error:
            raise self._failed(error) from error

    def _shorten(self) -> None:
        lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) <= 2 * MOST:
            return
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=self._path.parent, delete=False
        ) as file:  # readable by nobody else, as it is made
            file.write("\n".join(lines[-MOST:]) + "\n")
        Path(file.name).replace(self._path)

    def _failed(self, error: OSError) -> SpecctlError:
        words = f"{self._path}: {error.strerror or error}"
        return SpecctlError(words, hint="Typed commands are kept for this session only.")
