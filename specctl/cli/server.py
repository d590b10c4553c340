"""`specctl server HOST[/SERVER] flush|abort|thresholds|corpus`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from specctl.cli.invocation import Finite, json_option, yes_option
from specctl.cli.output import write, write_json
from specctl.cli.running import confirm, fleet_of, run, split_server
from specctl.cli.table import table
from specctl.domain.plain import plain
from specctl.domain.published import Corpora

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from specctl.adapters.clock import Clock
    from specctl.cli.invocation import Invocation
    from specctl.domain.server import Server
    from specctl.services.connection import Connection
    from specctl.services.measured_server import Keys

    T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which server a subcommand is about."""

    invocation: Invocation
    target: str


@dataclass(frozen=True, slots=True)
class Reached:
    """That server, reached."""

    connection: Connection
    server: Server
    keys: Keys
    clock: Clock


@click.group()
@click.argument("target", metavar="HOST[/SERVER]")
@click.pass_context
def command(ctx: click.Context, target: str) -> None:
    """Tell a running server something: flush, abort, thresholds, n-gram corpora.

    \b
    specctl server gpu8 flush
    specctl server gpu8/7c1e thresholds --single 0.9
    specctl server gpu8/7c1e corpus list
    """  # noqa: D301  click reads \b
    ctx.obj = Asked(ctx.obj, target)


def _with_server(asked: Asked, work: Callable[[Reached], Awaitable[T]]) -> T:
    async def reach() -> T:
        from specctl.services.choosing import the_server
        from specctl.services.host_reading import read_host
        from specctl.services.server_keys import keys_for

        host, name = split_server(asked.target)
        async with fleet_of(asked.invocation) as fleet:
            connection = await fleet.connect(host)
            server = the_server(await read_host(connection), host, name)
            keys = keys_for(fleet.workspace)(connection.host, server)
            return await work(Reached(connection, server, keys, fleet.clock))

    return run(reach())


@command.command(short_help="Empty its prefix cache and n-gram trie.")
@yes_option
@click.pass_obj
def flush(asked: Asked, *, yes: bool) -> None:
    """Empty its prefix cache and n-gram trie; refused while requests run.

    \b
    specctl server gpu8 flush
    """  # noqa: D301  click reads \b
    from specctl.services import control

    _confirm(f"Flush the caches of {asked.target}?", yes=yes)
    write(_with_server(asked, lambda r: control.flush(r.connection, r.server, r.keys, r.clock)))


@command.command()
@yes_option
@click.pass_obj
def abort(asked: Asked, *, yes: bool) -> None:
    """End every request it is running or queueing.

    \b
    specctl server gpu8 abort
    """  # noqa: D301  click reads \b
    from specctl.services import control

    _confirm(f"End all requests of {asked.target}?", yes=yes)
    write(_with_server(asked, lambda r: control.abort(r.connection, r.server, r.keys)))


@command.command(short_help="Change its accept thresholds.")
@click.option("--single", type=Finite(0, 1), metavar="0-1",
              help="Accept a draft token at this probability or more.")  # fmt: skip
@click.option("--accumulated", type=Finite(0, 1), metavar="0-1",
              help="The same, of the tokens so far.")  # fmt: skip
@yes_option
@click.pass_obj
def thresholds(asked: Asked, *, single: float | None, accumulated: float | None, yes: bool) -> None:
    """Change its accept thresholds; its lifetime accept length begins afresh.

    \b
    specctl server gpu8 thresholds --single 0.9 --accumulated 0.9
    """  # noqa: D301  click reads \b
    from specctl.services import control

    wanted = control.Thresholds(single, accumulated)
    _confirm(f"Change the accept thresholds of {asked.target}?", yes=yes)
    write(
        _with_server(
            asked, lambda r: control.set_thresholds(r.connection, r.server, r.keys, wanted)
        )
    )


@command.group(short_help="List, add and remove its n-gram corpora.")
def corpus() -> None:
    """List, add and remove its n-gram corpora.

    \b
    specctl server gpu8 corpus list
    specctl server gpu8 corpus add runbooks /srv/corpora/runbooks.jsonl
    specctl server gpu8 corpus remove runbooks
    """  # noqa: D301  click reads \b


@corpus.command("list")
@json_option
@click.pass_obj
def list_corpora(asked: Asked, *, as_json: bool) -> None:
    """Print its corpora and their tokens.

    \b
    specctl server gpu8 corpus list
    """  # noqa: D301  click reads \b
    from specctl.services import control

    found = _with_server(asked, lambda r: control.list_corpora(r.connection, r.server, r.keys))
    if as_json:
        write_json("corpora", plain(Corpora(found)))
        return
    rows = [[name, "?" if tokens is None else f"{tokens:,}"] for name, tokens in found.items()]
    for line in table(["CORPUS", "TOKENS"], rows, right="TOKENS"):
        write(line)


@corpus.command("add", short_help="Load a corpus from a file on the host.")
@click.argument("name")
@click.argument("path")
@yes_option
@click.pass_obj
def add_corpus(asked: Asked, name: str, path: str, *, yes: bool) -> None:
    """Load the corpus NAME from PATH, a file on the host: JSON strings, one a line.

    \b
    specctl server gpu8 corpus add runbooks /srv/corpora/runbooks.jsonl
    """  # noqa: D301  click reads \b
    from specctl.domain.profile import Corpus
    from specctl.services import control

    wanted = Corpus(name, path)
    _confirm(f"Load {path} into {asked.target}?", yes=yes)
    write(_with_server(asked, lambda r: control.add_corpus(r.connection, r.server, r.keys, wanted)))


@corpus.command("remove")
@click.argument("name")
@yes_option
@click.pass_obj
def remove_corpus(asked: Asked, name: str, *, yes: bool) -> None:
    """Take the corpus NAME out.

    \b
    specctl server gpu8 corpus remove runbooks
    """  # noqa: D301  click reads \b
    from specctl.services import control

    _confirm(f"Remove the corpus {name} from {asked.target}?", yes=yes)
    write(
        _with_server(asked, lambda r: control.remove_corpus(r.connection, r.server, r.keys, name))
    )


def _confirm(question: str, *, yes: bool) -> None:
    if not confirm(question, yes=yes):
        raise click.Abort
