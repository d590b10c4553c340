from __future__ import annotations

import pytest

from specctl.domain.server import Milestone
from specctl.facts.diagnosis import first_cause
from specctl.facts.failure_rules import CauseKind
from specctl.facts.memory_failure import memory_dead_end
from tests.unit.facts.captures import case

STAMP = "[2026-01-01 00:00:00] "
START = [
    f"{STAMP}Load weight begin. avail mem=79.00 GB",
    f"{STAMP}Load weight end. type=LlamaForCausalLM, avail mem=40.00 GB, mem usage=39.00 GB.",
    f"{STAMP}KV Cache is allocated. #tokens: 1, K size: 1.00 GB, V size: 1.00 GB",
    f"{STAMP}Memory pool end. avail mem=9.00 GB",
    f"{STAMP}Capture cuda graph begin. This can take up to several minutes. avail mem=9.00 GB",
    f"{STAMP}Capture cuda graph end. Time elapsed: 12.11 s. mem usage=0.54 GB.",
    f"{STAMP}Capture draft cuda graph begin. This can take up to several minutes.",
    f"{STAMP}Capture draft cuda graph end. Time elapsed: 1.00 s.",
    f"{STAMP}The server is fired up and ready to roll!",
]
CRASH = [
    f"{STAMP}Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/x.py", line 1, in y',
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 448.00 MiB. GPU 0 has a total "
    "capacity of 47.37 GiB of which 4.31 MiB is free.",
]


def test_a14_a_crash_after_health_checks_is_said_to_be_theirs() -> None:
    cause = first_cause(case("A14").split("\n"), exit_status=137, version="0.5.20")
    assert cause is not None
    assert cause.kind == CauseKind.HEALTH_PILE_UP


def test_a15_bus_error_is_a_full_shm() -> None:
    cause = first_cause(case("A15").split("\n"), exit_status=1, version=None)
    assert cause is not None
    assert cause.kind == CauseKind.SHM_FULL
    assert "/dev/shm" in cause.next_step


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (START[:1], CauseKind.OOM_WEIGHTS),
        ([*START[:2], START[0]], CauseKind.OOM_DRAFT_WEIGHTS),
        (START[:2], CauseKind.OOM_KV_POOL),
        (START[:3], CauseKind.OOM_KV_POOL),
        (START[:5], CauseKind.OOM_TARGET_GRAPH),
        (START[:7], CauseKind.OOM_DRAFT_GRAPH),
        (START, CauseKind.OOM_RUNTIME),
        ([], CauseKind.OOM),
    ],
)
def test_a18_the_phase_in_which_memory_ran_out(lines: list[str], kind: CauseKind) -> None:
    cause = first_cause([*lines, *CRASH], exit_status=137, version="0.5.23")
    assert cause is not None
    assert cause.kind == kind
    assert "448.00 MiB asked, 4.31 MiB free" in cause.summary


@pytest.mark.parametrize(
    ("fraction", "step"),
    [
        ("0.98", "Lower --mem-fraction-static, which is 0.98; else --cuda-graph-max-bs-decode"),
        ("0.88", "Lower --cuda-graph-max-bs-decode (e.g. 16), else --mem-fraction-static."),
        ("None", "Lower --cuda-graph-max-bs-decode (e.g. 16), else --mem-fraction-static."),
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        "server_args=ServerArgs(model_path='m', mem_fraction_static={}, tp_size=8)",
        "server_args={{'model_path': 'm', 'mem_fraction_static': {}, 'tp_size': 8}}",
    ],
    ids=["a call", "a dict"],
)
def test_a18_too_much_memory_given_away_is_what_to_lower_first(
    said: str, fraction: str, step: str
) -> None:
    said = said.format(fraction)
    failed = "Exception: Capture cuda graph failed: CUDA out of memory."
    cause = first_cause([said, *START[:7], failed], exit_status=137, version="0.5.23")
    assert cause is not None
    assert cause.next_step.startswith(step)


