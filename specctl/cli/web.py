"""`specctl web`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.compare_options import DURATION
from specctl.cli.output import write
from specctl.cli.running import run
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.cli.invocation import Invocation
    from specctl.services.web import Wanted, Web

PORT = 8765
_TYPED_MAX, _LOOK_AGAIN_S = 4096, 1.0


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="PORT",
    help="Of this machine; 0 is any.",
)
@click.option("--allow-changes", is_flag=True, help="Its screens may start, stop and probe.")
@click.option("--open", "opens", is_flag=True, help="Open the link in this machine's browser.")
@click.option(
    "--screens",
    type=click.IntRange(1, 32),
    default=4,
    show_default=True,
    help="How many may be open at a time.",
)
@click.option(
    "--idle",
    type=DURATION,
    default="12h",
    show_default=True,
    help="Close a screen after this time without a key.",
)
@click.option(
    "--bind", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where it listens."
)
@click.option(
    "--without-tls",
    is_flag=True,
    help="Let --bind be an address that other machines reach, unencrypted.",
)
@click.option(
    "--public-url",
    metavar="URL",
    default="",
    help="How browsers reach it through a proxy that has TLS.",
)
@click.pass_obj
def command(
    invocation: Invocation, *, port: int, screens: int, idle: float, bind: str, public_url: str,
    allow_changes: bool, opens: bool, without_tls: bool,
) -> None:  # fmt: skip
    """Serve the screen to a browser, read-only, until Ctrl-C.

    The link that is printed lets one browser in, once. Enter makes a new one.

    \b
    specctl web --open
    specctl web --port 0 --allow-changes
    """  # noqa: D301  click reads \b
    from specctl.services.web import Wanted

    if allow_changes and invocation.read_only:
        raise UsageError("--read-only and --allow-changes contradict each other")
    wanted = Wanted(
        bind, port, public_url, without_tls, allow_changes, invocation.chosen, screens, idle
    )
    with contextlib.suppress(KeyboardInterrupt):
        run(_serve(wanted, opens=opens))


async def _serve(wanted: Wanted, *, opens: bool) -> None:
    from specctl.services.web import opened_in_browser, serve_web

    async with serve_web(wanted, diagnostics.say) as web:
        _say_where(wanted, web)
        link = web.new_link()
        write(link)
        with _enter_makes_a_link(web):
            if not opens:
                await asyncio.Event().wait()
            async with opened_in_browser(link) as trouble:
                if trouble:
                    diagnostics.warn(f"{trouble}; open the link yourself")
                await asyncio.Event().wait()


def _say_where(wanted: Wanted, web: Web) -> None:
    if wanted.is_unencrypted_allowed and not web.tunnel:
        diagnostics.warn(
            f"{wanted.bind} is reached by other machines, unencrypted: who listens on the way "
            "sees the screen, what is typed, and the cookie that lets a browser in. "
            "There, put a name or an address of this machine into the link"
        )
    lifts = "" if wanted.changes_allowed else "; --allow-changes lifts that"
    diagnostics.say(f"its screens: {wanted.mode}{lifts}. Ctrl-C ends them and it")
    if web.tunnel:
        diagnostics.say(f"from another machine: {web.tunnel}")
    again = ", Enter makes a new one" if sys.stdin.isatty() else ""
    diagnostics.say(f"the link lets one browser in, once{again}:")


@contextlib.contextmanager
def _enter_makes_a_link(web: Web) -> Iterator[None]:
    """While the block runs, where there is a terminal to press it in."""
    if not sys.stdin.isatty():
        yield
        return
    loop, terminal = asyncio.get_running_loop(), sys.stdin.fileno()

    def pressed() -> None:
        if _is_in_background(terminal):
            loop.remove_reader(terminal)
            loop.call_later(_LOOK_AGAIN_S, loop.add_reader, terminal, pressed)
        elif os.read(terminal, _TYPED_MAX):
            write(web.new_link())
        else:
            loop.remove_reader(terminal)

    loop.add_reader(terminal, pressed)
    try:
        yield
    finally:
        loop.remove_reader(terminal)


def _is_in_background(terminal: int) -> bool:
    """What is typed is for another job of the shell; this one would be stopped for reading it."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:  # not the terminal that controls this process
        return False
