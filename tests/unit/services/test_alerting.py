"""Alerts follow from the events of a store and, where those fall silent, from the clock."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.clock import SystemClock
from specctl.adapters.ledger import Ledger
from specctl.adapters.workspace import Workspace
from specctl.domain.alerts.judging import Even
from specctl.domain.alerts.rules import Rules
from specctl.domain.events import (
    AlertsChanged,
    HostRemoved,
    HostSampled,
    LinkChanged,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.filter_fields import chooses, filter_of
from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.state import Store
from specctl.domain.training import TrainedOn
from specctl.domain.trial.trial_json import block_json, plan_json
from specctl.services import evens
from specctl.services.alerting import Alerting
from specctl.services.evens import KnownEvens, gathered, ledger_mark, read_evens
from specctl.services.fleet import Fleet
from specctl.services.monitor import Monitor
from specctl.services.run_figures import figures_of
from tests.tui import parts
from tests.unit.domain.trial.runs import trial_blocks, trial_plan

if TYPE_CHECKING:
    from collections.abc import Callable

NOW_S = parts.NOW_S


def store_of(
    steady: Callable[[], float] | None = None,
) -> tuple[Store, Alerting, list[AlertsChanged]]:
    store = Store()
    heard: list[AlertsChanged] = []
    evens = {"h": {"kimi-k2.5-eagle3": Even(1.69, "trial 5c0f, 1 at a time")}}
    alerting = Alerting(store, Rules(), lambda host: evens.get(host, {}), steady=steady)
    store.subscribe(lambda e, _: heard.append(e) if isinstance(e, AlertsChanged) else None)
    store.apply(LinkChanged("h", NOW_S, "up"))
    store.apply(ServersSeen("h", NOW_S, (parts.server(),)))
    return store, alerting, heard


def sample(store: Store, at_s: float, accept: float = 1.5, **gpu: object) -> None:
    gpus = (parts.gpu(0, **gpu),)  # type: ignore[arg-type]
    store.apply(HostSampled("h", NOW_S + at_s, parts.host_sample(gpus)))
    numbers = replace(parts.server_sample(52.0, accept), time_s=NOW_S + at_s)
    store.apply(ServerSampled("h", NOW_S + at_s, "7c1e", numbers))


def test_an_alert_follows_the_event_that_raises_it_and_is_in_the_state():
    store, _, heard = store_of()
    for second in range(20):
        sample(store, second, throttle=("heat (hw)",))
    assert [(e.rule, e.time_s - NOW_S) for e in heard] == [("throttle", 4), ("breakeven", 16)]
    assert [a.rule for a in store.state.host("h").open_alerts] == ["throttle", "breakeven"]
    assert heard[1].hint


@pytest.mark.parametrize(("step_s", "even_after_s"), [(3600.0, 18), (-3600.0, 16)])
def test_a_clock_that_is_set_raises_nothing_at_once_and_holds_nothing_up(
    step_s: float, even_after_s: int
) -> None:
    """Forward, what the server said looks old once: that look does not count."""
    steady = [0.0]
    store, alerting, heard = store_of(lambda: steady[0])
    for second in range(3):
        steady[0] = second
        sample(store, second, throttle=("heat (hw)",))
    steady[0] = 3
    alerting.tick(NOW_S + step_s + 3)
    assert heard == []
    sample(store, step_s + 3, throttle=("heat (hw)",))
    assert heard == []
    for second in range(4, 20):
        steady[0] = second
        sample(store, step_s + second, throttle=("heat (hw)",))
    seen = [(e.rule, e.time_s - step_s - NOW_S) for e in heard]
    assert seen == [("throttle", 4), ("breakeven", even_after_s)]


def test_a_host_sampled_rarely_is_not_lost_because_the_clock_went_forward() -> None:
    store, heard = Store(), []
    steady = [0.0]
    alerting = Alerting(store, Rules(), interval_s=30.0, steady=lambda: steady[0])
    store.subscribe(lambda e, _: heard.append(e.rule) if isinstance(e, AlertsChanged) else None)
    store.apply(LinkChanged("h", NOW_S, "up"))
    store.apply(HostSampled("h", NOW_S, parts.host_sample((parts.gpu(0),))))
    for second in range(1, 20):
        steady[0] = second
        alerting.tick(NOW_S + 3600 + second)
    assert heard == []
    for second in range(20, 200):
        steady[0] = second
        alerting.tick(NOW_S + 3600 + second)
    assert heard == ["lost"]


class Standing(SystemClock):
    """A clock by which no time passes."""

    def monotonic(self) -> float:
        return 0.0


def test_a_monitor_takes_durations_from_the_clock_that_is_never_set(tmp_path: Path) -> None:
    store, heard = Store(), []
    Monitor(Fleet(Workspace(tmp_path), store, Standing()))
    store.subscribe(lambda e, _: heard.append(e.rule) if isinstance(e, AlertsChanged) else None)
    for second in (0, 3600, 7200):
        store.apply(LinkChanged("h", NOW_S + second, "lost", "no route"))
    assert heard == []


def test_a_silent_host_is_judged_by_the_clock():
    store, alerting, heard = store_of()
    sample(store, 0, accept=1.9)
    for second in range(1, 30):
        alerting.tick(NOW_S + second)
    assert [e.rule for e in heard] == ["lost"]
    sample(store, 30, accept=1.9)
    for second in range(31, 40):
        sample(store, second, accept=1.9)
    assert [e.is_open for e in heard] == [True, False]


def test_a_host_is_judged_once_a_second_however_many_events_it_has(monkeypatch):
    store, alerting, _ = store_of()
    judged: list[float] = []
    judge = alerting._judge

    def counted(name, state, now_s):
        judged.append(now_s)
        return judge(name, state, now_s)

    monkeypatch.setattr(alerting, "_judge", counted)
    for n in range(300):
        sample(store, n / 100)
    assert len(judged) == 3


def test_one_look_waits_for_nothing():
    store, heard = Store(), []
    Alerting(store, Rules().shortest, judged_every_s=0.0)
    store.subscribe(lambda e, _: heard.append(e) if isinstance(e, AlertsChanged) else None)
    store.apply(LinkChanged("h", NOW_S, "lost", "host h: no route"))
    assert [(e.rule, e.words) for e in heard] == [("lost", "does not answer: no route")]


def test_a_host_that_is_removed_is_forgotten():
    store, alerting, heard = store_of()
    store.apply(LinkChanged("h", NOW_S + 1, "lost", "gone"))
    alerting.excuse("h", frozenset({"7c1e"}), NOW_S + 1)
    store.apply(HostRemoved("h", NOW_S + 2))
    alerting.tick(NOW_S + 60)
    assert heard == []
    assert "h" not in store.state.hosts
    for kept in (alerting._watched, alerting._excused, alerting._judged_at_s):
        assert "h" not in kept


def test_a_server_that_is_measured_is_excused_and_asked_of_again():
    store, alerting, heard = store_of()
    (server,) = store.state.host("h").servers or ()
    for second in range(20):
        sample(store, second)
    assert alerting.is_under_even("h", server, NOW_S + 19)
    assert alerting.doubtful("h") == [server]
    alerting.excuse("h", frozenset({"7c1e"}), NOW_S + 20)
    assert [(e.rule, e.is_open) for e in heard] == [("breakeven", True), ("breakeven", False)]
    assert alerting.doubtful("h") == [server]
    alerting.excuse("h", frozenset(), NOW_S + 21)
    assert alerting.doubtful("h") == []


def test_filters_know_the_break_evens():
    store, alerting, _ = store_of()
    sample(store, 0)
    assert chooses(filter_of("accept<1.6 even>1.6"), alerting.subject("h", NOW_S))


def test_filters_and_alerts_have_one_reading_of_what_is_stale():
    store, alerting, _ = store_of()
    slow = Alerting(store, Rules(), interval_s=10.0)
    sample(store, 0)
    for after_s, is_stale in ((3.5, (False, False)), (5, (True, False)), (31, (True, True))):
        found = [one.subject("h", NOW_S + after_s) for one in (alerting, slow)]
        assert tuple(chooses(filter_of("is=stale"), subject) for subject in found) == is_stale
        looks = [one._look("h", store.state, NOW_S + after_s) for one in (alerting, slow)]
        assert tuple(not look.is_fresh for look in looks) == is_stale


def arm(profile: str, step_s: float, concurrency: int = 1) -> ArmFigures:
    return ArmFigures(profile, concurrency, 1, None, None, None, None, None, step_s, 1.5, None)


def run(name: str, kind: str, *pairs: PairFigures, arms: tuple[ArmFigures, ...] = ()) -> RunFigures:
    both = tuple(one for pair in pairs for one in (pair.base, pair.arm))
    return RunFigures(name, kind, "h", None, None, {}, pairs, arms or both)


def pair(base_s: float, arm_s: float, concurrency: int = 1) -> PairFigures:
    return PairFigures("r", arm("base", base_s, concurrency), arm("eagle", arm_s, concurrency), 1.2)


def test_the_newest_run_and_its_smallest_batch_give_the_break_even():
    old = run("aaaa", "trial", pair(0.02, 0.03))
    new = run("bbbb", "comparison", pair(0.02, 0.04), pair(0.02, 0.06, 8))
    found = gathered([old, new], {})["h"]["eagle"]
    assert found.value == pytest.approx(2.0)
    assert found.source == "comparison bbbb, 1 at a time"
    assert found.hint.endswith("specctl advise bbbb")


def test_two_probes_give_one_where_no_run_measured_both():
    probes = [
        run("aaaa", "probe", arms=(arm("base", 0.02),)),
        run("bbbb", "probe", arms=(arm("eagle", 0.03),)),
    ]
    assert gathered(probes, {"eagle": "base"})["h"]["eagle"].value == pytest.approx(1.5)
    assert gathered(probes, {}) == {}
    both = gathered([*probes, run("cccc", "trial", pair(0.02, 0.05))], {"eagle": "base"})
    assert both["h"]["eagle"].value == pytest.approx(2.5)


def test_break_evens_of_cold_and_warm_runs_are_never_put_together():
    others = TrainedOn("others", "1" * 64, 12)
    base = run("aaaa", "probe", arms=(arm("base", 0.02),))
    eagle = replace(run("bbbb", "probe", arms=(arm("eagle", 0.03),)), trained_on=others)
    assert gathered([base, eagle], {"eagle": "base"}) == {}
    alike = gathered([replace(base, trained_on=others), eagle], {"eagle": "base"})["h"]["eagle"]
    assert alike.source == "probes of it and base, 1 at a time, warm after others"
    cold = run("cccc", "trial", pair(0.02, 0.05))
    warm = replace(run("dddd", "trial", pair(0.02, 0.06)), trained_on=others)
    assert gathered([cold, warm], {})["h"]["eagle"].value == pytest.approx(2.5)
    only = gathered([warm], {})["h"]["eagle"]
    assert only.value == pytest.approx(3.0)
    assert only.source == "trial dddd, 1 at a time, warm after others"  # fmt: skip


def test_without_a_ledger_nothing_is_known_and_none_is_made(tmp_path):
    assert read_evens(tmp_path / "ledger.db", {}) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_write_ahead_log_may_go_while_it_is_looked_at(tmp_path, monkeypatch):
    """Whoever closes a ledger last removes it."""
    (tmp_path / "ledger.db").touch()
    monkeypatch.setattr(Path, "exists", lambda _: True)
    assert len(ledger_mark(tmp_path / "ledger.db")) == 1
    assert ledger_mark(tmp_path / "gone.db") == ()


def keep_trials(path, plan, launches):
    """A ledger with a trial for each name, so many launches of it made."""
    with closing(Ledger(path)) as ledger:
        for began_s, (name, blocks) in enumerate(launches.items(), start=1):
            names, origin = (plan.baseline, plan.profile), Provenance("1", "op", "h")
            document = plan_json(plan)
            ledger.add(Run(name, RunKind.TRIAL, "h", names, began_s, None, "", origin, document))
            for block in trial_blocks(blocks, plan=plan) if blocks else ():
                ledger.add_block(name, block_json(block))


def test_of_trials_of_the_same_profiles_the_newest_is_worked_out_alone(tmp_path, monkeypatch):
    worked_out = []

    def counted(evidence):
        worked_out.append(evidence.run.id)
        return figures_of(evidence)

    monkeypatch.setattr(evens, "figures_of", counted)
    path, plan = tmp_path / "ledger.db", trial_plan()
    keep_trials(path, plan, {"aaaa": 4, "bbbb": 4, "cccc": 0})
    found = read_evens(path, {})["h"][plan.profile]
    assert found.source.startswith("trial bbbb")
    assert worked_out == ["cccc", "bbbb"], "the one that has not measured yet tells nothing"


async def test_a_ledger_that_could_not_be_read_is_read_again_though_it_did_not_change(tmp_path):
    path, plan = tmp_path / "ledger.db", trial_plan()
    keep_trials(path, plan, {"aaaa": 4})
    known, whole = KnownEvens(path, Workspace(tmp_path)), path.read_bytes()
    path.write_bytes(b"no database" * 100)
    os.utime(path, ns=(1, 1))
    await known.read()
    assert known("h") == {}
    path.write_bytes(whole)
    os.utime(path, ns=(1, 1))
    await known.read()
    assert known("h")[plan.profile].source.startswith("trial aaaa")


async def test_what_was_known_stands_while_the_ledger_cannot_be_read(tmp_path):
    path, plan = tmp_path / "ledger.db", trial_plan()
    keep_trials(path, plan, {"aaaa": 4})
    known = KnownEvens(path, Workspace(tmp_path))
    await known.read()
    path.write_bytes(b"no database" * 100)
    await known.read()
    assert known("h")[plan.profile].source.startswith("trial aaaa")


async def test_a_run_that_could_not_be_read_while_the_ledger_was_busy_is_read_later(
    tmp_path: Path,
) -> None:
    path, plan = tmp_path / "ledger.db", trial_plan()
    keep_trials(path, plan, {"aaaa": 4})
    with closing(sqlite3.connect(path)) as file:
        file.execute("ALTER TABLE blocks RENAME TO away")
    os.utime(path, ns=(1, 1))
    known, mark = KnownEvens(path, Workspace(tmp_path)), ledger_mark(path)
    await known.read()
    assert known("h") == {}
    with closing(sqlite3.connect(path)) as file:
        file.execute("ALTER TABLE away RENAME TO blocks")
    os.utime(path, ns=(1, 1))
    assert ledger_mark(path) == mark
    await known.read()
    assert known("h")[plan.profile].source.startswith("trial aaaa")
