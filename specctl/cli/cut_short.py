"""What ended before its end: a compiled file of a module, which click takes for Ctrl-D."""

from __future__ import annotations

from traceback import walk_tb

from specctl.cli import diagnostics

_READS_MODULES = ("get_code", "<frozen importlib._bootstrap_external>")


def report_early_end(error: EOFError) -> int:
    """Name the file that is cut short; returns the exit status. Any other EOFError is raised."""
    compiled = _compiled_file(error)
    if compiled is None:
        raise error from None
    diagnostics.fail(
        f"{compiled} cannot be read: {error}", hint="Remove it: Python compiles its source again."
    )
    return 1


def _compiled_file(error: EOFError) -> str | None:
    """The `.pyc` that the import system was reading."""
    for frame, _ in walk_tb(error.__traceback__):
        if (frame.f_code.co_name, frame.f_code.co_filename) == _READS_MODULES:
            path = frame.f_locals.get("bytecode_path")
            return path if isinstance(path, str) else None
    return None
