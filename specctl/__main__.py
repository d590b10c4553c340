"""Chooses a front end, importing nothing that the choice does not need."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from specctl import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

CANNOT_DRAW = ("dumb", "unknown")
_WITH_VALUE = ("-C", "--workspace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run specctl; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from specctl.cli.streams import open_missing

        open_missing()
    if words in (["--version"], ["-V"]):
        return _say_version()
    if words[:1] == ["__complete"]:
        from specctl.cli.completing import answer

        return answer(words[1:])
    if _names_no_command(words) and sys.stdin.isatty() and sys.stdout.isatty() and _can_draw():
        from specctl.tui.app import run_tui

        return run_tui(workspace=_workspace(words), read_only="--read-only" in words)
    return _run(words)


def _run(words: Sequence[str]) -> int:
    from specctl.cli.invocation import ScreenWanted
    from specctl.cli.main import run

    try:
        return run(words)
    except ScreenWanted as wanted:
        from specctl.tui.replay import run_replay

        return run_replay(wanted.file, speed=wanted.speed, at_s=wanted.at_s)


def _say_version() -> int:
    try:
        sys.stdout.write(f"specctl {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        from specctl.cli.main import end_without_output
        from specctl.cli.streams import OutputLostError

        return end_without_output(OutputLostError(error))
    return 0


def _can_draw() -> bool:
    """The terminal moves its cursor; that of an editor or a serial line may not."""
    return os.environ.get("TERM") not in CANNOT_DRAW


def _names_no_command(words: Sequence[str]) -> bool:
    """Only options that the screen understands are given, or nothing at all."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in _WITH_VALUE and rest:
            rest.pop(0)
        elif word != "--read-only" and not word.startswith("--workspace="):
            return False
    return True


def _workspace(words: Sequence[str]) -> str | None:
    for i, word in enumerate(words):
        if word in _WITH_VALUE:
            return words[i + 1]
        if word.startswith("--workspace="):
            return word.partition("=")[2]
    return None


if __name__ == "__main__":
    sys.exit(main())
