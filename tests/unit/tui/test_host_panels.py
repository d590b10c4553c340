from __future__ import annotations

import math
from dataclasses import replace

import pytest

from specctl.domain.events import HostSampled, LinkChanged, LogRead, ServerSampled, ServersSeen
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess
from specctl.domain.server import Milestone, ServerState
from specctl.tui.render.gpu_note import server_note
from specctl.tui.render.gpus import draw_gpus
from specctl.tui.render.lines import Drawing, Line, guard, plain, width
from specctl.tui.render.log import draw_log, kind, log_line
from specctl.tui.render.processes import draw_processes
from specctl.tui.render.server import draw_server, draw_short_server, speculative_arguments
from specctl.tui.render.throughput import draw_throughput
from tests.tui import parts, story
from tests.unit.tui.scenes import scene_of

HOST = "pro6k-01"
SCENE = scene_of(story.pro6k_01())
SERVER = parts.server()
WIDTHS = (76, 96, 116, 156, 246)


def gpu_lines(cells: int = 116) -> list[str]:
    return plain(draw_gpus(SCENE, HOST, cells, 12).body).splitlines()


@pytest.mark.parametrize("cells", WIDTHS)
def test_gpu_tables_fit_and_are_cut_nowhere(cells: int) -> None:
    drawing = draw_gpus(SCENE, HOST, cells, 12)

    assert all(width(line) <= cells for line in drawing.body)
    assert "…" not in plain(drawing.body)
    assert len(drawing.body) == 9


def test_the_head_names_the_full_scale() -> None:
    head = gpu_lines()[0]

    assert "MEM GiB of 95.6" in head
    assert "POWER W of 600" in head


def test_one_hot_gpu_stands_out_without_colour() -> None:
    lines = gpu_lines()

    assert "▲ heat (hw)" in lines[6]
    assert [line for line in lines if "▲" in line] == [lines[6]]


def test_the_summary_adds_up() -> None:
    summary = plain([draw_gpus(SCENE, HOST, 116, 12).summary])

    assert summary == "8 × RTX PRO 6000  1.88 kW  712 of 765 GiB"


def _with_gpus(*gpus: object) -> Drawing:
    sample = parts.host_sample(gpus)  # type: ignore[arg-type]
    return draw_gpus(scene_of([HostSampled("h", parts.NOW_S, sample)]), "h", 116, 12)


def test_a_lost_gpu_keeps_its_row() -> None:
    lines = plain(_with_gpus(parts.gpu(0), parts.gpu(1, lost=True)).body).splitlines()

    assert "✗ lost" in lines[2]
    assert lines[2].count("—") >= 5


@pytest.mark.parametrize("value", [None, math.nan])
def test_unknown_idle_off_and_not_slowed_look_different(value: float | None) -> None:
    drawing = _with_gpus(parts.gpu(0, utilization_percent=value, throttle=None), parts.gpu(1))
    unknown, idle = plain(drawing.body).splitlines()[1:3]

    assert unknown.split()[1] == "—"
    assert "─────────" in idle
    assert unknown.count("—") > idle.count("—") == 0


def test_another_memory_size_leaves_the_scale_out_of_the_head() -> None:
    drawing = _with_gpus(parts.gpu(0), parts.gpu(1, memory_total_bytes=40 * parts.GIB))

    assert "MEM GiB " in plain(drawing.body[:1])
    assert "of 95.6" not in plain(drawing.body[:1])


def test_the_gpu_under_the_cursor_says_why_a_value_is_not_there() -> None:
    refused = {"memory_temperature_c": Missing(Why.NOT_SUPPORTED), "power_w": Missing(Why.NOT_YET)}
    gpu = replace(
        parts.gpu(1), memory_temperature_c=None, power_w=None, missing=refused,
        nvlink_rx_bytes_per_s=41e9, nvlink_tx_bytes_per_s=40e9,
    )  # fmt: skip
    sample = parts.host_sample((parts.gpu(0), gpu))
    scene = scene_of([HostSampled("h", parts.NOW_S, sample)])
    drawing = draw_gpus(scene, "h", 246, 9, at=1)
    note = plain([drawing.note])
    assert drawing.cursor == 2
    assert "NVLink 41.0 40.0 GB/s" in note
    assert "— MEM °C: not supported" in note
    assert "— W: not yet read" in note
    assert "NVL RX" in plain(drawing.body[:1])
    for cells in WIDTHS:
        drawing = draw_gpus(scene, "h", cells, 9, at=1)
        assert width(drawing.note) <= cells


def test_a_server_says_why_a_number_is_not_there() -> None:
    sample = replace(
        parts.server_sample(), ttft_p50_s=None,
        missing={"ttft_p50_s": Missing(Why.NOT_ENABLED, "start it with --enable-metrics")},
    )  # fmt: skip
    assert "TTFT: " in plain([server_note(sample, 100)])
    assert "--enable-metrics" in plain([server_note(sample, 100)])
    assert server_note(None, 100) == []


