"""The states the screens are tested with: one story, its numbers consistent with each other.

tok/s = accept length / step time: 1.50 / 28.8 ms = 52.0, the baseline 1 / 17.1 ms = 58.6, so the
break-even accept length is 28.8 / 17.1 = 1.69.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specctl.domain.events import (
    AlertsChanged,
    Event,
    HostDescribed,
    HostSampled,
    LinkChanged,
    LogRead,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuSample, Sample, ServerSample
from specctl.domain.server import Evidence, Milestone, Server, ServerState
from tests.tui import parts


def _up(host: str, group: str, **described: object) -> list[Event]:
    labels = {"group": group} if group else {}
    return [
        HostDescribed(host, parts.NOW_S - 900, labels=labels, **described),  # type: ignore[arg-type]
        LinkChanged(host, parts.NOW_S - 890, "up"),
    ]


def _live(
    host: str,
    sample: Sample,
    servers: tuple[Server, ...],
    said: ServerSample | None,
    age_s: float = 1.0,
) -> list[Event]:
    out: list[Event] = [
        HostSampled(host, parts.NOW_S - age_s, sample),
        ServersSeen(host, parts.NOW_S - age_s, servers),
    ]
    if said is not None and servers:
        out.append(ServerSampled(host, parts.NOW_S - age_s, servers[0].name, said))
    return out


def pro6k_past(host: str, name: str, mean: float = 1.5, until_s: float = 0.0) -> list[Event]:
    """Five minutes of pro6k-01: accept length under its break-even, GPU 5 slowing down."""
    count = 150
    out: list[Event] = []
    gpus = parts.pro6k_gpus()
    lengths = parts.wander(count, mean, 0.035, 11)
    for i in range(count):
        at_s = parts.NOW_S - 2 * (count - 1 - i)
        if at_s > parts.NOW_S - until_s:
            break
        slow = max(1710.0, 2420.0 - 60 * max(0, i - 70))
        five = GpuSample(
            **{f: getattr(gpus[5], f) for f in gpus[5].__slots__} | {"sm_clock_mhz": slow}
        )
        now = tuple(five if g.index == 5 else g for g in gpus)
        out.append(HostSampled(host, at_s, parts.host_sample(now)))
        length = max(1.0, lengths[i])
        out.append(ServerSampled(host, at_s, name, parts.server_sample(length / 0.0288, length)))
    return out


def steady_past(host: str, name: str, length: float, rate: float) -> list[Event]:
    """Five minutes of a server that goes on as it is."""
    lengths = parts.wander(150, length, 0.05, 23)
    return [
        ServerSampled(
            host,
            parts.NOW_S - 2 * (149 - i),
            name,
            parts.server_sample(rate * now / length, now, running_requests=8),
        )
        for i, now in enumerate(lengths)
    ]


def pro6k_01(host: str = "pro6k-01", **described: object) -> list[Event]:
    """Speculation that costs 11 %."""
    run = parts.server()
    return [
        *_up(host, "pcie", **described),
        ServersSeen(host, parts.NOW_S - 300, (run,)),
        *pro6k_past(host, run.name),
        *_live(host, parts.host_sample(parts.pro6k_gpus()), (run,), parts.server_sample()),
        LogRead(host, parts.NOW_S - 2, run.name, parts.LOG),
    ]


def raised(host: str, ago_s: float, rule: str, words: str, **values: str) -> AlertsChanged:
    """An alert that was raised so long ago."""
    error = rule in {"lost", "crashed", "gpu", "collapsed"}
    severity = "error" if error else "warning"
    return AlertsChanged(
        host, parts.NOW_S - ago_s, rule, is_open=True, words=words, severity=severity, **values
    )


def alerts() -> list[Event]:
    """Those of the fleet, the last of them cleared."""
    queue = raised(
        "h100-a2", 1560, "queue", "kimi-k2-eagle3: 41 requests wait beside 48 running",
        server="7c1e", value="41 > 16",
        hint="more come than it serves: send fewer, or raise max-running-requests",
    )  # fmt: skip
    return [
        raised(
            "pro6k-01", 180, "throttle", "GPU 5 slowed by heat (hw)", value="88 °C, 1.71 GHz",
            hint="what is measured meanwhile is void: look at cooling and power limits",
        ),
        raised(
            "pro6k-01", 1200, "breakeven",
            "kimi-k2.5-eagle3: accept length 1.50 is under its break-even 1.69"
            " (trial 5c0ffee2, 1 at a time)",
            server="7c1e", value="1.50 < 1.69",
            hint="stop it, or try another draft length: specctl advise 5c0ffee2",
        ),
        raised(
            "l40s-08", 240, "lost", "does not answer: 192.0.2.13:22 refused the connection",
            hint="Check sshd there.",
        ),
        raised(
            "h200-b1", 190, "crashed", "kimi-k2.5-eagle3 crashed: out of memory", server="7c1e",
            hint="specctl logs h200-b1/7c1e",
        ),
        raised("h200-b2", 700, "gpu", "GPU 5 lost", hint="specctl doctor h200-b2"),
        queue,
        replace(queue, time_s=parts.NOW_S - 900, is_open=False),
    ]  # fmt: skip


def fleet() -> list[Event]:
    """Twelve hosts, one of each kind of trouble."""

    def named(profile: str, algorithm: str | None, **more: Any) -> Server:
        return parts.server(profile=profile, algorithm=algorithm, **more)

    lost = parts.filled("NVIDIA H200 141GB HBM3e", 8, (0.0,), 0.0, 141.0)
    lost = tuple(parts.gpu(g.index, g.name, lost=True) if g.index == 5 else g for g in lost)
    idle_pro = tuple(
        parts.gpu(i, utilization_percent=3.0, memory_used_bytes=int(55.4 * parts.GIB))
        for i in range(8)
    )
    starting = named(
        "kimi-k2.5-ngram",
        "NGRAM",
        state=ServerState.STARTING,
        milestone=Milestone.DISTRIBUTED,
        why="weights 62%",
    )
    foreign = parts.server(
        "pid-5123",
        state=ServerState.FOREIGN,
        is_ours=False,
        owner="mkl",
        profile=None,
        launch_id=None,
        launched_by=None,
        algorithm=None,
        model="Qwen/Qwen3-30B-A3B",
        why="answers, not started by specctl",
    )
    crashed = named(
        "kimi-k2.5-eagle3",
        "EAGLE3",
        state=ServerState.CRASHED,
        evidence=Evidence(first_cause="out of memory"),
    )
    h100 = "NVIDIA H100 80GB HBM3"
    return [
        *pro6k_01(),
        *_up("pro6k-02", "pcie"),
        *_live(
            "pro6k-02",
            parts.host_sample(parts.filled(parts.PRO6000, 8, (98.0, 97.0), 0.93, 95.6)),
            (named("kimi-k2.5-baseline", None),),
            parts.server_sample(58.6, None),
        ),
        *_up("pro6k-03", "pcie"),
        *_live("pro6k-03", parts.host_sample(idle_pro), (starting,), None),
        *_up("l40s-07", "pcie"),
        *_live(
            "l40s-07",
            parts.host_sample(parts.filled("NVIDIA L40S", 4, (71.0, 68.0, 70.0, 66.0), 0.81, 45.0)),
            (foreign,),
            parts.server_sample(212.4, None),
            2.0,
        ),
        *_up("l40s-08", "pcie"),
        *_live(
            "l40s-08",
            parts.host_sample(parts.filled("NVIDIA L40S", 4, (64.0, 66.0, 81.0, 63.0), 0.79, 45.0)),
            (named("qwen3-30b-eagle3", "EAGLE3"),),
            parts.server_sample(160.2, 1.86),
            241.0,
        ),
        LinkChanged(
            "l40s-08",
            parts.NOW_S - 240,
            "lost",
            "192.0.2.13:22 refused the connection",
            "Check sshd there.",
            parts.NOW_S + 6,
        ),
        *_up("h100-a1", "nvlink"),
        *steady_past("h100-a1", "7c1e", 2.77, 1240.0),
        *_live(
            "h100-a1",
            parts.host_sample(parts.filled(h100, 8, (88.0, 87.0, 89.0, 86.0), 0.88, 80.0)),
            (named("qwen3-235b-eagle3", "EAGLE3"),),
            parts.server_sample(1240.0, 2.77, running_requests=8),
        ),
        *_up("h100-a2", "nvlink"),
        *_live(
            "h100-a2",
            parts.host_sample(parts.filled(h100, 8, (100.0, 99.0), 0.91, 80.0)),
            (named("kimi-k2-eagle3", "EAGLE3", state=ServerState.BUSY),),
            parts.server_sample(611.0, 3.08, running_requests=8),
        ),
        *_up("h200-b1", "nvlink"),
        *_live(
            "h200-b1",
            parts.host_sample(parts.filled("NVIDIA H200 141GB HBM3e", 8, (0.0,), 0.0, 141.0)),
            (crashed,),
            None,
        ),
        *_up("h200-b2", "nvlink"),
        *_live("h200-b2", parts.host_sample(lost), (), None, 2.0),
        *_up("gb10-lab", "small"),
        *_live(
            "gb10-lab",
            parts.host_sample(
                (
                    parts.gpu(
                        0,
                        "NVIDIA GB10",
                        utilization_percent=77.0,
                        memory_scheme="unified",
                        memory_used_bytes=None,
                        memory_total_bytes=None,
                        power_limit_w=None,
                    ),
                )
            ),
            (named("qwen3-4b-ngram", "NGRAM"),),
            parts.server_sample(44.8, 1.31),
        ),
        *_up("a100-old", "small"),
        *_live(
            "a100-old",
            parts.host_sample((), gpu_missing=Missing(Why.NOT_INSTALLED, "no driver")),
            (),
            None,
            3.0,
        ),
        *pro6k_01("lab-1", simulated=True)[:2],
        HostDescribed("lab-1", parts.NOW_S - 900, labels={"group": "small"}, simulated=True),
        *_live(
            "lab-1",
            parts.host_sample(parts.filled(parts.PRO6000, 8, (90.0, 91.0, 92.0), 0.93, 95.6)),
            (parts.server(),),
            parts.server_sample(51.7, 1.51),
        ),
        *alerts(),
    ]


def cut_off(host: str = "pro6k-01") -> list[Event]:
    """pro6k-01, its link lost 42 s ago."""
    run = parts.server()
    return [
        *_up(host, "pcie"),
        ServersSeen(host, parts.NOW_S - 300, (run,)),
        *pro6k_past(host, run.name, until_s=42.0),
        *_live(host, parts.host_sample(parts.pro6k_gpus()), (run,), parts.server_sample(), 42.0),
        LogRead(host, parts.NOW_S - 43, run.name, parts.LOG),
        LinkChanged(
            host, parts.NOW_S - 42, "lost", "no answer to 3 keepalives", "", parts.NOW_S + 6
        ),
    ]


def crossing(host: str = "pro6k-01") -> list[Event]:
    """The gain case: accept length grows over its break-even; 20 s were not measured."""
    run = parts.server()
    out: list[Event] = [*_up(host, "pcie"), ServersSeen(host, parts.NOW_S - 300, (run,))]
    noise = parts.wander(150, 0, 0.05, 5)
    for i in range(150):
        at_s = parts.NOW_S - 2 * (149 - i)
        if 40 <= i < 56:
            continue
        length = max(1.0, 1.5 + 0.5 * (i / 150) ** 0.7 + noise[i])
        out.append(
            ServerSampled(host, at_s, run.name, parts.server_sample(length / 0.0288, length))
        )
    out += _live(
        host, parts.host_sample(parts.pro6k_gpus()), (run,), parts.server_sample(66.0, 1.9)
    )
    return out


def cpu_host(host: str = "cpu") -> list[Event]:
    """A host without GPUs whose server is idle."""
    run = parts.server(
        "3f0a",
        profile="tiny-ngram",
        algorithm="NGRAM",
        gpus=(),
        model="models/tiny",
        argv=(
            "python",
            "-m",
            "sglang.launch_server",
            "--speculative-algorithm",
            "NGRAM",
            "--speculative-num-draft-tokens=8",
        ),
    )
    return [
        *_up(host, ""),
        *_live(
            host,
            parts.host_sample(()),
            (run,),
            parts.server_sample(0.0, None, is_idle=True, running_requests=0),
        ),
    ]


def many(count: int = 64) -> list[Event]:
    """So many hosts in four racks, every seventh lost and every fifth slowed."""
    out: list[Event] = []
    for n in range(count):
        host = f"pro6k-{n:02d}"
        gpus = tuple(
            replace(gpu, utilization_percent=float((gpu.index * 11 + n * 7) % 100), throttle=())
            for gpu in parts.pro6k_gpus()
        )
        age_s = 90.0 if n % 7 == 6 else 1.0
        out += [
            *_up(host, f"rack-{n // 16 + 1}"),
            *_live(
                host, parts.host_sample(gpus), (parts.server(),),
                parts.server_sample(40.0 + n % 13, 1.4 + n % 9 / 10), age_s,
            ),
        ]  # fmt: skip
        if n % 7 == 6:
            words = "no answer to 3 keepalives"
            out += [
                LinkChanged(host, parts.NOW_S - 88, "lost", words, "", parts.NOW_S + 6),
                raised(
                    host, 85, "lost", f"does not answer: {words}", hint=f"specctl doctor {host}"
                ),
            ]
        if n % 5 == 4:
            out.append(raised(host, 600 + n, "throttle", "GPU 5 slowed by heat (hw)"))
    return out
