"""One example of every published JSON object, from fixed values through the code that prints it.

`python -m tests.unit.cli.examples` writes them to tests/data/golden and the schemas to schema/.
"""

from __future__ import annotations

import contextlib
import io
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.cli.documents import DOCUMENTS, SCHEMAS
from specctl.cli.output import write_json
from specctl.domain.alerts.published import open_alerts
from specctl.domain.events import (
    AlertsChanged,
    Event,
    HostDescribed,
    HostRemoved,
    HostSampled,
    LinkChanged,
    LogRead,
    PlanProgressed,
    ProbeFinished,
    ProbeProgressed,
    ServerSampled,
    ServersSeen,
    TrialProgressed,
)
from specctl.domain.plain import plain, plain_event
from specctl.domain.probe_json import comparison_json, probe_json
from specctl.domain.published import Corpora, LabHosts, PracticeHost, Statuses
from specctl.domain.runs import RunList, brief
from specctl.domain.state import State, reduce
from tests.unit.cli.source_examples import SOURCE_EXAMPLES
from tests.unit.cli.value_examples import VALUE_EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
from tests.unit.cli.check_examples import (
    check_example,
    checkpoint_example,
    doctor_example,
    drift_example,
    show_example,
)
from tests.unit.cli.launch_examples import outcome_example, plan_example, record_example
from tests.unit.cli.result_examples import (
    COMPARISON,
    EAGLE,
    KEPT,
    breakeven_example,
    difference_example,
    forced_example,
    screening_example,
    trial_example,
)
from tests.unit.cli.server_examples import NOW_S, NUMBERS, SAMPLE, SERVER

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests/data/golden"
assert EAGLE.result is not None

EVENTS: tuple[Event, ...] = (
    HostDescribed("gpu8", NOW_S, {"site": "basement"}, read_only=True),
    HostRemoved("l40s", NOW_S),
    LinkChanged("gpu8", NOW_S, "lost", "no answer to 3 keepalives", "Check sshd.", NOW_S + 6),
    HostSampled("gpu8", NOW_S, SAMPLE),
    ServersSeen("gpu8", NOW_S, (SERVER,)),
    ServerSampled("gpu8", NOW_S, "5c0f", NUMBERS),
    LogRead("gpu8", NOW_S, "5c0f", ("[TP0] Load weight end. elapsed=283.14 s",)),
    PlanProgressed("gpu8", NOW_S, "5c0ffee1", "ready", "progress", "weights 12/62", 71.5, 260.0),
    ProbeProgressed("gpu8", NOW_S, "5c0f", "measuring", 12, 40),
    ProbeFinished("gpu8", NOW_S, "5c0f", EAGLE.result),
    TrialProgressed(
        "gpu8", NOW_S, "5c0ffee2", "base", "eagle3", 6, 16, 1.31, 1.27, 1.35, "faster",
        "launch 6 measured",
    ),
    AlertsChanged(
        "gpu8", NOW_S, "throttle", is_open=True, words="GPU 5 slowed by heat (hw)",
        severity="warning", value="88 °C, 1.71 GHz", hint="look at cooling",
    ),
)  # fmt: skip


def _state() -> State:
    state = State()
    for event in EVENTS:
        if not isinstance(event, ProbeFinished):
            state = reduce(state, event)
    return state


def _status() -> Any:
    state = _state()
    return plain(Statuses({name: state.host(name) for name in ("gpu8", "l40s")}))


def _printed(name: str, payload: Mapping[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        write_json(name, dict(payload))
    return out.getvalue()


def _printed_of(name: str, make: Callable[[], Mapping[str, Any]]) -> str:
    return _printed(name, make())


def _events() -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for event in EVENTS:
            write_json("event", plain_event(event), lines=True)
    return out.getvalue()


LAB = LabHosts(
    (
        PracticeHost("lab-1", 40231, "pcie-8", ("fish-shell", "slow-link:delay_ms=150.0")),
        PracticeHost("lab-2", 35417, "pcie-8", ()),
    ),
    4711,
)
EXAMPLES: Mapping[str, Callable[[], str]] = {
    "alerts": lambda: _printed("alerts", plain(open_alerts(_state(), ("gpu8",)))),
    "breakeven": lambda: _printed("breakeven", breakeven_example()),
    "check": lambda: _printed("check", check_example()),
    "checkpoint": lambda: _printed("checkpoint", checkpoint_example()),
    "run": lambda: _printed("run", plain(KEPT)),
    "runs": lambda: _printed("runs", plain(RunList((brief(KEPT),)))),
    "rundiff": lambda: _printed("rundiff", difference_example()),
    "trial": lambda: _printed("trial", trial_example()),
    "acceptance": lambda: _printed("acceptance", forced_example()),
    "screening": lambda: _printed("screening", screening_example()),
    "compare": lambda: _printed("compare", comparison_json(COMPARISON)),
    "corpora": lambda: _printed("corpora", plain(Corpora({"docs": 120_431, "code": None}))),
    "lab": lambda: _printed("lab", plain(LAB)),
    "drift": lambda: _printed("drift", drift_example()),
    "doctor": lambda: _printed("doctor", doctor_example()),
    "event": _events,
    "outcome": lambda: _printed("outcome", outcome_example()),
    "plan": lambda: _printed("plan", plan_example()),
    "probe": lambda: _printed("probe", probe_json(EAGLE.result)),  # type: ignore[arg-type]
    "show": lambda: _printed("show", show_example()),
    "status": lambda: _printed("status", _status()),
    **{name: partial(_printed_of, name, make) for name, make in SOURCE_EXAMPLES.items()},
    **{name: partial(_printed_of, name, make) for name, make in VALUE_EXAMPLES.items()},
    **{part: partial(record_example, part) for part in ("launch", "ready", "stop", "exit")},
}


def golden(name: str) -> Path:
    """Where the example called `name` is kept."""
    return GOLDEN / (f"{name}.jsonl" if name == "event" else f"{name}.json")


def schema_text(name: str) -> str:
    """A schema as it is kept."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def write_all() -> None:
    """Write every example and every schema."""
    for name in DOCUMENTS:
        golden(name).write_text(EXAMPLES[name]())
    for name in SCHEMAS:
        (ROOT / f"schema/{name}.json").write_text(schema_text(name))


if __name__ == "__main__":
    write_all()
