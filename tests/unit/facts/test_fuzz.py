"""Every reader takes whatever a host sends: it returns, or raises its own error."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.errors import ServerAnswerError
from specctl.facts.diagnosis import first_cause
from specctl.facts.differences import differences
from specctl.facts.generate import read_meta_info
from specctl.facts.listing import group_servers
from specctl.facts.loads import loads_sample, parse_loads, read_loads
from specctl.facts.log import LogReader, read_decode, read_prefill
from specctl.facts.log_meter import LogMeter
from specctl.facts.metrics import parse_metrics
from specctl.facts.metrics_sample import read_metrics
from specctl.facts.milestones import MilestoneTracker
from specctl.facts.processes import read_processes
from specctl.facts.redact import redact_argv, redact_command, redact_json, redact_text
from specctl.facts.server_info import parse_server_info, read_server_info
from tests.unit.facts.captures import captures
from tests.unit.facts.making import Dice, damaged, either, json_of, made, mapping, word


def short(kind: str) -> list[str]:
    """The captured texts of a kind that are read in a millisecond."""
    return [one.text for one in captures(kind) if len(one.data) < 8000]


def read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


KEYS = (
    "internal_states", "avg_spec_accept_length", "last_gen_throughput", "memory_usage", "loads",
    "graph", "model_path", "launch_command", "step_time_dict", "speculative_algorithm",
    "speculative", "accept_length", "gen_throughput", "timestamp", "num_reqs", "load",
    "spec_verify_ct", "spec_num_correct_drafts", "spec_correct_drafts_histogram",
    "finish_reason", "processes", "pid", "ppid", "start_ticks", "argv", "environment", "uid",
    "listening", "title", "boot_id", "api_key", "effective_max_running_requests_per_dp",
)  # fmt: skip
json_values = made(json_of(KEYS))
json_texts = made(
    damaged(*(text for kind in ("server_info", "loads", "generate") for text in short(kind)))
)
json_objects = made(mapping(either(word(*KEYS), Dice.text), json_of(KEYS), 6))

LOGS = [capture.data for capture in captures("logs")]
log_words = st.sampled_from(
    [
        b"[2026-01-01 00:00:00 TP0] ", b"[TP1] ", b"Decode batch, #running-req: ", b"1, ", b"\r",
        b"\n", b"accept len: ", b"9" * 50, b"9" * 4400, b"nan", b"-1",
        b"gen throughput (token/s): ",
        b"100%|#| ", b"/", b" [", b"<", b":", b"1:" * 200, b"[TP", b"] ", b"Loading shards: ",
        b"Prefill batch. #new-seq: ", b"1/0 [00:00<?, ?it/s]", b"Load weight begin", b"\x1b[31m",
        b"Capturing batches: 5%| | 3/7 [",
        b"Scheduler hit an exception: Traceback", b"\xff\xfe",
        b"torch.OutOfMemoryError: CUDA out of memory.", b"specctl launch ", b"\xe2\x80\xae",
        b"Process exited with code", b"server_args=ServerArgs(api_key='", b"'", b"(A pid=1) ",
    ]
)  # fmt: skip
log_bytes = st.lists(log_words | st.binary(max_size=12), max_size=40).map(b"".join)


def exercise_log(data: bytes) -> None:
    reader, meter, tracker = LogReader(max_line_bytes=8192), LogMeter(), MilestoneTracker()
    lines = reader.feed(data) + reader.finish()
    for line in lines:
        meter.feed(line, now_s=1.0)
        tracker.feed(line)
        read_decode(line.text)
        read_prefill(line.text)
        assert not any(ord(letter) < 32 or letter in "\x7f\x9b\u202e" for letter in line.shown)
    meter.sample(2.0)
    assert reader.not_understood <= reader.decode_lines
    for status in (None, 0, -9, 137, 2**40, -(2**40)):
        first_cause([line.shown for line in lines], exit_status=status, version="0.5.23")


@given(log_bytes)
def test_logs(data: bytes) -> None:
    exercise_log(data)


@given(st.binary(max_size=300))
def test_logs_of_any_bytes(data: bytes) -> None:
    exercise_log(data)


def part(dice: Dice) -> bytes:
    """A part of a captured log, cut anywhere, often damaged."""
    log: bytes = dice.choice(LOGS)
    start = dice.randrange(len(log) + 1)
    text = log[start : start + dice.randrange(3001)].decode("utf-8", "surrogateescape")
    return str(damaged(text)(dice)).encode("utf-8", "surrogatepass")


@given(made(part))
def test_parts_of_captured_logs(data: bytes) -> None:
    exercise_log(data)


@given(
    st.lists(
        st.sampled_from(
            ["sglang:num_running_reqs", "{", "}", 'tp_rank="', "0", '"', ",", " ", "\n",
             "\\",
             "1e400",
             "sglang:time_to_first_token_seconds_bucket", 'le="+Inf"', "NaN", "3", "# TYPE x", "=",
             'priority="', "sglang:spec_accept_length", "²", "-5", "9" * 5000]
        )
        | st.text(max_size=4),
        max_size=60,
    ).map("".join)
    | made(damaged(*short("metrics")))
)  # fmt: skip
def test_metrics(text: str) -> None:
    metrics = parse_metrics(text)
    _, kept = read_metrics(metrics, None, time_s=1.0)
    read_metrics(parse_metrics(text + "\nsglang:generation_tokens_total 7"), kept, time_s=2.0)


@given(json_values | json_texts.map(read_json))
def test_answers(value: Any) -> None:
    with suppress(ServerAnswerError):
        info = read_server_info(value)
        assert info.launch_argv is not None
    with suppress(ServerAnswerError):
        loads = read_loads(value)
        loads_sample(loads, loads, time_s=1.0)
    read_meta_info(value)
    redact_json(value)


@given(json_objects)
def test_objects(value: dict[str, Any]) -> None:
    group_servers(read_processes(value))
    rows = [{"pid": 7, "start_ticks": 1, **value}, {"pid": 8, "ppid": 7, "start_ticks": 1}]
    group_servers(read_processes({"processes": rows}))
    differences(value, value)


@given(st.text(max_size=200) | made(Dice.text) | json_values.map(json.dumps) | json_texts)
def test_texts(text: str) -> None:
    for parse in (parse_server_info, parse_loads):
        with suppress(ServerAnswerError):
            parse(text)
    redact_command(text)
    redact_argv(text.split(" "))
    assert redact_text(redact_text(text)) == redact_text(text)


@given(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=8, max_size=20),
    st.sampled_from(
        ["api_key='{}'", "--api-key {}", "'hf_token': '{}'", "HF_TOKEN={}", "Bearer {}"]
    ),
    st.text(max_size=20),
)
def test_a_secret_never_survives(secret: str, shape: str, before: str) -> None:
    marked = f"S3CRET{secret}"
    text = f"{before} {shape.format(marked)} after"
    assert marked not in redact_text(text)
    data = text.replace("\n", " ").replace("\r", " ").encode("utf-8", "replace") + b"\n"
    for line in LogReader().feed(data):  # none, when an escape sequence swallows it all
        assert marked not in line.shown
    assert json.dumps(redact_json({"api_key": marked, "dtype": marked})).count(marked) == 0