def test_sixteen_gpus_scroll() -> None:
    gpus = tuple(parts.gpu(i) for i in range(16))
    scene = scene_of([HostSampled("h", parts.NOW_S, parts.host_sample(gpus))])
    drawing = draw_gpus(scene, "h", 116, 9, top=8)

    assert plain(drawing.body).splitlines()[1].startswith(" 8")
    assert plain([drawing.note]) == "9-16 of 16"


def test_a_host_without_gpus_shows_its_own_figures_and_the_reason() -> None:
    missing = Missing(Why.NOT_INSTALLED, "libnvidia-ml.so.1 was not found")
    sample = parts.host_sample((), gpu_missing=missing)
    text = plain(draw_gpus(scene_of([HostSampled("h", parts.NOW_S, sample)]), "h", 116, 9).body)

    assert "No GPU readings: libnvidia-ml.so.1 was not found" in text
    assert "CPU" in text
    assert "34%" in text
    assert "of 1,536 GiB" in text


def test_a_host_that_never_answered_says_why_in_place_of_its_gpus() -> None:
    event = LinkChanged(
        "h", parts.NOW_S - 5, "lost", "host h: refused the connection", "Is sshd up?"
    )
    text = plain(draw_gpus(scene_of([event]), "h", 116, 9).body)

    assert "h does not answer: refused the connection" in text
    assert "Is sshd up?" in text


@pytest.mark.parametrize(("cells", "rows"), [(68, 15), (110, 19), (76, 8), (246, 40), (40, 9)])
def test_throughput_fits(cells: int, rows: int) -> None:
    drawing = draw_throughput(SCENE, HOST, SERVER, cells, rows)

    assert len(drawing.body) <= rows
    assert all(width(line) <= cells for line in drawing.body)
    assert "…" not in plain(drawing.body)


def test_throughput_says_whether_speculation_pays() -> None:
    text = plain(draw_throughput(SCENE, HOST, SERVER, 68, 15).body)

    assert "52.0 tok/s   0.89× of baseline 58.6   step 28.8 ms" in text
    assert "accept length 1.50 < 1.69 break-even   by position 38 9 3 %" in text


def throughput_of(**values: object) -> str:
    sample = parts.server_sample(**values)  # type: ignore[arg-type]
    scene = scene_of([*story.pro6k_01(), ServerSampled(HOST, parts.NOW_S, "7c1e", sample)])
    return plain(draw_throughput(scene, HOST, SERVER, 90, 15).body)


def test_a23_an_idle_server_does_not_show_its_last_rate() -> None:
    text = throughput_of(tokens_per_s=192.2, accept_length=2.41, is_idle=True, running_requests=0)

    assert "idle" in text
    assert "192" not in text
    assert "2.41" not in text


def test_a09_a_missing_accept_length_says_why() -> None:
    reasons = {"accept_length": Missing(Why.NO_WINDOW)}
    text = throughput_of(tokens_per_s=12.9, accept_length=None, missing=reasons)

    assert "accept length — no completed window" in text


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_none_are_dashes(value: float) -> None:
    text = throughput_of(tokens_per_s=value, accept_length=value, token_usage=value)

    assert "nan" not in text.lower()
    assert "inf" not in text.lower()
    assert "— tok/s" in text


def test_without_speculation_there_is_one_plot_and_it_says_off() -> None:
    baseline = parts.server(algorithm=None)
    text = plain(draw_throughput(SCENE, HOST, baseline, 68, 15).body)

    assert "accept length off" in text
    assert "2.20" not in text


def test_a_cut_link_is_a_gap_and_an_age() -> None:
    scene = scene_of(story.cut_off())
    drawing = draw_throughput(scene, HOST, SERVER, 68, 15)
    plot = plain(drawing.body).splitlines()[7]

    assert drawing.is_stale
    assert "42 s old" in plain([drawing.summary])
    assert len(plot.rstrip()) < 65


@pytest.mark.parametrize(("cells", "rows"), [(42, 15), (58, 21), (40, 8), (100, 30)])
def test_server_panels_fit(cells: int, rows: int) -> None:
    drawing = draw_server(SCENE, HOST, SERVER, cells, rows)

    assert len(drawing.body) <= rows
    assert all(width(line) <= cells for line in drawing.body), [
        plain([line]) for line in drawing.body if width(line) > cells
    ]


def test_a_server_says_its_state_with_its_evidence_and_its_drift() -> None:
    drawing = draw_server(SCENE, HOST, SERVER, 42, 15)
    text = plain(drawing.body)

    assert "● ready  process, port, log and HTTP agree" in text
    assert "max-running-reqs 64        ≠ 48 by engine" in text
    assert plain([drawing.note]) == "≠ 1 drift  d explain"


def test_long_evidence_goes_under_the_state() -> None:
    server = parts.server(
        state=ServerState.STALLED, why="its health check does not answer, 3 requests"
    )
    text = plain(draw_server(SCENE, HOST, server, 42, 15).body)

    assert "◌ stalled\n  its health check does not answer, 3" in text


