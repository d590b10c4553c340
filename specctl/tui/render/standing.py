"""How a host and its servers stand: one glyph, one word, and what explains it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.figures import share, spoken
from specctl.domain.missing import Why
from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.tui.render.glyphs import ORDER, STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.sample import GpuSample, Sample, ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.tui.scene import Scene
    from specctl.tui.services import Reference

LOUD = {
    "crashed": "bad", "refused": "bad", "stale": "warn", "stalled": "warn", "unknown": "warn",
    "starting": "data", "connecting": "dim", "draining": "data", "absent": "dim",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Standing:
    """A state in words: `starting` `weights 62%`."""

    state: str
    word: str
    rest: str = ""

    @property
    def glyph(self) -> tuple[str, str]:
        """The glyph's span."""
        return STATES[self.state]

    @property
    def token(self) -> str:
        """The token of the word."""
        return LOUD.get(self.state, "text")


def server_standing(server: Server, activity: str = "") -> Standing:
    """How one server stands."""
    state = server.state.value
    rest = {
        ServerState.STARTING: activity or (server.milestone.value if server.milestone else ""),
        ServerState.BUSY: "prefill",
        ServerState.CRASHED: server.evidence.first_cause or server.why,
        ServerState.FOREIGN: f"by {server.owner}" if server.owner else "",
    }.get(server.state, "" if server.state is ServerState.READY else server.why)
    if server.is_multi_node and server.state is not ServerState.CRASHED:
        rank = "?" if server.node_rank is None else str(server.node_rank)
        rest = f"rank {rank} of several hosts"
    word = "no server" if server.state is ServerState.ABSENT else state
    return Standing(state, word, rest)


def worst(host: HostState) -> Server | None:
    """The server that needs eyes first; ours before foreign ones."""
    servers = host.servers or ()
    return min(servers, key=lambda s: (not s.is_ours, ORDER.index(s.state.value)), default=None)


def host_standing(scene: Scene, name: str) -> Standing:
    """How a host stands: its link first, then the worst of its servers."""
    host = scene.state.host(name)
    linked = _link_standing(scene, name, host)
    if linked is not None:
        return linked
    return _servers_standing(host)


def _link_standing(scene: Scene, name: str, host: HostState) -> Standing | None:
    match host.link:
        case Link.REFUSED:
            return Standing("refused", "refused", link_words(name, host))
        case Link.LOST if host.sample is None:
            return Standing("stale", "no answer", link_words(name, host))
        case Link.LOST | Link.CONNECTING if host.sample is not None:
            why = "link lost" if host.link is Link.LOST else "reconnecting"
            return Standing("stale", "stale", why)
    if host.sample is None:
        return _first_standing(scene, host)
    if scene.is_stale(name):
        return Standing("stale", "stale", f"{spoken(scene.age_s(name))} old")
    return None


def _first_standing(scene: Scene, host: HostState) -> Standing:
    """Before the first sample."""
    if host.link is Link.IDLE:
        return Standing("absent", "not connected")
    since = scene.now_s - host.link_since_s if host.link_since_s is not None else None
    word = "connecting" if host.link is Link.CONNECTING else "reading"
    return Standing("connecting", word, spoken(since) if since is not None else "")


def link_words(name: str, host: HostState) -> str:
    """Why the link is down, without the host's own name in front."""
    return host.link_words.removeprefix(f"host {name}: ").removeprefix(f"{name}: ")


def _servers_standing(host: HostState) -> Standing:
    server = worst(host)
    if server is not None:
        standing = server_standing(server, host.activity)
        if len(host.servers or ()) > 1:
            return Standing(standing.state, *_several(host.servers or (), standing))
        return standing
    if host.activity:
        return Standing("starting", "working", host.activity)
    if host.servers is None:
        return Standing("connecting", "reading", "servers")
    return Standing("absent", "no server", gpu_trouble(host.sample))


