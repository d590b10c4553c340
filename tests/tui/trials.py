"""Trials for the screens: one going on, one decided, one cut off, all worked out by the domain."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specctl.domain.comparison import Unasked
from specctl.domain.probe import Void, VoidKind
from specctl.domain.probe_json import probe_json
from specctl.domain.probing import Window, add_up
from specctl.domain.profile import Profile
from specctl.domain.report.references import Published
from specctl.domain.run_sheet import RunSheet, sheet_of
from specctl.domain.runs import Provenance, Run, RunBrief, RunKind
from specctl.domain.trial.design import Design
from specctl.domain.trial.running import TrialBlock, TrialPlan, stand
from specctl.domain.trial.screening_plan import Omitted, ScreeningBlock, ScreeningPlan
from specctl.services.screening import ScreeningOutcome
from specctl.services.screening_plan import ScreeningProposal
from specctl.services.trial import TrialOutcome
from specctl.services.trial_plan import Proposal
from specctl.tui.asked import TrialAsk
from specctl.tui.screenings import ScreeningSheet, make_screening_sheet
from specctl.tui.trials import TrialSheet, make_sheet
from tests.tui import parts
from tests.unit.domain.requests import request, speculated

if TYPE_CHECKING:
    from specctl.domain.plan import Check
    from specctl.domain.probe import ProbeResult, RequestResult
    from specctl.domain.trial.order import Side

BASE, EAGLE, NGRAM = "kimi-k2.5-baseline", "kimi-k2.5-eagle3", "kimi-k2.5-ngram"
PROMPTS = 24
STEP_S = 0.0171
RESTARTS = (1.0, 1.006, 0.994, 1.004, 1.003, 0.997, 1.002, 0.995) * 3
LAUNCH_S, LOAD_S = {"A": 250.0, "B": 242.0}, 201.0


def plan(trial: str = "42c0ffee", *, profile: str = EAGLE, most: int = 8) -> TrialPlan:
    return TrialPlan(
        id=trial, host="pro6k-01", baseline=BASE, profile=profile, workload="mixed",
        workload_source="mixed", workload_sha256="0" * 64, prompts=PROMPTS, temperature=0.0,
        concurrencies=(1,), design=Design(most_launches=most), created_s=parts.NOW_S - 4000.0,
        recipes=("aaaaaaaaaaaa", "bbbbbbbbbbbb"),
    )  # fmt: skip


def result(
    side: Side, factor: float, *, cost: float = 1.69, accept: float = 1.5, odd: str = ""
) -> ProbeResult:
    """A baseline, or an arm whose step costs `cost` plain ones and emits `accept` tokens."""
    algorithm = None if side == "A" else "EAGLE3"
    step_s = STEP_S * factor * (1.0 if side == "A" else cost)
    requests = [_request(side, n, step_s, accept) for n in range(PROMPTS)]
    void = (Void(VoidKind.OUTSIDE, odd),) if odd else ()
    wall_s = sum(one.server_latency_s or 0.0 for one in requests)
    return add_up(Window("7c1e", "p", 1, algorithm, wall_s, client_cpu_s=0.1), requests, void=void)


def _request(side: Side, n: int, step_s: float, accept: float) -> RequestResult:
    common: dict[str, Any] = {
        "index": n, "category": ("code", "chat")[n % 2], "server_ttft_s": 0.14,
        "text_sha256": hashlib.sha256(f"same{n}".encode()).hexdigest(),
    }  # fmt: skip
    tokens = 100 + 2 * n
    if side == "A":
        return request(
            completion_tokens=tokens + 1, server_latency_s=0.14 + tokens * step_s, **common
        )
    steps = round(tokens / accept)
    more = tokens - steps
    histogram: tuple[int, ...] = (steps - more, more)
    if more > steps:
        histogram = (0, 2 * steps - more, more - steps)
    return speculated(histogram, server_latency_s=0.14 + steps * step_s, **common)


def block(of: TrialPlan, place: int, *, began_s: float, odd: str = "", failure: str = "",
          attempt: int = 0, cost: float = 1.69, accept: float = 1.5) -> TrialBlock:  # fmt: skip
    side = of.order[place]
    measured = result(side, RESTARTS[place], cost=cost, accept=accept, odd=odd)
    return TrialBlock(
        place=place, attempt=attempt, side=side, launch_id=f"{place:04x}beef", began_s=began_s,
        ended_s=began_s + LAUNCH_S[side], results=() if failure else (measured,), failure=failure,
        load_s=None if failure else LOAD_S, kv_tokens=1_490_000 if side == "A" else 1_210_000,
        most_requests=64 if side == "A" else 48,
    )  # fmt: skip


def blocks(of: TrialPlan, count: int, *, began_s: float, **more: Any) -> list[TrialBlock]:
    out: list[TrialBlock] = []
    for place in range(count):
        out.append(block(of, place, began_s=began_s, **more))
        began_s = out[-1].ended_s + 2.0
    return out


PUBLISHED = tuple(
    Published("Kimi-K2", "EAGLE3", 1, steps, 1, steps + 1, accept, speedup, "SpecBundle", "MIT")
    for steps, accept, speedup in ((3, 2.82, 1.68), (5, 3.43, 1.81), (7, 3.8, 1.8), (1, 1.7, 1.25))
)
PROFILES = (Profile(BASE, "moonshotai/Kimi-K2.5"), Profile(EAGLE, "moonshotai/Kimi-K2.5"))
UNASKED = (Unasked(EAGLE, "max-running-requests", 64, 48),)
CONDITIONS = (
    ("by", "kim@desk, specctl 0.1.0"), ("host", "pro6k-01"),
    ("GPUs", "8x NVIDIA RTX PRO 6000"), ("driver", "580.95.05"), ("SGLang", "0.5.23"),
    ("workspace", "41c2f09-dirty"),
)  # fmt: skip


def live(count: int = 7, *, hurt: bool = True, cost: float = 1.545, **more: Any) -> TrialSheet:
    """Some launches in, one of them void and measured again; more of them follow."""
    of = plan()
    more |= {"cost": cost}
    made = blocks(of, count, began_s=parts.NOW_S - 130.0 - 248.0 * (count + hurt), **more)
    if hurt and count > 2:
        odd = replace(made[2], results=(result("B", 1.3, odd="GPU 5 slowed by heat for 41 s"),))
        later = [
            replace(one, began_s=one.began_s + 246.0, ended_s=one.ended_s + 246.0)
            for one in made[2:]
        ]
        made = [*made[:2], odd, replace(later[0], attempt=1), *later[1:]]
    return make_sheet(of, made, conditions=CONDITIONS, published=PUBLISHED)


def decided(**more: Any) -> TrialSheet:
    """A verdict two hours ago."""
    of = plan("37aabb01")
    made = blocks(of, 6, began_s=parts.NOW_S - 9000.0, **more)
    word = stand(of, made).verdicts[1].word
    return make_sheet(
        of, made, outcome=word.value if word else "", ended_s=parts.NOW_S - 7300.0,
        conditions=CONDITIONS, published=PUBLISHED, differences=UNASKED,
    )  # fmt: skip


def cut_off() -> TrialSheet:
    """Interrupted with three launches in."""
    of = plan("29ee0c10", profile=NGRAM)
    made = blocks(of, 3, began_s=parts.NOW_S - 90_000.0)
    return make_sheet(of, made, outcome="interrupted", ended_s=parts.NOW_S - 89_000.0)


def simulated() -> TrialSheet:
    """Of a practice host that the workspace has no more."""
    of = replace(plan("11ab11ab"), host="lab-gone", is_simulated=True)
    made = blocks(of, 6, began_s=parts.NOW_S - 300_000.0, cost=1.2, accept=2.0)
    return make_sheet(of, made, outcome="faster", ended_s=parts.NOW_S - 290_000.0)


def entry(sheet: TrialSheet) -> RunBrief:
    of = sheet.plan
    return RunBrief(
        of.id, RunKind.TRIAL, of.host, (of.baseline, of.profile),
        sheet.blocks[0].began_s if sheet.blocks else parts.NOW_S, sheet.ended_s, sheet.outcome,
        of.is_simulated,
    )  # fmt: skip


OTHERS = (
    RunBrief("5c4ee001", RunKind.SCREENING, "pro6k-01", (BASE, EAGLE, NGRAM),
             parts.NOW_S - 12_000.0, parts.NOW_S - 9_100.0, f"candidates: {EAGLE}",
             simulated=False),
    RunBrief("9b02aa17", RunKind.LAUNCH, "pro6k-01", (EAGLE,), parts.NOW_S - 20_000.0,
             parts.NOW_S - 19_668.0, "Ready in 5:32 on port 30000.", simulated=False),
    RunBrief("77aa0001", RunKind.PROBE, "pro6k-01", (EAGLE,), parts.NOW_S - 18_000.0,
             parts.NOW_S - 17_940.0, "measured", simulated=False),
    RunBrief("77aa0002", RunKind.PROBE, "pro6k-01", (NGRAM,), parts.NOW_S - 16_000.0,
             parts.NOW_S - 15_940.0, "void: GPU 5 slowed by heat for 41 s", simulated=False),
)  # fmt: skip


def run_sheet(run: str) -> RunSheet:
    """Of one of OTHERS: figures differ by its profile."""
    found = next(one for one in OTHERS if one.id == run)
    is_eagle = found.profiles == (EAGLE,)
    measured = result("B", 1.0, accept=1.5 if is_eagle else 1.21)
    provenance = Provenance(
        "0.1.0", "kim@desk", "pro6k-01", driver="580.95.05",
        profiles={found.profiles[0]: f'model = "moonshotai/Kimi-K2.5"\nalgorithm = {is_eagle}\n'},
        arguments={found.profiles[0]: {"tp_size": 8, "max_running_requests": 48}},
    )  # fmt: skip
    kept = Run(
        found.id, found.kind, found.host, found.profiles, found.began_s, found.ended_s,
        found.outcome, provenance, probe_json(measured),
    )  # fmt: skip
    return sheet_of(kept, CONDITIONS)


def ask(host: str, profile: str) -> TrialAsk:
    return TrialAsk(
        host,
        BASE,
        profile,
        "mixed",
        baselines=(BASE, NGRAM),
        workloads=("chat", "code", "mixed", "work/real.jsonl", "work/replay.jsonl"),
    )


def screening_plan() -> ScreeningPlan:
    return ScreeningPlan(
        id="5c4ee001", host="pro6k-01", baseline=BASE, candidates=(EAGLE, NGRAM),
        workload="mixed", workload_source="mixed", workload_sha256="0" * 64, prompts=PROMPTS,
        temperature=0.0, concurrencies=(1,), design=Design(), created_s=parts.NOW_S - 4000.0,
        recipes=("a", "b", "c"), omitted=(Omitted("kimi-k2.5-dflash", "the build has no DFLASH"),),
    )  # fmt: skip


def screening_sheet(trial: str | None = None, launches: int = 3) -> ScreeningSheet:
    of = screening_plan()
    costs = {BASE: (1.0, 1.0), EAGLE: (1.545, 1.5), NGRAM: (1.73, 1.21)}
    made: list[ScreeningBlock] = []
    for n, arm in enumerate(of.arms[:launches]):
        cost, accept = costs[arm]
        measured = result("A" if arm == BASE else "B", 1.0, cost=cost, accept=accept)
        began_s = parts.NOW_S - 3000.0 + 250.0 * n
        made.append(ScreeningBlock(
            round=0, attempt=0, arm=arm, launch_id=f"{n:04x}cafe", began_s=began_s,
            ended_s=began_s + 240.0, result=measured, load_s=LOAD_S,
        ))  # fmt: skip
    return make_screening_sheet(of, made, trial)


def screening_proposal() -> ScreeningProposal:
    return ScreeningProposal(
        plan=screening_plan(), profiles=(*PROFILES, Profile(NGRAM, "moonshotai/Kimi-K2.5")),
        settings=(), formers=(), refusals=(), load_s=LOAD_S,
    )  # fmt: skip


def screening_outcome(*, is_interrupted: bool = False) -> ScreeningOutcome:
    sheet = screening_sheet()
    return ScreeningOutcome(
        sheet.plan, sheet.blocks, sheet.standing, is_interrupted=is_interrupted,
        trial=None if is_interrupted else outcome(decided()),
    )  # fmt: skip


def proposal(of: TrialPlan | None = None, *, refusals: tuple[Check, ...] = ()) -> Proposal:
    return Proposal(
        plan=of or plan(),
        profiles=PROFILES,
        settings=(),
        formers=(),
        refusals=refusals,
        load_s=LOAD_S,
    )


def outcome(sheet: TrialSheet, *, is_interrupted: bool = False) -> TrialOutcome:
    standing = stand(sheet.plan, sheet.blocks)
    restored = ("started kimi-k2.5-baseline again on pro6k-01",)
    return TrialOutcome(
        sheet.plan, sheet.blocks, standing, restored=restored, is_interrupted=is_interrupted
    )