def test_a_starting_server_shows_its_way() -> None:
    server = parts.server(state=ServerState.STARTING, milestone=Milestone.WEIGHTS)
    text = plain(draw_server(SCENE, HOST, server, 42, 20).body)

    assert "✓ distributed\n◐ weights\n· draft weights" in text


def test_a_foreign_server_offers_adoption() -> None:
    server = parts.server(state=ServerState.FOREIGN, is_ours=False, owner="mkl", launch_id=None)
    text = plain(draw_server(SCENE, HOST, server, 42, 20).body)

    assert "◆ foreign by mkl" in text
    assert "a adopts it" in text


def test_the_short_server_names_what_drifted() -> None:
    text = plain(draw_short_server(SCENE, HOST, SERVER, 76, 2).body)

    assert text.splitlines()[0].startswith("● ready  kimi-k2.5-eagle3  pid 48213  port 30000")
    assert "≠ max-running-reqs 48, profile says 64" in text


def test_arguments_are_read_off_a_command_line() -> None:
    argv = (
        "--speculative-algorithm",
        "NGRAM",
        "--speculative-num-steps=3",
        "--tp",
        "8",
        "--speculative-x",
    )
    found = [(a.name, a.running) for a in speculative_arguments(argv)]

    assert found == [("algorithm", "NGRAM"), ("num-steps", "3"), ("x", "on")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Load weight end. elapsed=283.14 s", "ok"),
        ("The server is fired up and ready to roll!", "ok"),
        ("max_running_requests is set to 48 because speculative decoding is enabled.", "warn"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "bad"),
        ("Decode batch, #running-req: 1", ""),
        ("logging errors are fine", ""),
    ],
)
def test_kinds_of_log_lines(text: str, what: str) -> None:
    assert kind(text) == what


def test_a_log_line_parts_stamp_rank_and_words() -> None:
    line = log_line("[2026-07-04 04:31:40.123 DP1 TP3 EP3] Decode batch [8812], #running-req: 37")

    assert plain([line]) == "04:31:40   DP1 TP3 EP3 Decode batch [8812], #running-req: 37"


HOSTILE = (
    "\x1b[2J\x1b[H\x1b]0;owned\x07[/red] [link=x]",
    "a\rb\x08\x00",
    "\u202eRTL",
    "日本" * 50,
    "x" * 1_000_000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_log_line_is_one_safe_line(text: str) -> None:
    scene = scene_of([*story.pro6k_01(), LogRead(HOST, parts.NOW_S, "7c1e", (text,))])
    drawing = draw_log(scene, HOST, SERVER, 80, 5)
    last: Line = guard(drawing.body[-1])

    assert all(part.isprintable() for part, _ in last)
    assert width(last) < 5000


def test_the_log_scrolls_back_and_says_so() -> None:
    drawing = draw_log(SCENE, HOST, SERVER, 80, 4, back=4)

    assert "gen throughput (token/s): 51.80" in plain(drawing.body)
    assert "lines back" in plain([drawing.summary])


def test_processes_mark_those_of_others() -> None:
    text = plain(draw_processes(SCENE, HOST, SERVER, 80, 12).body)

    assert "◆ gnome-shell" in text
    assert "sglang::scheduler_TP0" in text


def test_processes_of_another_namespace_are_unknown_and_not_foreign() -> None:
    hidden = GpuProcess(77, None, "compute")
    scene = scene_of(
        [HostSampled("h", parts.NOW_S, parts.host_sample((parts.gpu(0, processes=(hidden,)),)))]
    )
    text = plain(draw_processes(scene, "h", None, 80, 5).body)

    assert "other pid namespace or gone" in text
    assert "◆" not in text


def test_no_server_offers_a_start_only_where_it_can_be() -> None:
    up = [
        *story._up("h", ""),
        HostSampled("h", parts.NOW_S, parts.host_sample(())),
        ServersSeen("h", parts.NOW_S, ()),
    ]
    scene = scene_of(up)

    assert "s starts a profile." in plain(draw_server(scene, "h", None, 60, 9).body)
    locked = replace(scene, read_only=True)
    assert "read-only" in plain(draw_server(locked, "h", None, 60, 9).body)


def test_a_crashed_server_measures_nothing_and_its_cause_stands_first() -> None:
    cause = "GPU memory ran out while capturing the target's graphs: 2.00 GiB asked, 0.48 GiB free"
    crashed = replace(SERVER, state=ServerState.CRASHED, why=cause)
    scene = scene_of([*story.pro6k_01(), ServersSeen(HOST, parts.NOW_S, (crashed,))])
    for rows in (5, 15):
        text = plain(draw_throughput(scene, HOST, crashed, 76, rows).body)
        assert "—" in text
        assert "it has crashed" in text
        assert "idle" not in text
        assert "running" not in text
    short = plain(draw_short_server(scene, HOST, crashed, 76, 2).body).splitlines()
    assert short[1].startswith("GPU memory ran out while capturing")
    assert short[1].endswith("…")
    assert cause in plain(draw_short_server(scene, HOST, crashed, 100, 4).body)
