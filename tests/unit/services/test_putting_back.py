"""After an end by force: servers of arms stop before what ran before a trial runs again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from specctl.domain.errors import HostError
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Profile
from specctl.domain.trial.running import Before
from specctl.services import putting_back
from specctl.services.arm import Bench
from specctl.services.putting_back import provenance_or_put_back, put_back
from specctl.services.restoring import Former, formers_of, left_over_of, left_over_words

ARMS = ("base", "eagle")
RAN = Before("f000", "base", 30000, None)


def former(profile, launch_id=None):
    server = launch_id and SimpleNamespace(name=f"here-{launch_id}", launch_id=launch_id)
    return Former(server, Profile(profile, "org/m"), StartOptions())  # type: ignore[arg-type]


@pytest.fixture
def done(monkeypatch):
    """What happens, in order; two launches are alive."""
    told = []

    async def read(_):
        alive = [SimpleNamespace(launch_id=one, pids=(1,)) for one in ("1111", "f000")]
        return SimpleNamespace(servers=(*alive, SimpleNamespace(launch_id="2222", pids=())))

    async def stop(_, launch_id, profile):
        told.append(f"stop {profile.name} {launch_id}")

    async def restore(_, formers, **more):
        told.extend(f"start {one.profile.name}" for one in formers)
        return ("runs again",)

    monkeypatch.setattr(putting_back, "read_host", read)
    monkeypatch.setattr(putting_back, "stop_arm", stop)
    monkeypatch.setattr(putting_back, "restore", restore)
    return told


@pytest.fixture
def bench():
    return Bench(None, None, None, None, None)  # type: ignore[arg-type]


def test_an_arm_that_did_not_run_before_is_left_over():
    found = [former("eagle", "1111"), former("base", "f000"), former("other", "3333")]
    assert left_over_of([RAN], ARMS, found) == (found[0],)
    assert left_over_words([found[0]]) == (
        "stop here-1111 (eagle), left over from an end by force",
    )
    assert formers_of([RAN], ARMS, found, lambda _: None) == (found[1], found[2])


async def test_what_is_left_over_stops_before_the_former_starts(bench, done):
    left = (former("eagle", "1111"), former("eagle", "2222"))
    assert await put_back(bench, [former("base")], left) == ("runs again",)
    assert done == ["stop eagle 1111", "start base"]


async def test_a_host_that_cannot_be_read_is_told_and_the_former_is_started(
    bench, done, monkeypatch
):
    async def lost(_):
        raise HostError("no answer")

    monkeypatch.setattr(putting_back, "read_host", lost)
    words = await put_back(bench, [former("base")], (former("eagle", "1111"),))
    assert words[0].endswith("was not looked for: no answer")
    assert done == ["start base"]


@pytest.mark.parametrize(
    ("formers", "expected"),
    [([former("other", "3333"), former("base")], ["start base"]), ([former("other", "3333")], [])],
)
async def test_before_the_first_launch_only_what_was_stopped_earlier_starts(
    bench, done, monkeypatch, formers, expected
):
    async def cancelled(*_):
        raise asyncio.CancelledError

    monkeypatch.setattr(putting_back, "read_provenance", cancelled)
    settings = (SimpleNamespace(workload=None, trained_on=None),)
    agreed = SimpleNamespace(settings=settings, profiles=(), formers=formers, left_over=())
    with pytest.raises(asyncio.CancelledError):
        await provenance_or_put_back(bench, agreed)  # type: ignore[arg-type]
    assert done == expected


async def test_a_former_that_was_not_stopped_is_left_alone(bench, done):
    await put_back(bench, [former("base", "f000"), former("other", "2222")])
    assert done == ["start other"]
