"""What is measured and launched is kept; what cannot be kept is said, and costs nothing else."""

from __future__ import annotations

from contextlib import closing

import pytest

from specctl.adapters.clock import SystemClock
from specctl.adapters.ledger import Ledger
from specctl.adapters.workloads import read_workload
from specctl.domain.comparison import Arm, Comparison
from specctl.domain.errors import ConnectionLostError
from specctl.domain.profile import Profile
from specctl.domain.runs import Provenance, RunKind
from specctl.domain.simulated_acceptance import report_forced
from specctl.services import keeping
from specctl.services.keeping import Keeper
from tests.tui import parts, plans

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
        run = ledger.run(run_id)
    assert (run.kind, run.host) == (kind, "h")
    assert run.ended_s is not None
    assert run.ended_s >= run.began_s
    assert run.document
    if kind in {RunKind.COMPARISON, RunKind.ACCEPTANCE}:
        assert run.provenance.arguments["base"] == {"tp-size": 8}
        assert run.profiles == ("base", "eagle")


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
