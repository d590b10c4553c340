"""Examples of the JSON objects that say whether speculation is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.advising import advise_on
from specctl.domain.costing import CostReport, TypedCosts, cost_rows
from specctl.domain.expecting import expect, report
from specctl.domain.forecast.advice import CostTable
from specctl.domain.forecast.corpora import Document
from specctl.domain.forecast.forecasting import Question, forecast
from specctl.domain.forecast.reading import read_settings
from specctl.domain.forecast.report import ForecastReport
from specctl.domain.host import Host
from specctl.domain.interconnect import UNEXERCISED, AllReduce, Link, ReducedSize
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.listed import HostList, ProfileList, list_host, list_profile
from specctl.domain.plain import plain
from specctl.domain.profile import Expectation, Profile, Speculation
from specctl.domain.remote_command import CommandList, RemoteCommand, Way
from specctl.domain.topology import HostTopology, Topologies, Topology, topology_words
from tests.unit.domain.forecast.transcripts import like_text
from tests.unit.domain.run_figures import FIRST, chain, run, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _advise() -> Any:
    pairs = (chain(3), chain(3, concurrency=32, step_s=0.034), tree())
    return plain(advise_on([run(*pairs)]))


def _expect() -> Any:
    expectation = Expectation(accept_length=2.4, speedup=1.9)
    profile = Profile("eagle3-3", "m", baseline="base", expectation=expectation)
    return plain(report(expect("gpu8", profile, "b" * 12, [run(chain(3))])))


def _forecast() -> Any:
    arguments = {"num-draft-tokens": 8, "ngram-capacity": 50_000}
    profile = Profile("ngram", "m", speculation=Speculation("NGRAM", arguments))
    transcripts = [*like_text(2, 60, category="code"), *like_text(2, 60, 9, "chat")]
    question = Question(
        transcripts,
        read_settings(profile, "0.5.23"),
        documents=[Document("docs.jsonl:1", transcripts[1].output)],
        costs=CostTable(0.016, {8: 0.02, 16: 0.024}, "measured in 5c0ffee2"),
    )
    return plain(
        ForecastReport(
            host="gpu8",
            profile="ngram",
            transcripts="answers.jsonl",
            transcripts_sha256="a" * 64,
            tokens="by the tokenizer bbbbbbbbbbbb of gpu8",
            tokenizer_sha256="b" * 64,
            template_sha256=None,
            forecast=forecast(question),
            notes=("lines that hold a prompt without an answer: 1",),
        )
    )


def _cost() -> Any:
    earlier = run(chain(3, step_s=0.0235), run_id="91aa0c3e")
    rows = cost_rows(
        run(chain(3, first_tokens=FIRST)), "eagle3-3", earlier=[earlier],
        typed=TypedCosts(0.016, 0.022, 2.4),
    )  # fmt: skip
    sizes = (ReducedSize(1, 14_336, 0.000021, 0.000018, 0.002562),)
    return plain(
        CostReport(
            host="gpu8",
            profile="eagle3-3",
            baseline="base",
            run="5c0ffee2",
            rows=rows,
            links=(Link(0, 4, 5, 16, 16, has_nvlink=False),),
            allreduce=AllReduce("nccl", 8, 61, "2.9.1", sizes, (UNEXERCISED,)),
            notes=(),
        )
    )


def _hosts() -> Any:
    lab = Host(
        "lab-1", address="127.0.0.1", port=40231, is_simulated=True, file="remotes/lab-1.toml"
    )
    named = Host(
        "gpu8", ssh="gpu8", labels={"site": "rack 4"}, read_only=True, file="remotes/gpu8.toml"
    )
    return plain(HostList((list_host(named), list_host(lab))))


def _profiles() -> Any:
    profile = Profile(
        "eagle3-3", "org/m", "EAGLE-3", speculation=Speculation("EAGLE3"), baseline="base"
    )
    finding = Finding(
        Severity.REWRITE, "speculation.num-draft-tokens", "8 to 4", profile="eagle3-3"
    )
    rows = (
        list_profile("eagle3-3", "profiles/eagle3-3.toml", profile, [finding], is_simulated=False),
        list_profile("odd", "profiles/odd.toml", None, [], is_simulated=False),
    )
    return plain(ProfileList("SGLang 0.5.23", None, rows))


def _topology() -> Any:
    ways = (("X", "NV12", "SYS"), ("NV12", "X", "SYS"), ("SYS", "SYS", "X"))
    found = Topology((0, 1, 2), ways, (0, 0, None))
    missing = HostTopology(None, "host cpu1: nvidia-smi topo -m printed no matrix")
    return plain(Topologies({"gpu8": HostTopology(found, topology_words(found)), "cpu1": missing}))


def _commands() -> Any:
    way = Way.COMMAND
    argv = ("python3", "-I", "-c", "…", "specctl-9f")
    asked = {"launch_id": "7c1e2d90", "argv": ["python", "-m", "sglang.launch_server"]}
    launch = RemoteCommand(
        1_800_000_000.0, "gpu8", way, "launcher", argv, asked, "ok", changes=True, elapsed_s=0.62
    )
    asked_for = {"paths": ["/models/k2.5"]}
    stat = RemoteCommand(1_800_000_001.0, "gpu8", Way.AGENT, "stat", (), asked_for, "ok")
    return plain(CommandList((launch, stat), "~/.local/state/specctl/commands.jsonl"))


VALUE_EXAMPLES: Mapping[str, Callable[[], Mapping[str, Any]]] = {
    "advise": _advise,
    "commands": _commands,
    "cost": _cost,
    "expect": _expect,
    "forecast": _forecast,
    "hosts": _hosts,
    "profiles": _profiles,
    "topology": _topology,
}
