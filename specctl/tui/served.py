"""The screen behind a browser: run as a process for each, by `specctl web`."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DRIVER = "specctl.tui.served_driver:ServedDriver"


def main(arguments: Sequence[str] | None = None) -> int:
    """Speak to the web server through standard input and output; returns the exit status."""
    parser = ArgumentParser(prog="specctl.tui.served", description=__doc__)
    parser.add_argument("-C", dest="workspace", default=None)
    parser.add_argument("--read-only", action="store_true")
    chosen = parser.parse_args(arguments)
    # Textual reads them when it is imported.
    os.environ.update(TEXTUAL_DRIVER=DRIVER, TEXTUAL_COLOR_SYSTEM="truecolor")
    os.environ["TERM"] = "xterm-256color"
    run_tui = import_module("specctl.tui.app").run_tui
    status: int = run_tui(
        workspace=chosen.workspace, read_only=chosen.read_only, is_locked=chosen.read_only
    )
    return status


if __name__ == "__main__":
    sys.exit(main())
