"""What every command that reaches hosts needs: a loop, a fleet, and questions to the user."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from specctl.cli.diagnostics import say, warn
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.state import Link

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from specctl.adapters.workspace import Workspace
    from specctl.cli.invocation import Invocation
    from specctl.domain.profile import Profile
    from specctl.services.fleet import Fleet
    from specctl.services.keeping import Keeper

T = TypeVar("T")
UNREACHED = 3


def run(work: Coroutine[None, None, T]) -> T:
    """Carry out asynchronous work; Ctrl-C cancels it, its `finally` blocks run, then 130.

    SIGTERM and a terminal that is closed do the same. Told again, it is cancelled again: what it
    puts back then ends too, and says what is not back. A third Ctrl-C ends it wherever it is.
    """
    told: list[int] = []
    try:
        return asyncio.run(_until_told(work, told))
    except asyncio.CancelledError:
        if not told:
            raise
        raise (KeyboardInterrupt if told[0] == signal.SIGINT else click.Abort) from None


async def _until_told(work: Coroutine[None, None, T], told: list[int]) -> T:
    """The signals that came are noted in `told`."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def end(number: int) -> None:
        told.append(number)
        if told.count(signal.SIGINT) > 1:
            loop.remove_signal_handler(signal.SIGINT)
        if task is not None:
            task.cancel()

    # asyncio's own handler would raise in the middle of what is put back
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGINT, end, signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup's stays ignored
            loop.add_signal_handler(number, end, number)
    return await work


@asynccontextmanager
async def fleet_of(invocation: Invocation) -> AsyncIterator[Fleet]:
    """The fleet of this run's workspace, with a fresh store."""
    from specctl.adapters.paths import command_file
    from specctl.domain.state import Store
    from specctl.services.fleet import open_fleet

    workspace = invocation.workspace()
    async with open_fleet(workspace, Store(), command_file=command_file()) as fleet:
        yield fleet


def finder(fleet: Fleet, host: str) -> Callable[[str], Profile | None]:
    """Gives the profile that a running server came from, as it is on the host."""
    from specctl.services.arm_profile import arm_profile

    def find(name: str) -> Profile | None:
        try:
            return arm_profile(fleet.workspace, name, host)
        except (UsageError, InvalidFileError):
            return None

    return find


def keeper_of(fleet: Fleet) -> Keeper:
    """Writes what is done into the operator's ledger."""
    from specctl.adapters.paths import ledger_file
    from specctl.services.keeping import Keeper

    return Keeper(ledger_file(), fleet.clock)


def new_keeper() -> Keeper:
    """The same, of what needs no host."""
    from specctl.adapters.clock import SystemClock
    from specctl.adapters.paths import ledger_file
    from specctl.services.keeping import Keeper

    return Keeper(ledger_file(), SystemClock())


def say_kept(keeper: Keeper, run_id: str | None) -> None:
    """Where a run can be found again, or why it cannot."""
    if run_id is not None:
        say(f"kept as run {run_id}: specctl runs show {run_id}")
    for words in keeper.failures:
        warn(f"not kept: {words}")


def chosen_hosts(workspace: Workspace, names: Sequence[str]) -> tuple[str, ...]:
    """The hosts named, else all of the workspace; UsageError when there is none."""
    for name in names:
        workspace.host(name)
    chosen = tuple(names) or tuple(workspace.hosts())
    if not chosen:
        raise UsageError("the workspace has no host", hint="specctl add SSH_ALIAS")
    return chosen


def exit_status(fleet: Fleet, names: Sequence[str]) -> int:
    """0 when every host is reached, else 3."""
    is_up = all(fleet.store.state.host(name).link is Link.UP for name in names)
    return 0 if is_up else UNREACHED


def split_server(place: str) -> tuple[str, str | None]:
    """`HOST/SERVER` taken apart; the server is None when only a host is named."""
    host, _, server = place.partition("/")
    return host, server or None


def is_interactive() -> bool:
    """Somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, *, yes: bool, default: bool = False) -> bool:
    """Ask on stderr; `--yes` answers, and without a terminal only that does."""
    if yes:
        return True
    if not is_interactive():
        raise UsageError(f"{question} Nobody can be asked here.", hint="Add --yes to go ahead.")
    return click.confirm(question, default=default, err=True)
