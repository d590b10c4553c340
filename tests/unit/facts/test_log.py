from __future__ import annotations

import pytest

from specctl.facts.log import CUT, LogReader, read_decode, read_lines, read_prefill
from specctl.facts.log_lines import LineKind, read_time
from tests.unit.facts.captures import case

A07 = [
    # time, ranks, running, accept length, graph, tokens/s, queue, KV tokens, iteration
    ("2024-12-28 01:02:03", "TP0", 1, None, None, 0.39, 0, 108, None),
    ("2025-03-14 02:16:18", "TP0", 397, None, None, 7980.04, 0, 171204, None),
    ("2025-03-20 02:16:18", "TP0", 1, 3.41, None, 180.04, 0, 204, None),
    ("2025-10-22 10:27:57", "TP0", 1, 1.95, True, 178.86, 0, 186, None),
    ("2025-11-19 15:25:25", None, 1, 1.03, True, 42.01, 0, 353, None),
    ("2026-04-08 14:05:21", "TP0", 5, None, True, 144.95, 0, 20800, None),
    ("2026-07-04 04:31:40.123", "DP1 TP3 EP3", 37, 2.91, False, 863.65, 61, 161234, 8812),
    ("2026-08-01 00:00:00", "TP0", 4, 4.10, True, 414.75, 0, 900, None),
    ("2026-08-01 00:00:00", "TP0", 5, None, True, 144.10, 0, 4096, None),
    ("2026-05-28 02:59:59", "TP0", 45, None, False, 863.65, None, 44672, None),
]


def test_a07_every_shape_of_the_decode_line() -> None:
    lines = [x for x in read_lines(case("A07").split("\n")) if x.kind is LineKind.DECODE]
    assert len(lines) == len(A07)
    for line, expected in zip(lines, A07, strict=True):
        decode = read_decode(line.text)
        assert decode is not None
        assert (
            line.time,
            line.rank,
            decode.running,
            decode.accept_length,
            decode.uses_graph,
            decode.tokens_per_s,
            decode.queued,
            decode.tokens,
            decode.iteration,
        ) == expected


def test_a07_unknown_keys_are_kept() -> None:
    (line,) = [x for x in read_lines(case("A07").split("\n")) if "cap len" in x.text]
    decode = read_decode(line.text)
    assert decode is not None
    assert decode.values["cap len"] == "7.00"
    assert decode.values["est. decode TFLOPS/s (per GPU)"] == "12.30"


def test_a07_lines_not_understood_are_counted() -> None:
    reader = LogReader()
    reader.feed(b"[2027-01-01 00:00:00] Decode batch: quite another format\n")
    reader.feed(b"[2027-01-01 00:00:00] Decode batch, #running-req: 1\n")
    assert (reader.decode_lines, reader.not_understood) == (2, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Prefill batch. #new-seq: 1, #new-token: 6, #cached-token: 2, #running-req: 3, ",
            (1, 6, 2, 3),
        ),
        (
            "Prefill batch [7], #new-seq: 1, #new-token: 6, input throughput (token/s): 9.5",
            (1, 6, None, None),
        ),
    ],
)
def test_prefill(text: str, expected: tuple[int | None, ...]) -> None:
    line = read_prefill(text)
    assert line is not None
    assert (line.new_requests, line.new_tokens, line.cached_tokens, line.running) == expected


def test_ms_stamps_and_ranks_of_every_kind() -> None:
    (line,) = read_lines(["[2026-01-02 03:04:05.678 DP1 PP0 ATTN_CP2 MOE_DP3 TP4 EP5] hello"])
    assert line.ranks == {"DP": 1, "PP": 0, "ATTN_CP": 2, "MOE_DP": 3, "TP": 4, "EP": 5}
    assert (line.text, line.time) == ("hello", "2026-01-02 03:04:05.678")
    assert line.time_s is not None
    assert line.time_s % 1 == pytest.approx(0.678)


def test_a_time_of_day_alone_is_no_date() -> None:
    assert read_time("11:19:46") is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("(RayActor pid=12, ip=192.0.2.7) [2026-01-02 03:04:05 TP1] hi", "hi"),
        ("sglang-1  | [2026-01-02 03:04:05] hi", "hi"),
        ("2026-09-27T00:15:25.500Z [2026-01-02 03:04:05] hi", "hi"),
        ("\x1b[36m(A pid=1)\x1b[0m [2026-01-02 03:04:05] hi", "hi"),
        ("no stamp at all", "no stamp at all"),
        ("[3] not a stamp", "[3] not a stamp"),
    ],
)
def test_prefixes_of_collectors(raw: str, text: str) -> None:
    (line,) = read_lines([raw])
    assert line.text == text


def test_two_writers_in_one_line_are_told_apart() -> None:
    bar = "Capturing batches (bs=1):   0%|   | 0/51 [00:00<?, ?it/s]"
    stamp = "[2026-01-02 03:04:05 TP3] Scheduler hit an exception: Traceback"
    lines = read_lines([f"{bar}{stamp}"])
    assert [line.kind for line in lines] == [LineKind.PROGRESS, LineKind.EXCEPTION]
    assert lines[1].rank == "TP3"


def test_drawings_of_a_bar_arrive_before_the_line_ends() -> None:
    reader = LogReader()
    first = reader.feed(b"Multi-thread loading shards:  10% Completed | 1/10 [00:01<00:09]\r")
    assert [line.kind for line in first] == [LineKind.PROGRESS]


def test_bad_utf8_becomes_replacement_characters() -> None:
    (line,) = LogReader().feed(b"[2026-01-02 03:04:05] model \xff\xfe/x\n")
    assert line.text == "model \ufffd\ufffd/x"


def test_a_line_of_a_megabyte_is_cut_and_the_next_one_is_whole() -> None:
    reader = LogReader(max_line_bytes=1000)
    for _ in range(100):
        assert reader.feed(b"x" * 10_000) == []
    long, short = reader.feed(b"\nnext\n")
    assert long.text.endswith(CUT)
    assert len(long.text) == 1000 + len(CUT)
    assert short.text == "next"


def test_a_crash_line_is_never_hidden_by_its_length() -> None:
    reader = LogReader(max_line_bytes=100)
    (line,) = reader.feed(
        b"[2026-01-02 03:04:05] Scheduler hit an exception: " + b"y" * 500 + b"\n"
    )
    assert line.kind is LineKind.EXCEPTION
