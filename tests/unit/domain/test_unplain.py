"""Events survive the way to JSON and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from types import UnionType
from typing import get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specctl.domain.events import HostSampled, LinkChanged
from specctl.domain.missing import Missing, Why
from specctl.domain.plain import plain, plain_event
from specctl.domain.state import Link, State, reduce
from specctl.domain.unplain import KINDS, SCHEMA, event_of, field_types, missing_of

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=8)
REASONS = st.builds(Missing, st.sampled_from(Why), TEXTS | st.just("read: Permission denied"))
PLAIN = {str: TEXTS, bool: st.booleans(), int: st.integers(), float: NUMBERS, Missing: REASONS}


def values(kind):
    """Any value that the type of a field allows."""
    arguments = get_args(kind)
    match get_origin(kind):
        case t if t is UnionType:
            return st.one_of([st.none() if a is type(None) else values(a) for a in arguments])
        case t if t is tuple and arguments[-1] is Ellipsis:
            return st.lists(values(arguments[0]), max_size=2).map(tuple)
        case t if t is tuple:
            return st.tuples(*map(values, arguments))
        case t if t in {dict, Mapping}:
            return st.dictionaries(*map(values, arguments), max_size=2)
    if kind in PLAIN:
        return PLAIN[kind]
    return st.sampled_from(kind) if issubclass(kind, Enum) else objects(kind)


def objects(kind):
    types = field_types(kind)
    given_values = {field.name: values(types[field.name]) for field in fields(kind)}
    if kind is LinkChanged:
        given_values["link"] = st.sampled_from(Link)
    return st.fixed_dictionaries(given_values).map(lambda found: kind(**found))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_an_event_survives_json_and_back(kind, data):
    event = data.draw(objects(kind))
    document = {"schema": SCHEMA, **plain_event(event)}
    back = event_of(json.loads(json.dumps(document)))
    assert back == event
    assert plain_event(back) == plain_event(event)
    assert reduce(State(), back) == reduce(State(), event)


@given(REASONS)
def test_a_reason_survives_as_its_words(reason):
    assert missing_of(str(reason)) == reason


def sampled(**changes):
    gpu = {"index": 0, "uuid": "GPU-1", "name": "H100", **changes}
    sample = {"time_s": 1, "host": {}, "gpus": [gpu], "gpu_source": "nvml"}
    return {"event": "HostSampled", "host": "h", "time_s": 2, "sample": sample}


def test_a_field_that_a_line_lacks_takes_its_default():
    found = event_of(sampled())
    assert isinstance(found, HostSampled)
    assert found.sample.gpus[0].power_w is None
    assert found.sample.host.missing == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"power_w": "250"}, "sample.gpus[0].power_w: must be a number, not '250'"),
        ({"power_w": True}, "sample.gpus[0].power_w: must be a number, not True"),
        ({"power_w": math.nan}, "sample.gpus[0].power_w: must be a number, not nan"),
        ({"power_w": 10**400}, "sample.gpus[0].power_w: must be a number, not that"),
        ({"index": 1.5}, "sample.gpus[0].index: must be a whole number, not 1.5"),
        ({"index": None}, "sample.gpus[0].index: must be a whole number, not None"),
        ({"lost": 0}, "sample.gpus[0].lost: must be true or false, not 0"),
        ({"uuid": 7}, "sample.gpus[0].uuid: must be text, not 7"),
        ({"throttle": "heat"}, "sample.gpus[0].throttle: must be an array, not 'heat'"),
        ({"throttle": [1]}, "sample.gpus[0].throttle[0]: must be text, not 1"),
        ({"processes": [7]}, "sample.gpus[0].processes[0]: must be an object, not 7"),
        ({"processes": [{}]}, "sample.gpus[0].processes[0].pid: is not there"),
        ({"colour": 1}, "sample.gpus[0].colour: GpuSample has no such field"),
        ({"missing": {"a": "gone"}}, "sample.gpus[0].missing.a: must begin with one of not supp"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(changes, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        event_of(sampled(**changes))


LINK = plain(LinkChanged("h", 1, "up"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({**LINK, "event": "Exploded"}, "event: must be one of HostDescribed, "),
        ({**LINK, "event": ["LinkChanged"]}, "event: must be one of HostDescribed, "),
        (LINK, "event: must be one of HostDescribed, "),
        ({**LINK, "event": "LinkChanged", "schema": "specctl/event/2"}, "schema: must be specctl/"),
        ({**LINK, "event": "LinkChanged", "link": "bogus"}, "link: must be one of idle, connect"),
        ({"event": "LinkChanged", "time_s": 1}, "host: is not there"),
        (
            {"event": "ServersSeen", "host": "h", "time_s": 1, "servers": [{"state": "odd"}]},
            "servers[0].name: is not there",
        ),
    ],
)
def test_what_is_no_event_is_refused(value, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        event_of(value)
