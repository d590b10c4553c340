"""The kinds of host the lab can lay out: one TOML file each, read here."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STORY = "pcie-8"
"""The scenario of the story: what `lab up` takes when none is named."""

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of host."""

    name: str
    words: str
    interconnect: str
    """`pcie`, `nvlink` or `none`."""

    system: Mapping[str, str]
    shared: Mapping[str, str]
    """Of every GPU: key of the NVML stand-in to its value."""

    own: tuple[Mapping[str, str], ...]
    """Of each GPU by itself: its bus, and what differs."""

    def ini(self, host: int) -> str:
        """The file that the NVML stand-in reads on the host of that number."""
        lines = [f"gpus = {len(self.own)}", *_lines(self.system), "[gpu]"]
        lines += [line.replace("{id}", _id(host, 0)) for line in _lines(self.shared)]
        for index, own in enumerate(self.own):
            lines += [f"[gpu {index}]", f"uuid = {uuid(host, index)}", *_lines(own)]
        return "\n".join(lines) + "\n"

    def gpus(self, host: int) -> list[dict[str, Any]]:
        """The GPUs as scenario.json lists them."""
        return [
            {
                "index": index,
                "name": self.shared["name"],
                "uuid": uuid(host, index),
                "memory_bytes": to_bytes(self.shared.get("mem.total")),
                "is_lost": "error.*" in own,
                "mig": _instances(self.shared),
            }
            for index, own in enumerate(self.own)
        ]


def scenario_names() -> list[str]:
    """Every scenario there is."""
    files = resources.files(__name__).iterdir()
    return sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml"))


def read_scenario(name: str) -> Scenario:
    """The scenario called `name`; raises UsageError with the nearest one."""
    values = _read(name)
    system, gpu = values.get("system", {}), dict(_flat(values["gpu"]))
    differing = values.get("gpus", {})
    own = [
        {"pci.bus_id": f"00000000:{bus}", **dict(_flat(differing.get(str(index), {})))}
        for index, bus in enumerate(values["bus_ids"])
    ]
    return Scenario(
        name, values["words"], values["interconnect"], dict(_flat(system)), gpu, tuple(own)
    )


def _read(name: str) -> dict[str, Any]:
    if name not in scenario_names():
        close = nearest(name, scenario_names())
        hint = f"nearest: {close}" if close else f"there are: {', '.join(scenario_names())}"
        raise UsageError(f"no scenario called {name}", hint=hint)
    values = tomllib.loads(resources.files(__name__).joinpath(f"{name}.toml").read_text())
    return {**_read(values["like"]), **values} if "like" in values else values


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested tables as the dotted keys of the NVML stand-in."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, str(value)


def _lines(table: Mapping[str, str]) -> list[str]:
    return [f"{key} = {value}" for key, value in table.items()]


def _instances(shared: Mapping[str, str]) -> list[int]:
    return [position for position in range(8) if f"mig.{position}.uuid" in shared]


def uuid(host: int, gpu: int) -> str:
    """Unlike any other GPU's of the same lab."""
    return f"GPU-{_id(host, gpu)}-0000-0000-0000-000000000000"


def _id(host: int, gpu: int) -> str:
    return f"1ab{host:03d}{gpu:02d}"


def to_bytes(text: str | None) -> int | None:
    """`97887M` as bytes; None where the GPU has no memory of its own."""
    if text is None:
        return None
    unit = _UNITS.get(text[-1], 0)
    return int(text[:-1]) * unit if unit else int(text)
