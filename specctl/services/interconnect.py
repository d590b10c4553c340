"""All-reduces of a model's message sizes, measured on a host while no server is on its GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.command import parse_argv, server_argv, server_environment
from specctl.domain.errors import RefusedError, UsageError
from specctl.domain.interconnect import (
    PER_LAYER,
    UNEXERCISED,
    AllReduce,
    Link,
    ReducedSize,
    links_of,
    step_tokens,
)
from specctl.services.checkpoint_reading import read_checkpoint
from specctl.services.host_files import FileReader
from specctl.services.host_reading import read_gpus, read_host
from specctl.services.mutating import mutating
from specctl.services.preflight import read_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.checkpoint.values import ModelConfig
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading

LIMIT_S = 60
"""After which every rank ends by itself."""

ROUNDS, CALLS, WARM_UP = 15, 10, 10
BYTES = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}
DEFAULT_DTYPE = "bfloat16"
MOST_SIZES = 6


@dataclass(frozen=True, slots=True)
class ReducePlan:
    """What would be measured, and what is in the way."""

    host: str
    backend: str
    ranks: int
    gpus: tuple[int, ...] | None
    """As the driver numbers them; None on a CPU."""

    hidden_size: int
    layers: int
    dtype: str
    tokens: tuple[int, ...]
    refusals: tuple[str, ...]

    @property
    def words(self) -> str:
        """What would be done, in one line."""
        where = "this host's CPU" if self.gpus is None else f"GPUs {', '.join(map(str, self.gpus))}"
        sizes = ", ".join(map(str, self.tokens))
        return (
            f"all-reduce with {self.backend} over {self.ranks} ranks on {where}: {sizes} tokens x "
            f"{self.hidden_size} {self.dtype}, {PER_LAYER} x {self.layers} of them make a step; "
            f"at most {LIMIT_S} s"
        )


async def read_links(connection: Connection, profile: Profile) -> tuple[Link, ...]:
    """How the GPUs of a profile are attached, as far as the driver says."""
    sample = await read_gpus(connection)
    return links_of(sample.gpus, profile.placement.gpus)


async def plan_allreduce(
    connection: Connection, profile: Profile, concurrencies: Sequence[int]
) -> ReducePlan:
    """What all-reduces of this profile would be measured; raises UsageError where it has none."""
    arguments = parse_argv(server_argv(profile, python=("python",), port=0))
    ranks = arguments.tp_size or 1
    if ranks < 2:  # noqa: PLR2004 - one rank reduces nothing
        raise UsageError(
            f"{profile.name} runs with tp-size 1: its steps hold no all-reduce",
            hint="Leave --allreduce out.",
        )
    config = await _read_config(connection, profile)
    if config.hidden_size is None or config.layers is None:
        raise UsageError(f"config.json of {profile.model} does not say hidden size and layers")
    reading = await read_host(connection)
    is_cpu = arguments.text("device") == "cpu" or not reading.sample.gpus
    drafts = profile.speculation.arguments.get("num-draft-tokens") if profile.speculation else None
    gpus = None if is_cpu else _chosen(profile, reading, arguments.base_gpu_id or 0, ranks)
    dtype = arguments.text("dtype") or config.dtype or DEFAULT_DTYPE
    return ReducePlan(
        host=connection.host.name,
        backend="gloo" if is_cpu else "nccl",
        ranks=ranks,
        gpus=gpus,
        hidden_size=config.hidden_size,
        layers=config.layers,
        dtype={"half": "float16", "float": "float32"}.get(dtype, dtype)
        if dtype in BYTES
        else DEFAULT_DTYPE,
        tokens=step_tokens(concurrencies, drafts if isinstance(drafts, int) else None)[:MOST_SIZES],
        refusals=_in_the_way(reading, gpus, ranks),
    )


async def _read_config(connection: Connection, profile: Profile) -> ModelConfig:
    environment = server_environment(profile, connection.host)
    variables = await read_variables(connection, environment)
    found = await read_checkpoint(FileReader(connection), profile.model, variables)
    if found.config is None:
        raise UsageError(
            f"host {connection.host.name}: config.json of {profile.model} cannot be read",
            hint="Its hidden size and layers say how large the messages are.",
        )
    return found.config


def _chosen(profile: Profile, reading: HostReading, base: int, ranks: int) -> tuple[int, ...]:
    placed = profile.placement.gpus or tuple(gpu.index for gpu in reading.sample.gpus)
    return placed[base : base + ranks]


def _in_the_way(reading: HostReading, gpus: tuple[int, ...] | None, ranks: int) -> tuple[str, ...]:
    """Servers and other processes on these GPUs; on a CPU every running server."""
    found = [
        f"{server.name} ({server.profile or server.model or 'a server'}) runs there"
        for server in reading.servers
        if server.pids and _is_on(server, gpus)
    ]
    if gpus is None:
        return tuple(found)
    if len(gpus) < ranks:
        found.append(f"{ranks} ranks need {ranks} GPUs, there are {len(gpus)}")
    for gpu in reading.sample.gpus:
        if gpu.index in gpus and gpu.processes:
            pids = ", ".join(str(process.pid) for process in gpu.processes[:3])
            found.append(f"processes run on GPU {gpu.index}: {pids}")
    return tuple(found)


def _is_on(server: Server, gpus: tuple[int, ...] | None) -> bool:
    """A server whose GPUs are not known may be on any of them."""
    return gpus is None or not server.gpus or bool(set(server.gpus) & set(gpus))


@mutating("measuring all-reduces")
async def measure_allreduce(connection: Connection, plan: ReducePlan) -> AllReduce:
    """Carry it out; raises RefusedError while something runs there."""
    if plan.refusals:
        raise RefusedError(
            f"host {plan.host}: {plan.refusals[0]}",
            hint="All-reduces are measured while nothing else uses those GPUs: stop it first.",
        )
    python = (connection.host.python or connection.hello.executable,)
    request: dict[str, Any] = {
        "ranks": plan.ranks,
        "backend": plan.backend,
        "dtype": plan.dtype,
        "sizes": [plan.hidden_size * tokens for tokens in plan.tokens],
        "rounds": ROUNDS,
        "calls": CALLS,
        "warm_up": WARM_UP,
        "limit_s": LIMIT_S,
        "gpus": None if plan.gpus is None else list(plan.gpus),
    }
    answer = await run_oneshot(
        connection.session, python, "allreduce", request, timeout_s=LIMIT_S + 30.0
    )
    return _read(answer, plan)


def _read(answer: Mapping[str, Any], plan: ReducePlan) -> AllReduce:
    per_step = PER_LAYER * plan.layers
    return AllReduce(
        backend=plan.backend,
        ranks=plan.ranks,
        layers=plan.layers,
        torch=str(answer.get("torch", ""))[:40],
        sizes=tuple(
            ReducedSize(
                tokens=tokens,
                message_bytes=plan.hidden_size * tokens * BYTES[plan.dtype],
                median_s=float(median_s),
                fastest_s=float(fastest_s),
                per_step_s=per_step * float(median_s),
            )
            for tokens, (median_s, fastest_s) in zip(plan.tokens, answer["times_s"], strict=True)
        ),
        notes=(UNEXERCISED,) if plan.backend == "nccl" else (),
    )
