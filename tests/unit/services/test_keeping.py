"""What is measured and launched is kept; what cannot be kept is said, and costs nothing else."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from specctl.adapters.clock import SystemClock
from specctl.adapters.ledger import Ledger
from specctl.adapters.workloads import read_workload
from specctl.domain.comparison import Arm, Comparison
from specctl.domain.comparison_rows import comparison_words
from specctl.domain.errors import ConnectionLostError
from specctl.domain.kept_output import (
    CHARACTERS_MOST,
    TOKENS_MOST,
    pack_output,
    unpack_output,
)
from specctl.domain.probing import Window, add_up
from specctl.domain.profile import Profile
from specctl.domain.runs import Provenance, RunKind
from specctl.domain.simulated_acceptance import report_forced
from specctl.domain.trial.losslessness import Pair, compare_outputs
from specctl.services import keeping
from specctl.services.keeping import Keeper
from specctl.services.kept_comparison import comparison_of
from tests.tui import parts, plans
from tests.unit.domain.requests import request

PROFILES = (Profile("base", "org/model"), Profile("eagle", "org/model"))
COMPARED = Comparison("h", "mixed", 1, (Arm("base", arguments={"tp-size": 8}), Arm("eagle")))


class GoneConnection:
    """Nothing answers."""

    def __getattr__(self, name):
        raise ConnectionLostError(f"host h: no {name}")


async def probed(keeper):
    return await keeper.keep_probe(
        GoneConnection(), parts.server(), None,
        workload=read_workload("mixed", root=None), result=plans.probe_result(),
    )  # fmt: skip


async def launched(keeper):
    plan, outcome = plans.start_plan(), plans.crashed_outcome()
    return await keeper.keep_launch(GoneConnection(), plan, PROFILES[0], outcome)


async def compared(keeper):
    return await keeper.keep_comparison(
        GoneConnection(), PROFILES,
        workload=read_workload("mixed", root=None), comparison=COMPARED, began_s=1.0,
    )  # fmt: skip


async def forced(keeper):
    return await keeper.keep_forced(
        GoneConnection(), PROFILES,
        workload=read_workload("mixed", root=None), comparison=COMPARED,
        report=report_forced(COMPARED, "eagle", (2.0,), variable="X"), began_s=1.0,
    )  # fmt: skip


KEPT = {
    RunKind.PROBE: probed, RunKind.LAUNCH: launched, RunKind.COMPARISON: compared,
    RunKind.ACCEPTANCE: forced,
}  # fmt: skip


@pytest.fixture
def known(monkeypatch):
    async def read(_connection, profiles, _workload=None, _trained_on=None):
        return Provenance("1", "op", "h", profiles={profile.name: "" for profile in profiles})

    monkeypatch.setattr(keeping, "read_provenance", read)


@pytest.mark.parametrize("kind", KEPT, ids=str)
async def test_a_run_is_kept_with_its_conditions(tmp_path, known, kind):
    keeper = Keeper(tmp_path / "ledger.db", SystemClock())
    run_id = await KEPT[kind](keeper)
    assert keeper.failures == []
    with closing(Ledger(keeper.path)) as ledger:
        run = ledger.run(run_id or "")
    assert (run.kind, run.host) == (kind, "h")
    assert run.ended_s is not None
    assert run.ended_s >= run.began_s
    assert run.document
    if kind in {RunKind.COMPARISON, RunKind.ACCEPTANCE}:
        assert run.provenance.arguments["base"] == {"tp-size": 8}
        assert run.profiles == ("base", "eagle")


def said(text, ids, **more):
    return request(
        text=text,
        text_sha256=text,
        output=pack_output(ids, text),
        completion_tokens=len(ids),
        **more,
    )


def measured(profile, *requests):
    window = Window("s", profile, 1, None, 3.0)
    return Arm(profile, None, add_up(window, requests, (said("streamed", [7], ttft_s=0.1),)))


async def test_a_comparison_keeps_the_beginnings_of_its_answers_and_shows_where_they_part(
    tmp_path, known
):
    same = said("the same", [1, 2, 3], index=0)
    arms = (
        measured("base", same, said("a cat sat", [4, 5, 6], index=1)),
        measured("eagle", same, said("a cat ran", [4, 5, 9], index=1)),
    )
    found = replace(COMPARED, arms=arms)
    keeper = Keeper(tmp_path / "ledger.db", SystemClock())
    run_id = await keeper.keep_comparison(
        GoneConnection(), PROFILES,
        workload=read_workload("mixed", root=None), comparison=found, began_s=1.0,
    )  # fmt: skip
    with closing(Ledger(keeper.path)) as ledger:
        run = ledger.run(run_id or "")
    for row in run.document["arms"]:
        assert all("text" not in one for one in row["result"]["requests"])
        assert all("output" not in one for one in row["result"]["streamed"])
    (standing,) = comparison_of(run).standings
    assert standing.outputs == compare_outputs([Pair(3, is_same=True), Pair(2, is_same=False)])
    assert standing == found.standings[0]
    words = comparison_words(comparison_of(run))
    assert "1 of 2 greedy outputs differ (first: prompt 2, token 3, character 7)" in words
    assert standing.outputs is not None
    low, high = standing.outputs.share_low, standing.outputs.share_high
    share = f"1 of 2 prompts the same as the baseline's ({low:.0%} to {high:.0%})"
    assert f"eagle: outputs: {share}, 5 tokens compared" in words


async def test_no_more_of_an_answer_is_kept_than_of_a_trial(tmp_path, known):
    long = said("x" * 2 * CHARACTERS_MOST, list(range(2 * TOKENS_MOST)), index=0)
    keeper = Keeper(tmp_path / "ledger.db", SystemClock())
    run_id = await keeper.keep_comparison(
        GoneConnection(), PROFILES, workload=read_workload("mixed", root=None),
        comparison=replace(COMPARED, arms=(measured("base", long), Arm("eagle"))), began_s=1.0,
    )  # fmt: skip
    with closing(Ledger(keeper.path)) as ledger:
        row = ledger.run(run_id or "").document["arms"][0]
    kept = unpack_output(row["result"]["requests"][0]["output"])
    assert kept is not None
    assert (len(kept.ids or ()), len(kept.text or "")) == (TOKENS_MOST, CHARACTERS_MOST)


@pytest.mark.parametrize("kind", KEPT, ids=str)
async def test_conditions_that_cannot_be_read_are_said(tmp_path, kind):
    keeper = Keeper(tmp_path / "ledger.db", SystemClock())
    assert await KEPT[kind](keeper) is None
    assert [words.startswith("host h: no ") for words in keeper.failures] == [True]
    assert not keeper.path.exists()


@pytest.mark.parametrize("kind", KEPT, ids=str)
async def test_a_ledger_that_cannot_be_used_is_said(tmp_path, known, kind):
    keeper = Keeper(tmp_path / "ledger.db", SystemClock())
    keeper.path.write_bytes(b"no database" * 100)
    assert await KEPT[kind](keeper) is None
    (words,) = keeper.failures
    assert "cannot be used" in words