def _several(servers: Sequence[Server], standing: Standing) -> tuple[str, str]:
    """`3 servers` and `1 unknown`, or what they all are."""
    alike = sum(server_standing(server, "").word == standing.word for server in servers)
    count = standing.word if alike == len(servers) else f"{alike or 1} {standing.word}"
    return f"{len(servers)} servers", count


SHORT_TROUBLE = {Why.NOT_INSTALLED: "no driver", Why.NOT_YET: ""}


def gpu_trouble(sample: Sample | None) -> str:
    """What is wrong with the GPUs, in two or three words; empty when nothing is."""
    if sample is None:
        return ""
    if sample.gpu_missing is not None:
        why = sample.gpu_missing.why
        return SHORT_TROUBLE.get(why, str(why))
    lost = [str(gpu.index) for gpu in sample.gpus if gpu.lost]
    return f"GPU {' '.join(lost)} lost" if lost else ""


def gpu_reason(sample: Sample) -> str:
    """The same in full, for where there is room."""
    missing = sample.gpu_missing
    return (missing.detail or str(missing.why)) if missing else gpu_trouble(sample)


_NOISE = {
    "nvidia", "tesla", "geforce", "blackwell", "server", "workstation", "edition", "hbm3", "hbm3e",
    "hbm2e", "hbm2", "pcie", "generation", "max-q",
}  # fmt: skip


def short_name(name: str) -> str:
    """`NVIDIA RTX PRO 6000 Blackwell Server Edition` is an `RTX PRO 6000`."""
    words = name.replace("-SXM4-", " ").replace("-PCIE-", " ").replace("-SXM5-", " ").split()
    return " ".join(word for word in words if word.lower() not in _NOISE) or name


def short_model(model: str | None) -> str:
    """A model id as it is; of a path the last two parts."""
    if model is None or not model.startswith(("/", "~", ".")):
        return model or ""
    return "/".join(model.rstrip("/").split("/")[-2:])


def is_unread(sample: Sample) -> bool:
    """Its GPUs are still being asked for the first time."""
    return sample.gpu_missing is not None and sample.gpu_missing.why is Why.NOT_YET


def gpu_words(sample: Sample | None) -> str:
    """`8 RTX PRO 6000`, `no driver`, or nothing known."""
    if sample is None:
        return ""
    if not sample.gpus:
        return "reading" if is_unread(sample) else gpu_trouble(sample) or "CPU only"
    names = {short_name(gpu.name) for gpu in sample.gpus}
    first = short_name(sample.gpus[0].name)
    unified = " unified" if sample.gpus[0].memory_scheme == "unified" else ""
    return f"{len(sample.gpus)} {first}{unified}" + (" +" if len(names) > 1 else "")


SHORTEST_SPAN = 3


def gpu_span(gpus: Sequence[int]) -> str:
    """`0-7` for neighbours, else each: `0 2 5`."""
    if len(gpus) >= SHORTEST_SPAN and list(gpus) == list(range(gpus[0], gpus[0] + len(gpus))):
        return f"{gpus[0]}-{gpus[-1]}"
    return " ".join(str(i) for i in gpus)


def memory_share(gpus: tuple[GpuSample, ...]) -> float | None:
    """Used share of the memory of all GPUs together; None when one of them is not known."""
    alive = [gpu for gpu in gpus if not gpu.lost]
    if not alive or any(g.memory_used_bytes is None or not g.memory_total_bytes for g in alive):
        return None
    used = sum(gpu.memory_used_bytes or 0 for gpu in alive)
    return share(used, sum(gpu.memory_total_bytes or 0 for gpu in alive))


def step_s(sample: ServerSample | None) -> float | None:
    """Time of one verify step: running requests x accept length / tokens per second."""
    if sample is None or sample.is_idle or sample.accept_length is None:
        return None
    if not sample.tokens_per_s or not sample.running_requests:
        return None
    return sample.running_requests * sample.accept_length / sample.tokens_per_s


def speedup(sample: ServerSample | None, reference: Reference) -> float | None:
    """Tokens per second against the baseline's; only while it generates."""
    if sample is None or sample.is_idle:
        return None
    return share(sample.tokens_per_s, reference.tokens_per_s)
