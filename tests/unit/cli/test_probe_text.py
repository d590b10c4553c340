from __future__ import annotations

from specctl.cli.probe_text import write_result
from specctl.domain.probing import Window, add_up
from tests.unit.domain.requests import speculated


def test_a_long_value_does_not_run_into_its_note(capsys):
    state = "not flushed: specctl did not start this server"
    write_result(add_up(Window("s", "p", 1, "EAGLE", 2.0, cache_state=state), [speculated((1, 1))]))
    lines = capsys.readouterr().out.splitlines()
    cache = next(line for line in lines if line.startswith("cache"))
    assert cache.startswith(f"cache          {state}  ")
    requests = next(line for line in lines if line.startswith("requests"))
    assert requests == f"{'requests':<15}{'1 of 1':<26}1 at a time"
