from __future__ import annotations

import typing
from dataclasses import replace

from specctl.domain import events
from specctl.domain.events import (
    AlertsChanged,
    HostDescribed,
    HostRemoved,
    HostSampled,
    LinkChanged,
    LogRead,
    PlanProgressed,
    ProbeProgressed,
    ServerSampled,
    ServersSeen,
)
from specctl.domain.sample import HostSample, Sample, ServerSample
from specctl.domain.server import Server, ServerState
from specctl.domain.state import Link, State, Store, reduce

SAMPLE = Sample(time_s=5, host=HostSample(), gpus=(), gpu_source="nvml")
SERVER = Server("7c1e", ServerState.READY, None, is_ours=True)


def state_after(*happened: events.Event) -> State:
    store = Store()
    for event in happened:
        store.apply(event)
    return store.state


def test_an_unheard_host_is_empty_not_an_error():
    assert State().host("h").servers is None


def test_what_answers_at_the_port_of_a_crashed_server_is_not_its_sample():
    sample, crashed = ServerSample(1, "/v1/loads"), replace(SERVER, state=ServerState.CRASHED)
    sampled = (ServersSeen("h", 1, (SERVER,)), ServerSampled("h", 1, "7c1e", sample))
    assert state_after(*sampled).host("h").server_samples == {"7c1e": sample}
    ended = (*sampled, ServersSeen("h", 2, (crashed,)), ServerSampled("h", 3, "7c1e", sample))
    assert not state_after(*ended).host("h").server_samples


def test_a_lost_link_keeps_the_last_values():
    state = state_after(
        HostSampled("h", 1, SAMPLE),
        ServersSeen("h", 1, (SERVER,)),
        LinkChanged("h", 2, "lost", "timed out", retry_at_s=4),
    )
    host = state.host("h")
    assert host.link is Link.LOST
    assert host.sample is SAMPLE
    assert host.sample_at_s == 1
    assert host.server("7c1e") is SERVER
    assert host.retry_at_s == 4


def test_a_server_that_is_gone_takes_its_samples_along():
    state = state_after(
        ServersSeen("h", 1, (SERVER,)),
        ServerSampled("h", 1, "7c1e", ServerSample(1, "/metrics")),
        ServersSeen("h", 2, ()),
    )
    assert state.host("h").servers == ()
    assert state.host("h").server_samples == {}


def test_hosts_do_not_mix():
    state = state_after(HostSampled("a", 1, SAMPLE), HostDescribed("b", 1, read_only=True))
    assert state.host("a").read_only is False
    assert state.host("b").sample is None
    assert state.host("b").read_only is True


def test_activity_ends_with_the_plan():
    begun = PlanProgressed("h", 1, "p", "weights", "begun", "loading weights")
    done = PlanProgressed("h", 2, "p", "ready", "done", "ready", is_last=True)
    assert state_after(begun).host("h").activity == "loading weights"
    assert state_after(begun, done).host("h").activity == ""
    probing = ProbeProgressed("h", 1, "7c1e", "probing 3 of 8", 3, 8)
    assert state_after(probing).host("h").activity == "probing 3 of 8"


def test_what_is_not_kept_leaves_the_state_as_it_is():
    state = state_after(HostSampled("h", 1, SAMPLE))
    assert reduce(state, LogRead("h", 2, "7c1e", ("line",))) is state


def test_alerts_are_part_of_the_state():
    raised = AlertsChanged("h", 2, "throttle", is_open=True, words="hot")
    cleared = AlertsChanged("h", 3, "throttle", is_open=False, words="hot")
    assert [a.words for a in state_after(raised).host("h").open_alerts] == ["hot"]
    assert state_after(raised, cleared).host("h").open_alerts == ()
    assert len(state_after(raised, cleared).host("h").alerts) == 1


def test_a_host_that_is_removed_is_forgotten():
    state = state_after(HostSampled("h", 1, SAMPLE), HostRemoved("h", 2))
    assert "h" not in state.hosts


def test_what_follows_from_an_event_is_heard_after_it_and_asked_for_once():
    store, heard = Store(), []
    more = AlertsChanged("h", 1, "throttle", is_open=True, words="hot")
    store.derive = lambda event, state: [more]
    store.subscribe(lambda event, state: heard.append(type(event).__name__))
    store.apply(HostSampled("h", 1, SAMPLE))
    assert heard == ["HostSampled", "AlertsChanged"]
    assert store.state.host("h").open_alerts


def test_every_event_names_its_host_and_time():
    for kind in typing.get_args(events.Event):
        assert {"host", "time_s"} <= set(kind.__dataclass_fields__)


def test_listeners_hear_in_order_until_they_leave():
    store, heard = Store(), []
    leave = store.subscribe(lambda event, state: heard.append(("first", event.time_s)))
    store.subscribe(lambda event, state: heard.append(("second", event.time_s)))
    store.apply(HostSampled("h", 1, SAMPLE))
    leave()
    store.apply(HostSampled("h", 2, SAMPLE))
    assert heard == [("first", 1), ("second", 1), ("second", 2)]
