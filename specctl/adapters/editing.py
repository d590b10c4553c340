"""The user's own editor, in the foreground of the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

VARIABLES = ("VISUAL", "EDITOR")
FALLBACK = "vi"


def editor_words(environ: Mapping[str, str]) -> list[str]:
    """The command of the user's editor, its own arguments included."""
    for name in VARIABLES:
        text = environ.get(name, "").strip()
        if not text:
            continue
        try:
            return shlex.split(text)
        except ValueError as error:
            raise UsageError(f"${name} cannot be read: {error}", hint=f"{name}={text}") from error
    return [FALLBACK]


async def edit(path: Path, environ: Mapping[str, str]) -> int:
    """Edit a file and wait until the editor ends; returns its exit status.

    Other work of the event loop goes on meanwhile. Ctrl-C is the editor's alone.
    """
    words = editor_words(environ)
    with _without_interrupts():
        try:
            process = await asyncio.create_subprocess_exec(*words, str(path))
        except OSError as error:
            raise UsageError(
                f"{words[0]} cannot be started: {error.strerror or error}",
                hint="Set $EDITOR to an editor that is installed.",
            ) from error
        return await process.wait()


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hear SIGINT and do nothing: the child gets its default back when it is started."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
