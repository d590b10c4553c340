"""Locks of others: a measurement waits for them, and starts heed those of a measurement."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from specctl.cli import plan_text
from specctl.domain.errors import LockedError
from specctl.domain.events import RESTORING, PlanProgressed
from specctl.domain.measured_on import MEASURING
from specctl.domain.plan import refused
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Profile
from specctl.services import arm, restoring
from specctl.services.arm import LOCKED_MOST_S, Bench
from specctl.services.launch import plan_launch
from specctl.services.locks import hold_locks
from specctl.services.restoring import Former, restore

PROFILE = Profile("ngram", "org/m")


class Waiting:
    """A clock on which only sleeping takes time."""

    def __init__(self):
        self.now_s = 0.0

    def monotonic(self):
        return self.now_s

    def now(self):
        return self.now_s

    async def sleep(self, seconds):
        self.now_s += seconds


@pytest.fixture
def bench():
    return Bench(None, None, None, None, Waiting())  # type: ignore[arg-type]


def plan(*names):
    return SimpleNamespace(refusals=tuple(refused(name, "words", "") for name in names))


async def test_a_lock_of_somebody_else_is_waited_for(bench, monkeypatch):
    answers = [plan("lock"), plan("lock"), plan()]

    async def made(*_, is_measuring, **__):
        assert is_measuring
        return answers.pop(0)

    monkeypatch.setattr(arm, "plan_launch", made)
    assert not (await arm._plan(bench, PROFILE)).refusals
    assert answers == []


@pytest.mark.parametrize("names", [("ports",), ("lock", "ports")])
async def test_another_refusal_is_not_waited_for(names, bench, monkeypatch):
    async def made(*_, **__):
        return plan(*names)

    monkeypatch.setattr(arm, "plan_launch", made)
    assert len((await arm._plan(bench, PROFILE)).refusals) == len(names)
    assert bench.clock.monotonic() == 0


async def test_a_lock_that_stays_is_told_in_the_end(bench, monkeypatch):
    async def made(*_, **__):
        return plan("lock")

    async def applied(*_, **__):
        raise LockedError("gpu8: port-30000 is locked by robin@desk")

    monkeypatch.setattr(arm, "plan_launch", made)
    monkeypatch.setattr(arm, "apply_launch", applied)
    assert (await arm._plan(bench, PROFILE)).refusals
    assert LOCKED_MOST_S <= bench.clock.monotonic() < LOCKED_MOST_S + 10
    with pytest.raises(LockedError):
        await arm._apply(bench, plan())


async def test_who_took_the_lock_between_plan_and_launch_is_waited_for(bench, monkeypatch):
    answers = [LockedError("locked"), LockedError("locked"), "outcome"]

    async def applied(*_, **__):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(arm, "apply_launch", applied)
    found: object = await arm._apply(bench, plan())
    assert found == "outcome"


async def test_a_start_has_to_be_typed_for_where_somebody_measures(
    connection, profile, secrets, clock, tmp_path
):
    async def made(**more):
        return await plan_launch(
            connection, profile, StartOptions(replace=True), secrets=secrets, clock=clock, **more
        )

    free = await made()
    assert not free.is_refused
    keys = [MEASURING + key for key in free.lock_keys]
    async with hold_locks(connection, keys, "specctl compare, trial 5c0ffee2"):
        held = await made()
        own = await made(is_measuring=True)
    (warning,) = [check for check in held.warnings if check.name == "measuring"]
    assert "measured on by" in warning.words
    assert "trial 5c0ffee2" in warning.words
    assert (held.needs_typed, held.is_refused) == ("here", False)
    assert (own.needs_typed, own.is_refused) == (None, False)


async def test_an_interrupted_restoring_says_what_is_not_back(monkeypatch, capsys):
    told: list[PlanProgressed] = []
    started = asyncio.Event()

    async def forever(*_, **__):
        started.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(restoring, "_restore_one", forever)
    connection = SimpleNamespace(host=SimpleNamespace(name="gpu8"))
    store = SimpleNamespace(apply=told.append)
    formers = [Former(None, Profile(name, "m"), StartOptions()) for name in ("base", "other")]
    task = asyncio.ensure_future(
        restore(connection, formers, secrets=None, store=store, clock=Waiting())  # type: ignore[arg-type]
    )
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(type(one), one.step, one.status) for one in told] == [
        (PlanProgressed, RESTORING, "begun"),
        (PlanProgressed, RESTORING, "failed"),
        (PlanProgressed, RESTORING, "failed"),
    ]
    for event in told:
        plan_text.say_restoring(event)
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("specctl: starting base, other again, which ran before; Ctrl-C")
    assert "specctl start gpu8 base" in said[1]
    assert "specctl start gpu8 other" in said[2]
