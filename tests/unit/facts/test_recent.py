from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.launch_record import ExitRecord, LaunchRecord
from specctl.domain.server import Identity, ServerProcess
from specctl.facts.recent import RECENT_S, worth_showing

NOW_S = 1e9
MAIN = Identity("boot", 500, 77, 500, 500, "aaaa0000")
RECORD = LaunchRecord("aaaa0000", MAIN, profile="tiny", port=30000, started_at_s=NOW_S - 60)
OLD = replace(RECORD, started_at_s=NOW_S - 2 * RECENT_S)


def process(**changed):
    return ServerProcess(replace(MAIN, **changed), 1, 1000, "op", (), "python")


@pytest.mark.parametrize(
    ("record", "processes", "is_shown"),
    [
        (RECORD, [], True),
        (OLD, [], False),
        (OLD, [process()], True),
        (OLD, [process(marker="")], True),
        (OLD, [process(marker="", start_ticks=99)], False),
        (replace(RECORD, stop_asked_at_s=NOW_S), [], False),
        (replace(OLD, exit=ExitRecord(1, None, NOW_S - 60)), [], True),
        (replace(RECORD, started_at_s=None), [], False),
        (replace(RECORD, started_at_s=None), [process()], True),
    ],
)
def test_what_lives_or_ended_lately_is_shown(record, processes, is_shown):
    assert (record in worth_showing([record], processes, NOW_S)) is is_shown