@pytest.mark.parametrize(
    ("version", "flag"),
    [
        ("0.4.4", "Lower --cuda-graph-max-bs (e.g."),
        ("0.5.19", "Lower --cuda-graph-max-bs (e.g."),
        ("0.5.20", "Lower --cuda-graph-max-bs-decode (e.g."),
        ("0.5.23", "Lower --cuda-graph-max-bs-decode (e.g."),
        (None, "--cuda-graph-max-bs-decode since 0.5.20"),
    ],
)
def test_a18_advice_names_a_flag_that_the_version_has(version: str | None, flag: str) -> None:
    failed = "Exception: Capture cuda graph failed: CUDA out of memory."
    cause = first_cause([*START[:7], failed], exit_status=137, version=version)
    assert cause is not None
    assert cause.kind == CauseKind.OOM_DRAFT_GRAPH
    assert flag in cause.next_step


def test_a18_two_opposite_walls_are_a_dead_end() -> None:
    attempts = [
        line for line in case("A18").split("\n") if line.startswith("attempt")
    ]  # 0.85 runs out, 0.84 is too little
    kinds = []
    for attempt in attempts:
        cause = first_cause([attempt.split(": ", 1)[1]], exit_status=1, version="0.5.23")
        assert cause is not None
        kinds.append(cause.kind)
    assert kinds == [CauseKind.OOM, CauseKind.KV_POOL_TOO_SMALL]
    assert memory_dead_end(kinds[:1], "0.5.23") is None
    advice = memory_dead_end(kinds, "0.5.23")
    assert advice is not None
    assert "--cuda-graph-max-bs-decode" in advice


def test_a20_the_first_rank_to_fail_is_named_not_the_noise_after_it() -> None:
    head, tail = case("A20").split("\n")[:7], case("A20").split("\n")[7:11]
    cause = first_cause([*head, *tail * 200], exit_status=0, version="0.5.20")
    assert cause is not None
    assert (cause.kind, cause.rank, cause.line_number) == (CauseKind.CUDA_ERROR, "TP3", 4)
    assert cause.words == "CUDA error: an illegal memory access was encountered (first on TP3)"


def test_a20_exit_0_without_a_stop_is_a_crash() -> None:
    cause = first_cause(["all quiet"], exit_status=0, version=None)
    assert cause is not None
    assert cause.kind == CauseKind.EXIT_ZERO


def test_a24_the_watchdog_that_fired_first_and_its_knob() -> None:
    lines = case("A24").split("\n")
    cause = first_cause(lines, exit_status=134, version="0.5.5")
    assert cause is not None
    assert cause.kind == CauseKind.WATCHDOG_NCCL
    assert cause.rank == "rank 2"
    assert cause.phase is Milestone.DISTRIBUTED
    assert "--dist-timeout" in cause.next_step
    without = [line for line in lines if "NCCL" not in line]
    cause = first_cause(without, exit_status=134, version="0.5.5")
    assert cause is not None
    assert cause.kind == CauseKind.WATCHDOG_SCHEDULER
    assert "--watchdog-timeout" in cause.next_step


def test_e03_the_shell_after_the_end_is_not_read() -> None:
    cause = first_cause(case("E03").split("\n"), exit_status=1, version=None)
    assert cause is not None
    assert (cause.kind, cause.line_number) == (CauseKind.OOM_RUNTIME, 5)


