from __future__ import annotations

from specctl.domain.probe_rows import category_rows, position_rows, probe_rows
from specctl.domain.probing import Window, add_up
from tests.unit.domain.requests import request, speculated, streamed


def rows_of(result):
    return {row.label or f"{row.note[:4]}": (row.value, row.note) for row in probe_rows(result)}


def test_every_figure_names_its_source():
    timed = speculated((10, 10, 20), server_ttft_s=0.1, server_latency_s=1.1)
    window = Window("s", "p", 2, "EAGLE", 2.0, client_cpu_s=0.1, cache_state="flushed")
    rows = rows_of(add_up(window, [timed], [streamed([(0.1, 1), (0.2, 2)])]))
    assert rows["throughput"][0] == "45.5 tok/s"
    assert rows["accept length"] == ("2.250", "1 + accepted drafts / verify steps")
    assert rows["step"] == (
        "25.00 ms",
        "decode time per verify step; from the server's own first-token and end times",
    )
    assert rows["first token"] == ("100 ms p50, 100 ms p95", "1 streamed requests")
    assert rows["inter-token"][0] == "50.00 ms p50, 50.00 ms p95"
    assert rows["cache"] == ("flushed", "0 of 100 prompt tokens came from it")
    assert rows["client"] == ("5.0 %", "of a core")


def test_what_is_unknown_says_why():
    rows = rows_of(add_up(Window("s", None, 1, None, 2.0), [request()]))
    assert rows["accept length"] == ("—", "speculation off")
    assert rows["first token"] == ("—", "not enabled: no streamed request brought it")
    assert rows["step"][0] == "—"


def test_positions_and_categories():
    requests = [
        speculated((2, 1, 1), category="chat"),
        speculated((0, 0, 4), category="code", index=1),
        speculated((0, 0, 4), category="code", index=2, error="refused"),
    ]
    result = add_up(Window("s", None, 1, "EAGLE", 2.0), requests)
    assert position_rows(result) == (("1", "75.0%", "75.0%"), ("2", "62.5%", "83.3%"))
    assert category_rows(result) == (("chat", "1", "8.0", "1.75"), ("code", "1", "13.0", "3.00"))
    assert category_rows(add_up(Window("s", None, 1, None, 2.0), [request()])) == ()
