"""The only writer of standard error, and the one place where errors become exit statuses."""

from __future__ import annotations

import sys

import click

from specctl.cli.simulated import SHOWN
from specctl.cli.streams import discard
from specctl.domain.errors import (
    ConnectionLostError,
    DeadlineError,
    HostError,
    InvalidFileError,
    NotMetError,
    SpecctlError,
    UsageError,
)
from specctl.domain.text import clean

INTERRUPTED = 130

_STATUSES: tuple[tuple[type[BaseException], int], ...] = (
    (InvalidFileError, 2),
    (UsageError, 2),
    (HostError, 3),
    (DeadlineError, 4),
    (NotMetError, 5),
    (SpecctlError, 1),
    (click.UsageError, 2),
    (click.ClickException, 1),
    (click.Abort, INTERRUPTED),
    (KeyboardInterrupt, INTERRUPTED),
)


def exit_status(error: BaseException) -> int:
    """The exit status an error ends specctl with."""
    return next(status for kind, status in _STATUSES if isinstance(error, kind))


def report(error: BaseException) -> int:
    """Say what happened and what to do next; returns the exit status."""
    match error:
        case InvalidFileError():
            _report_problems(error)
        case SpecctlError():
            fail(error.message, hint=error.hint or _where_to_look(error))
        case click.UsageError():
            context = error.ctx.command_path if error.ctx else "specctl"
            fail(_sentence(error.format_message()), hint=f"{context} --help")
        case click.ClickException():
            fail(_sentence(error.format_message()))
        case _:
            say("interrupted")
    return exit_status(error)


def _where_to_look(error: SpecctlError) -> str:
    """How far a command came that lost its host is not known here."""
    if isinstance(error, ConnectionLostError):
        return "Once the host answers again, specctl status shows what is there."
    return ""


def _report_problems(error: InvalidFileError) -> None:
    wrong = [problem for problem in error.problems if not problem.is_warning] or error.problems
    if len(wrong) == 1:
        fail(str(wrong[0]), hint=error.hint)
        return
    fail(f"{len(wrong)} problems", hint=error.hint, details=[str(problem) for problem in wrong])


def fail(message: str, *, hint: str = "", details: list[str] | None = None) -> None:
    """`specctl: error: MESSAGE`, details indented below, then the hint."""
    _write(f"specctl: error: {message}")
    for line in details or ():
        _write(f"  {line}")
    if hint:
        _write(f"hint: {hint}")


def warn(message: str) -> None:
    """`specctl: warning: MESSAGE`."""
    _write(f"specctl: warning: {message}")


def say(message: str) -> None:
    """`specctl: MESSAGE`: progress and remarks, for people."""
    _write(f"specctl: {message}")


def show(text: str) -> None:
    """Several lines as they are, for people who may want to copy one."""
    _write(text)


def _write(text: str) -> None:
    """Words are lost where nobody can read them: what is being done goes on."""
    if head := SHOWN.head("stderr"):
        text = f"specctl: {head}\n{text}"
    safe = "\n".join(clean(line) for line in text.split("\n"))
    try:
        sys.stderr.write(safe + "\n")
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _sentence(message: str) -> str:
    """A message of click in the tone of the others."""
    text = message.rstrip(".")
    return text[:1].lower() + text[1:]