def test_a04_hidden_sizes_that_differ() -> None:
    lines = [
        CRASH[0],
        '  File "/opt/sglang/srt/speculative/eagle_info.py", line 9, in merge_batch',
        "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 4096 but "
        "got size 2048 for tensor number 1 in the list.",
    ]
    cause = first_cause(lines, exit_status=137, version="0.5.11")
    assert cause is not None
    assert cause.kind == CauseKind.HIDDEN_SIZE_MISMATCH
    assert "4096 against 2048" in cause.summary


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "ValueError: STANDALONE speculative decoding requires the draft model to share the "
            "same vocabulary as the target model, but got target vocab_size=256000 and draft "
            "vocab_size=49152. Use a draft model",
            CauseKind.VOCAB_MISMATCH,
        ),
        (
            "AttributeError: 'LlamaForCausalLM' object has no attribute 'hot_token_id'",
            CauseKind.DRAFT_KIND,
        ),
        (
            "TypeError: '>' not supported between instances of 'NoneType' and 'int'",
            CauseKind.SPECULATION_ARGUMENTS,
        ),
        (
            "ValueError: trtllm_mha backend only supports topk = 1 for speculative decoding.",
            CauseKind.SPECULATION_ARGUMENTS,
        ),
        (
            "OSError: org/model is not a local folder and is not a valid model identifier",
            CauseKind.MODEL_MISSING,
        ),
        (
            "RuntimeError: CUDA driver version is insufficient for CUDA runtime version",
            CauseKind.DRIVER,
        ),
        ("OSError: [Errno 28] No space left on device", CauseKind.DISK_FULL),
        ("ValueError: something nobody has seen", CauseKind.EXCEPTION),
    ],
)
def test_kinds_of_exception(line: str, kind: CauseKind) -> None:
    cause = first_cause([CRASH[0], CRASH[1], line], exit_status=137, version="0.5.23")
    assert cause is not None
    assert cause.kind == kind
    assert line.startswith(cause.line.rstrip("…"))
    assert cause.next_step


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (2, CauseKind.ARGPARSE),
        (135, CauseKind.SHM_FULL),
        (-7, CauseKind.SHM_FULL),
        (137, CauseKind.SIGKILL),
        (-9, CauseKind.SIGKILL),
        (143, CauseKind.STOPPED),
        (139, CauseKind.SIGNAL),
        (3, CauseKind.UNKNOWN),
    ],
)
def test_a_log_without_a_cause_leaves_the_exit_status(status: int, kind: CauseKind) -> None:
    cause = first_cause(START, exit_status=status, version=None)
    assert cause is not None
    assert (cause.kind, cause.line_number) == (kind, 0)
    assert cause.phase is Milestone.READY


def test_nothing_failed() -> None:
    assert first_cause(START, exit_status=None, version=None) is None
    assert first_cause([], exit_status=None, version=None) is None


def test_an_exception_the_server_survived_is_not_the_cause() -> None:
    lines = [
        *START,
        "Traceback (most recent call last):",
        '  File "/opt/a.py", line 1, in b',
        "ValueError: one request was wrong",
        "[2026-01-01 09:00:00] Decode batch, #running-req: 1, gen throughput (token/s): 9.0",
        "[2026-01-01 10:00:00 TP1] Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/opt/a.py", line 1, in b',
        "KeyError: 'the real one'",
    ]
    cause = first_cause(lines, exit_status=0, version=None)
    assert cause is not None
    assert (cause.line, cause.rank) == ("KeyError: 'the real one'", "TP1")


def test_http_exceptions_of_a_serving_server_are_no_cause() -> None:
    lines = [
        *START,
        f"{STAMP}ERROR:    Exception in ASGI application",
        "Traceback (most recent call last):",
        '  File "/opt/uvicorn.py", line 1, in b',
        "RuntimeError: CUDA out of memory",
    ]
    assert first_cause(lines, exit_status=None, version=None) is None


def test_an_earlier_launch_in_the_same_file_is_not_blamed() -> None:
    lines = ["specctl launch 11111111", *CRASH, "specctl launch 22222222", *START]
    assert first_cause(lines, exit_status=None, version=None) is None


def test_an_earlier_start_appended_to_the_same_file_is_not_blamed() -> None:
    arguments = f"{STAMP}server_args={{'model_path': 'x'}}"
    lines = [arguments, *START[:2], *CRASH, arguments, *START]
    assert first_cause(lines, exit_status=None, version=None) is None


def test_warm_up() -> None:
    lines = [
        f"{STAMP}Initialization failed. warmup error: Traceback (most recent call last):",
        '  File "/opt/a.py", line 1, in b',
        "AssertionError: res=<Response [503]>",
        f"{STAMP}kill_process_tree called: parent_pid=1, include_parent=True, pid=1",
    ]
    cause = first_cause(lines, exit_status=137, version="0.5.5")
    assert cause is not None
    assert cause.kind == CauseKind.WARM_UP


def test_a_cause_carries_no_secret() -> None:
    lines = ["sglang serve: error: unrecognized arguments: --api-keyy x --api-key SENTINEL-KEY-1"]
    cause = first_cause(lines, exit_status=2, version=None)
    assert cause is not None
    assert "SENTINEL" not in repr(cause)
