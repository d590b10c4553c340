"""`specctl status --topology`: how the GPUs of hosts reach each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write, write_json
from specctl.cli.running import chosen_hosts, exit_status, fleet_of
from specctl.cli.table import table
from specctl.domain.errors import SpecctlError
from specctl.domain.figures import UNKNOWN
from specctl.domain.plain import plain
from specctl.domain.topology import HostTopology, Topologies, topology_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.topology import Topology
    from specctl.services.fleet import Fleet


async def show_topology(invocation: Invocation, hosts: Sequence[str], *, as_json: bool) -> int:
    """Ask each host, print its matrix; 3 when one is not reached, 1 when one has none."""
    async with fleet_of(invocation) as fleet:
        names = chosen_hosts(fleet.workspace, hosts)
        found = {name: await _ask(fleet, name) for name in names}
        status = exit_status(fleet, names)
    if as_json:
        write_json("topology", plain(Topologies(found)))
    else:
        lines = [line for name in names for line in (*topology_text(name, found[name]), "")]
        write("\n".join(lines[:-1]))
    return status or int(any(one.topology is None for one in found.values()))


async def _ask(fleet: Fleet, name: str) -> HostTopology:
    from specctl.services.topology import read_ways

    try:
        found = await read_ways(await fleet.connect(name))
    except SpecctlError as error:
        return HostTopology(None, error.message)
    return HostTopology(found, topology_words(found))


def topology_text(name: str, found: HostTopology) -> list[str]:
    """A host's sentence and its matrix."""
    lines = [f"{style(name, 'bold')}  {found.words}"]
    if found.topology is None:
        return lines
    heads = ("", *(f"GPU{gpu}" for gpu in found.topology.gpus), "NUMA")
    return [*lines, *table(heads, _rows(found.topology), right=" ".join(heads[1:]))]


def _rows(found: Topology) -> list[tuple[str, ...]]:
    return [
        (f"GPU{gpu}", *(way or "?" for way in ways), UNKNOWN if node is None else str(node))
        for gpu, ways, node in zip(found.gpus, found.ways, found.numa, strict=True)
    ]
