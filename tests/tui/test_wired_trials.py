"""Trials on a real workspace: planned on this machine, and read from a real ledger."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.ledger import Ledger
from specctl.domain.errors import UsageError
from specctl.domain.forecast.kept import report_json
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.state import Store
from specctl.domain.training import TrainedOn
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.services.launch import recipe_hash
from specctl.services.screening_plan import ScreeningProposal
from specctl.services.trial import read_trial
from specctl.services.trial_plan import Proposal
from specctl.tui import wired_screening, wired_trials
from specctl.tui.services import Reference
from specctl.tui.wiring import open_services
from tests.tui import trials
from tests.unit.domain.forecast.kept import kept_report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from specctl.tui.trials import TrialSheet
    from specctl.tui.wiring import WorkspaceServices

NGRAM = '[speculation]\nalgorithm = "NGRAM"\n'
PROFILES = {
    "plain": 'model = "models/tiny"\n',
    "other-plain": 'model = "models/big"\n',
    "draft": f'model = "models/tiny"\nbaseline = "other-plain"\n{NGRAM}',
    "orphan": f'model = "models/tiny"\n{NGRAM}',
}


@pytest.fixture
async def services(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[WorkspaceServices]:
    (tmp_path / "remotes").mkdir()
    (tmp_path / "profiles").mkdir()
    here = f'transport = "local"\nstate_dir = "{tmp_path / "state"}"\n'
    (tmp_path / "remotes" / "here.toml").write_text(here)
    for name, text in PROFILES.items():
        (tmp_path / "profiles" / f"{name}.toml").write_text(text)
    for wired in (wired_trials, wired_screening):
        monkeypatch.setattr(wired, "ledger_file", lambda: tmp_path / "ledger.db")
    opened = await open_services(tmp_path, Store(), read_only=False)
    yield opened
    await opened._fleet.close()


def keep(path: Path, sheet: TrialSheet) -> None:
    ledger = Ledger(path)
    provenance = Provenance("0.1.0", "kim@desk", sheet.plan.host, gpus=("RTX PRO 6000",) * 8,
                            trained_on=sheet.plan.trained_on)  # fmt: skip
    ledger.add(
        Run(
            sheet.plan.id, RunKind.TRIAL, sheet.plan.host,
            (sheet.plan.baseline, sheet.plan.profile), sheet.blocks[0].began_s, sheet.ended_s,
            sheet.outcome, provenance, plan_json(sheet.plan),
        )
    )  # fmt: skip
    for block in sheet.blocks:
        ledger.add_block(sheet.plan.id, block_json(block))
    ledger.close()


async def test_a_trial_of_the_ledger_says_what_it_said(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    sheet = trials.decided()
    keep(tmp_path / "ledger.db", sheet)

    found = await services.list_trials()
    read = await services.read_trial(found[0].id)

    assert found[0].outcome == "slower"
    assert read.word == "slower"
    assert read.sentence == sheet.sentence
    assert read.looks == sheet.looks
    assert ("GPUs", "8x RTX PRO 6000") in read.conditions
    assert len(read.published) > 10


async def test_the_newest_trial_gives_the_break_even_of_a_host(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    keep(tmp_path / "ledger.db", trials.decided())
    keep(tmp_path / "ledger.db", trials.cut_off())
    own = Reference(50.0, 1.2, "probe of plain")

    await services.learn_trials()

    found = services.with_trial(Reference(), "pro6k-01", trials.EAGLE)
    assert found.even == pytest.approx(1.69, abs=0.01)
    assert found.tokens_per_s == pytest.approx(55.3, abs=0.5)
    assert "trial 37aabb01 against kimi-k2.5-baseline" in found.source
    assert services.with_trial(Reference(), "elsewhere", trials.EAGLE) == Reference()
    assert services.with_trial(own, "pro6k-01", trials.EAGLE) is own


async def test_a_trial_of_another_process_is_learned_once(
    services: WorkspaceServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = read_trial

    def counted(ledger: Ledger, run_id: str) -> object:
        read.append(run_id)
        return whole(ledger, run_id)

    monkeypatch.setattr(wired_trials, "read_trial", counted)
    await services.learn_new_trials()
    assert services.with_trial(Reference(), "pro6k-01", trials.EAGLE).even is None

    keep(tmp_path / "ledger.db", trials.decided())
    await services.learn_new_trials()
    await services.learn_new_trials()
    found = services.with_trial(Reference(), "pro6k-01", trials.EAGLE)
    assert found.even == pytest.approx(1.69, abs=0.01)
    await services.learn_trials()
    assert services.with_trial(Reference(), "pro6k-01", trials.EAGLE) == found
    assert len(read) == 1


async def test_a_trial_that_is_not_there_is_an_error_of_words(
    services: WorkspaceServices,
) -> None:
    with pytest.raises(UsageError, match="no run 12341234"):
        await services.read_trial("12341234")


def test_the_profiles_own_baseline_goes_first_then_one_of_the_same_model(
    services: WorkspaceServices,
) -> None:
    assert services.ask_trial("here", "draft").baseline == "other-plain"
    assert services.ask_trial("here", "orphan").baseline == "plain"
    assert "draft" in services.ask_trial("here", "orphan").baselines
    assert "warm-up" not in services.ask_trial("here", "draft").workloads


async def test_a_plan_is_made_by_the_service_of_the_command(services: WorkspaceServices) -> None:
    ask = replace(services.ask_trial("here", "draft"), launches=4, margin=0.05, workload="code")

    proposal = await services.plan_trial(ask)

    assert proposal.plan.design.most_launches == 4
    assert proposal.plan.design.margin == 0.05
    assert proposal.plan.workload == "code"
    assert isinstance(proposal, Proposal)
    assert (proposal.plan.baseline, proposal.plan.profile) == ("other-plain", "draft")
    assert any("AB BA BA AB" in words for words in proposal.words)


async def test_a_plan_is_predicted_by_a_kept_forecast_where_the_baseline_is_plain(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    recipe = recipe_hash(services._workspace.profile("draft", on="here"))
    provenance = Provenance("0.1.0", "kim@desk", None, recipes={"draft": recipe})
    with closing(Ledger(tmp_path / "ledger.db")) as ledger:
        ledger.add(
            Run("f0f0f0f0", RunKind.FORECAST, None, ("draft",), 1.0, 2.0, "", provenance,
                report_json(kept_report()))
        )  # fmt: skip

    ask = services.ask_trial("here", "draft")
    plain = await services.plan_trial(ask)
    drafting = await services.plan_trial(replace(ask, baseline="orphan"))

    assert isinstance(plain, Proposal)
    assert isinstance(drafting, Proposal)
    assert plain.plan.predicted[0].is_forecast
    assert any("by forecast f0f0f0f0 of 8 answers" in words for words in plain.words)
    assert drafting.plan.predicted[0].missing is not None
    assert "orphan speculates" in drafting.plan.predicted[0].missing.detail


async def test_a_warm_trial_gives_the_break_even_where_no_cold_one_does(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    others = TrainedOn("others", "1" * 64, 12)
    cold = trials.decided()
    plan = replace(cold.plan, id="77aabb01", trained_on=others, training_source="others")
    warm = replace(cold, plan=plan, blocks=tuple(replace(b, began_s=b.began_s + 9e4)
                                                 for b in cold.blocks))  # fmt: skip
    keep(tmp_path / "ledger.db", warm)
    await services.learn_trials()
    found = services.with_trial(Reference(), "pro6k-01", trials.EAGLE)
    assert found.source.startswith("trial 77aabb01 against kimi-k2.5-baseline, warm after others")

    keep(tmp_path / "ledger.db", cold)
    await services.learn_trials()
    found = services.with_trial(Reference(), "pro6k-01", trials.EAGLE)
    assert found.source.startswith(f"trial {cold.plan.id} ")
    assert "warm" not in found.source


async def test_a_training_set_is_turned_to_typed_and_planned_with(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    (tmp_path / "mine.jsonl").write_text('{"prompt": "a"}\n{"prompt": "b"}\n')
    (tmp_path / "past.jsonl").write_text('{"prompt": "c"}\n')
    ask = replace(services.ask_trial("here", "draft"), workload="mine.jsonl")
    assert (ask.trained_on, ask.words("trained on")) == (None, "none")
    assert ask.turned("trained on", 1).trained_on == ask.workloads[0]
    warm = ask.typed("trained on", " past.jsonl ")
    assert warm.completions("trained on", "pa") == ("past.jsonl",)
    assert warm.typed("trained on", "none").trained_on is None

    proposal = await services.plan_trial(warm)

    assert isinstance(proposal, Proposal)
    assert proposal.plan.trained_on is not None
    assert proposal.plan.trained_on.workload == "past"
    assert proposal.plan.training_source == "past.jsonl"
    assert any("trained on past, 1 prompt, before each" in words for words in proposal.words)
    with pytest.raises(UsageError, match="a training prompt is also measured: 'a'"):
        await services.plan_trial(replace(ask, trained_on="mine.jsonl"))


async def test_a_plan_looks_when_it_was_asked_to(services: WorkspaceServices) -> None:
    ask = services.ask_trial("here", "draft")
    looks = {}
    for _ in range(3):
        proposal = await services.plan_trial(ask)
        assert isinstance(proposal, Proposal)
        looks[ask.written("strict")] = proposal.plan.design.looks
        ask = ask.turned("strict", 1)
    assert looks == {"no": (2, 3, 4, 5, 6, 7, 8), "yes": (6, 7, 8), "one look": (8,)}
    assert ask.words("strict") == "no word before all launches are made"
    assert ask.typed("strict", "n").strict == "no"
    with pytest.raises(UsageError, match="is none of no, yes, one look"):
        ask.typed("strict", "maybe")


async def test_several_profiles_make_a_screening_and_a_file_of_the_workspace_a_workload(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    (tmp_path / "real.jsonl").write_text('{"prompt": "hello", "category": "chat"}\n')
    ask = services.ask_trial("here", "draft")
    assert ask.workloads[-1] == "real.jsonl"
    ask = replace(ask, workload="real.jsonl", others=("orphan",), concurrencies=(1, 4))
    proposal = await services.plan_trial(ask)
    assert isinstance(proposal, ScreeningProposal)
    assert proposal.plan.candidates == ("draft", "orphan")
    assert proposal.plan.concurrencies == (1, 4)
    with pytest.raises(UsageError, match="over goes over one profile"):
        await services.plan_trial(replace(ask, over=("num-steps=1,3",)))


async def test_a_trial_whose_profile_changed_does_not_go_on(
    services: WorkspaceServices, tmp_path: Path
) -> None:
    sheet = trials.cut_off()
    plan = replace(sheet.plan, host="here", baseline="plain", profile="draft")
    keep(tmp_path / "ledger.db", replace(sheet, plan=plan))

    with pytest.raises(UsageError, match="plain has changed since trial"):
        await services.plan_resumption(plan.id)
