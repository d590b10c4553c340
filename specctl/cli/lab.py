"""`specctl lab up|down|status|fault`: practice GPU hosts on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.invocation import Finite, Seconds, json_option
from specctl.cli.lab_demo import command as demo
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.errors import NotMetError, UsageError
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.published import LabHosts, PracticeHost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.folder import LabFolder, Record

SCENARIO, BUILD = "pcie-8", "0.5.23"


@click.group()
def command() -> None:
    """Bring up practice GPU hosts on this machine: SIMULATED, and reached like real ones.

    While they are up, hosts lab-1, lab-2, … and profiles lab-… are there in every workspace.

    \b
    specctl lab up                      one host as in the story: 8 GPUs over PCIe
    specctl lab up --hosts 4 --scenario nvlink-8
    specctl lab up --fault fish-shell --fault slow-link:delay_ms=300
    specctl lab fault frozen-agent --host lab-1 --after 10
    specctl lab down
    """  # noqa: D301  click reads \b


def _folder() -> LabFolder:
    from specctl.adapters import paths
    from specctl.lab.folder import LabFolder

    return LabFolder(paths.lab_dir())


@command.command(short_help="Lay the hosts out and serve them in the background.")
@click.option("--hosts", type=click.IntRange(1, 200), default=1, metavar="N", show_default=True,
              help="How many: lab-1 to lab-N.")  # fmt: skip
@click.option("--scenario", default=SCENARIO, metavar="NAME", show_default=True,
              help="What they are; `specctl lab scenarios` lists them.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="NAME[:KEY=VALUE,…]",
              help="What is wrong with them; `specctl lab faults` lists them.")  # fmt: skip
@click.option("--sglang", "build", default=BUILD, metavar="VERSION", show_default=True,
              help="Which release the stand-in speaks like.")  # fmt: skip
@click.option("--load-factor", type=Finite(0, 1000), default=1.0, metavar="X",
              show_default=True,
              help="Times 4 s to load, and times 1 s to end, is what a server takes.")  # fmt: skip
@click.option("--foreground", is_flag=True, help="Stay until Ctrl-C, then take them down.")
def up(
    hosts: int,
    scenario: str,
    faults: tuple[str, ...],
    build: str,
    *,
    load_factor: float,
    foreground: bool,
) -> None:
    """Lay hosts out, serve them over ssh on loopback, and return once they answer.

    specctl lab up --hosts 4 --scenario nvlink-8
    """
    from specctl.lab.faults import parse_fault
    from specctl.lab.up import Wanted, bring_up

    lab = _folder()
    parsed = dict(parse_fault(text) for text in faults)
    wanted = Wanted(hosts, scenario, build, parsed, load_factor)
    record, lacking = bring_up(lab, wanted)
    if lacking:
        diagnostics.warn(lacking)
    for name in record.ports:
        write(f"{name}  SIMULATED")
    diagnostics.say(f"the lab is up: {_words(lab, record)}")
    if foreground:
        _stay(lab)
    else:
        diagnostics.say("next: specctl status lab-1, or specctl; specctl lab down ends it")


def _words(lab: LabFolder, record: Record) -> str:
    from specctl.adapters.paths import short

    return f"{len(record.ports)} SIMULATED host(s) in {short(lab.root)}, served by pid {record.pid}"


def _stay(lab: LabFolder) -> None:
    """Until Ctrl-C or SIGTERM, or until somebody else takes it down."""
    import asyncio
    import contextlib

    from specctl.cli.running import run

    async def until_over() -> None:
        while lab.is_up():  # noqa: ASYNC110  another process takes it down
            await asyncio.sleep(0.5)

    try:
        with contextlib.suppress(KeyboardInterrupt, click.Abort):
            diagnostics.say("Ctrl-C takes it down")
            run(until_over())
    finally:
        _take_down(lab)


@command.command(short_help="End everything on the hosts, and remove them.")
def down() -> None:
    """End the hosts, what runs on them, and remove their folder; nothing else is touched.

    specctl lab down
    """
    _take_down(_folder())


def _take_down(lab: LabFolder) -> None:
    from specctl.lab.up import take_down

    if not lab.is_there:
        diagnostics.say("the lab is not up")
        return
    ended = take_down(lab)
    before = "the lab is down" if ended.was_up else "what a killed lab had left is gone"
    diagnostics.say(f"{before}; {ended.processes} process(es) on its hosts were ended")


@command.command(short_help="Say whether it is up, with which hosts and faults.")
@json_option
def status(*, as_json: bool) -> None:
    """Show the hosts and what is wrong with them; exit 5 when the lab is not up.

    specctl lab status --json
    """
    lab = _folder()
    record = lab.record()
    if record is None or not record.is_alive:
        left = f"; a killed one left {lab.root}" if lab.is_there else ""
        raise NotMetError(f"the lab is not up{left}", hint="specctl lab up")
    found = _read(lab, record)
    if as_json:
        for host in found.hosts:
            SHOWN.notice(Host(host.host, is_simulated=True))
        write_json("lab", plain(found))
        return
    rows = [[h.host, str(h.port), h.scenario, ", ".join(h.faults) or "-"] for h in found.hosts]
    for line in table(["HOST", "PORT", "SCENARIO", "FAULTS"], rows):
        write(line)
    diagnostics.say(_words(lab, record))


def _read(lab: LabFolder, record: Record) -> LabHosts:
    hosts = (
        PracticeHost(
            host.folder.name,
            record.ports[host.folder.name],
            str(host.scenario["scenario"]),
            tuple(_spelled(name, values) for name, values in host.faults().items()),
        )
        for host in lab.hosts()
    )
    return LabHosts(tuple(hosts), record.pid)


def _spelled(name: str, parameters: Mapping[str, object]) -> str:
    inner = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}:{inner}" if inner else name


@command.command(short_help="Put a fault in force on running hosts, or end it.")
@click.argument("fault", metavar="NAME[:KEY=VALUE,…]")
@click.option("--host", "names", multiple=True, metavar="HOST", help="Only there; else everywhere.")
@click.option("--off", is_flag=True, help="End it.")
@click.option("--after", "after_s", type=Seconds(0), default=0.0, metavar="S",
              help="Begin in S seconds.")  # fmt: skip
def fault(fault: str, names: tuple[str, ...], *, off: bool, after_s: float) -> None:
    """Make hosts misbehave while they run.

    \b
    specctl lab fault slow-link:delay_ms=300 --host lab-2
    specctl lab fault cut-link --after 10
    specctl lab fault cut-link --off
    """  # noqa: D301  click reads \b
    from specctl.lab.faults import parse_fault
    from specctl.lab.up import check_faults

    lab = _folder()
    if not lab.is_up():
        raise UsageError("the lab is not up", hint="specctl lab up")
    name, parameters = parse_fault(fault)
    check_faults({name: parameters})
    for host in [lab.host(name) for name in names] or lab.hosts():
        if off:
            host.clear_fault(name)
        else:
            host.set_fault(name, parameters, after_s=after_s)


@command.command(short_help="List the faults there are.")
def faults() -> None:
    """List every fault: its name, its parameters with their defaults, and what it does.

    specctl lab faults
    """
    from specctl.lab.faults import FAULTS

    rows = [
        [name, ",".join(f"{k}={v}" for k, v in one.parameters.items()), one.words]
        for name, one in FAULTS.items()
    ]
    for line in table(["NAME", "PARAMETERS", "WHAT"], rows):
        write(line)


@command.command(short_help="List the kinds of host there are.")
def scenarios() -> None:
    """List every scenario: its name, and what such a host is.

    specctl lab scenarios
    """
    from specctl.lab.scenarios import read_scenario, scenario_names

    rows = [[name, read_scenario(name).words] for name in scenario_names()]
    for line in table(["NAME", "WHAT"], rows):
        write(line)


command.add_command(demo, "demo")
