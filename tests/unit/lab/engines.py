"""Engines as the tests of the lab need them, and running them to the end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from specctl.lab.building import build_engine, build_tokenizer
from specctl.lab.chat import render
from specctl.lab.requests import Request
from specctl.lab.seed import read_story
from specctl.lab.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.lab.engine import Engine
    from specctl.lab.outcomes import PrefillBatch, StepKind, StepOutcome, VerifyBatch
    from specctl.lab.requests import Account, Finish

STORY = read_story("pcie-8")
TOKENIZER = build_tokenizer()
FOREIGN, TRAINED = "kimi-k2-eagle3", "kimi-k2.5-eagle3"
EAGLE = Setting(algorithm="EAGLE3", num_steps=3, num_draft_tokens=4)
NGRAM = Setting(algorithm="NGRAM", num_steps=1, eagle_topk=10, num_draft_tokens=12)


def make_engine(
    setting: Setting | None = None,
    *,
    drafter: str | None = None,
    seed: int = 7,
    boot: int = 1,
    story: dict[str, Any] | None = None,
) -> Engine:
    """The story's target on its host."""
    scenario = {**(story or STORY), "seed": seed}
    return build_engine(
        setting or Setting(), scenario, model_name="kimi-k2.5", draft_name=drafter, boot=boot
    )


def ask(rid: str, text: str = "Explain the moon.", **wishes: Any) -> Request:
    """A request for the answer to `text`, of at most 32 tokens unless wished otherwise."""
    tokens = tuple(TOKENIZER.encode(render([{"role": "user", "content": text}])))
    return Request(rid, tokens, **{"max_new_tokens": 32, **wishes})


def read_requests(workload: str) -> list[Request]:
    """The prompts of a workload that comes with specctl."""
    text = (resources.files("specctl.workloads") / f"{workload}.jsonl").read_text(encoding="utf-8")
    first, *lines = map(json.loads, text.splitlines())
    most = first["workload"].get("max_tokens", 128)
    return [
        ask(str(number), line["messages"][0]["content"],
            max_new_tokens=line.get("max_tokens", most))
        for number, line in enumerate(lines)
    ]  # fmt: skip


@dataclass
class Run:
    """What an engine did until it had nothing left to do."""

    outcomes: list[StepOutcome] = field(default_factory=list)
    outputs: dict[str, list[int]] = field(default_factory=dict)
    finishes: dict[str, Finish] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)

    def texts(self) -> dict[str, str]:
        return {rid: TOKENIZER.decode(tokens) for rid, tokens in self.outputs.items()}

    def of_kind(self, kind: StepKind) -> list[StepOutcome]:
        return [outcome for outcome in self.outcomes if outcome.kind is kind]

    @property
    def prefills(self) -> list[PrefillBatch]:
        return [outcome.prefill for outcome in self.outcomes if outcome.prefill is not None]

    @property
    def verified(self) -> list[VerifyBatch]:
        return [outcome.verify for outcome in self.outcomes if outcome.verify is not None]

    @property
    def histogram(self) -> Counter[int]:
        total: Counter[int] = Counter()
        for account in self.accounts.values():
            total.update(dict(enumerate(account.histogram)))
        return total

    @property
    def accept_length(self) -> float:
        """Unbiased: without the tokens of prefill."""
        drafts = sum(account.correct_drafts for account in self.accounts.values())
        return 1 + drafts / sum(account.verify_steps for account in self.accounts.values())

    @property
    def tokens_per_s(self) -> float:
        """Of the requests, prefill included."""
        accounts = self.accounts.values()
        took = sum((a.finished_s or 0) - a.submitted_s for a in accounts)
        return sum(account.completion_tokens for account in accounts) / took


def take(engine: Engine, run: Run) -> StepOutcome:
    """One step, noted in `run`."""
    outcome = engine.step()
    run.outcomes.append(outcome)
    for emission in outcome.emissions:
        run.outputs.setdefault(emission.rid, []).extend(emission.tokens)
        if emission.finish is not None:
            run.finishes[emission.rid] = emission.finish
            run.accounts[emission.rid] = engine.account(emission.rid)
    return outcome


def run_all(engine: Engine, requests: Iterable[Request] = (), *, at_once: bool = True) -> Run:
    """Every request to its end, all at once or one after the other."""
    run = Run()
    for request in requests:
        engine.submit(request)
        while not at_once and engine.has_work:
            take(engine, run)
    while engine.has_work:
        take(engine, run)
    return run
