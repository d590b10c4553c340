from __future__ import annotations

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, Sample
from specctl.domain.validity import (
    Traffic,
    find_busy_client,
    find_changed_server,
    find_degenerate,
    find_disturbed_gpus,
    find_failures,
    find_late_client,
    find_other_traffic,
    find_retracted,
    find_slow_client,
    find_unwired_draft,
    find_warm_cache,
)
from tests.unit.domain.requests import request, speculated


def test_d08_failures_are_counted_by_kind():
    requests = [request(), *(request(error=kind) for kind in ("http 503", "http 503", "refused"))]
    assert find_failures(requests) == "3 of 4 requests failed: http 503 (2), refused (1)"
    assert find_failures([request()]) is None


def test_requests_that_the_server_retried_are_counted():
    requests = [request(retractions=0), request(retractions=2), request(retractions=None)]
    assert "1 of 3 requests were retried by the server" in str(find_retracted(requests))
    assert find_retracted(requests[:1]) is None


def test_d08_a_restart_shows_in_what_names_the_server():
    before = [("process", "pid 7"), ("startup_time", "1758000000.1")]
    after = [("process", "pid 7"), ("startup_time", "1758000400.9")]
    assert find_changed_server(before, before) is None
    assert find_changed_server(before, after) == (
        "the server changed in the window: startup_time was 1758000000.1, is 1758000400.9"
    )
    assert "is not there" in str(find_changed_server(before, before[:1]))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (Traffic(10, 500, 0), Traffic(12, 600, 0), None),
        (Traffic(10, 500, 0), Traffic(13, 600, 0), "the server finished 1 that were not ours"),
        (Traffic(10, 500, 0), Traffic(12, 620, 0), "20 tokens generated were not ours"),
        (Traffic(10, 500, 0), Traffic(2, 100, 0), "it was restarted"),
        (Traffic(10, 500, 3), Traffic(12, 600, 0), "3 were running when the window began"),
        (Traffic(10, 500, 0), Traffic(12, 600, 1), "1 were running when the window ended"),
        (Traffic(), Traffic(), None),
    ],
)
def test_other_peoples_requests(before, after, words):
    found = find_other_traffic(before, after, [request(), request(index=1)])
    assert found is None if words is None else words in str(found)


def test_tokens_are_not_compared_when_requests_broke_off():
    sent = [request(), request(error="timed out", completion_tokens=None)]
    assert find_other_traffic(Traffic(0, 0), Traffic(2, 80), sent) is None


D06_RUN_1 = request(prompt_tokens=8112, cached_tokens=0)
D06_RUN_2 = request(prompt_tokens=8112, cached_tokens=8111)


def test_d06_a_second_run_of_the_same_prompts_is_warm():
    assert find_warm_cache([D06_RUN_1]) is None
    assert find_warm_cache([D06_RUN_2]) == (
        "the cache was warm: 8111 of 8112 prompt tokens (100%) came from earlier traffic"
    )


@pytest.mark.parametrize(
    ("cached", "explained", "is_warm"),
    [(1, 0, False), (2, 0, True), (60, 60, False), (60, None, False)],
)
def test_d06_only_what_nothing_explains_counts(cached, explained, is_warm):
    one = request(cached_tokens=cached, explained_cached_tokens=explained)
    assert (find_warm_cache([one]) is not None) is is_warm


def test_d07_the_broken_arm_is_excluded_and_the_coherent_one_is_not():
    coherent = " ".join(f"word{n * n % 9973}" for n in range(300))
    assert find_degenerate([request(text=coherent)]) is None
    found = find_degenerate([request(text=coherent), request(index=4, text="the-" * 900)])
    assert found is not None
    assert found.startswith("degenerate output: 1 of 2 answers repeat themselves (request 4:")


def test_d07_repetition_that_was_asked_for_is_no_fault():
    assert find_degenerate([request(text="the-" * 900, is_repetition_asked=True)]) is None


@pytest.mark.parametrize(
    ("histogram", "algorithm", "words"),
    [
        ((40, 0, 0), "EAGLE3", "drafts are not wired"),
        ((40, 0, 0), "NGRAM", None),
        ((40, 0, 0), None, None),
        ((39, 1, 0), "EAGLE3", None),
        ((5, 0, 0), "EAGLE3", None),
    ],
)
def test_a_draft_that_is_never_accepted(histogram, algorithm, words):
    found = find_unwired_draft([speculated(histogram)], algorithm)
    assert found is None if words is None else words in str(found)


def test_a_draft_that_is_never_proposed():
    one = speculated((40, 0), proposed_drafts=0)
    assert find_unwired_draft([one], "EAGLE") == "speculation proposed no draft in 40 verify steps"


def test_unwired_drafts_show_also_without_counts_of_drafts():
    old = request(verify_steps=49, completion_tokens=50)
    assert find_unwired_draft([old], "EAGLE") is not None
    assert find_unwired_draft([request(verify_steps=30, completion_tokens=50)], "EAGLE") is None


def test_a_busy_client_is_the_bottleneck():
    assert find_busy_client(12.0) is None
    assert find_busy_client(None) is None
    assert "61 % of a core" in str(find_busy_client(61.0))


@pytest.mark.parametrize(
    ("server_s", "client_s", "words"),
    [(1.0, 1.05, None), (0.03, 0.04, None), (None, 9.0, None), (1.0, 1.5, "50% longer")],
)
def test_a_client_that_adds_much_time_is_seen(server_s, client_s, words):
    found = find_slow_client([request(server_latency_s=server_s, client_latency_s=client_s)])
    assert found is None if words is None else words in str(found)


def test_a_late_client_is_noted():
    assert find_late_client(0.001) is None
    assert find_late_client(None) is None
    assert "14 ms late" in str(find_late_client(0.014))


def sample(**changes) -> Sample:
    gpu = GpuSample(index=0, uuid="GPU-0", name="X", **changes)
    return Sample(
        0.0, HostSample(), (gpu, GpuSample(1, "GPU-1", "X", throttle=("power cap",))), "nvml"
    )


def test_a_slowed_gpu_of_the_server_voids_the_window():
    slowed = [sample(throttle=("heat (hw)",)), sample(throttle=("heat (hw)",))]
    assert find_disturbed_gpus(slowed, gpus=(0,), own_pids=()) == (
        Void(VoidKind.ARM, "GPU 0 was slowed down: heat (hw)"),
    )
    assert find_disturbed_gpus([sample(throttle=())], gpus=(0,), own_pids=()) == ()
    assert find_disturbed_gpus([sample(throttle=None)], gpus=(0,), own_pids=()) == ()
    assert len(find_disturbed_gpus(slowed, gpus=None, own_pids=())) == 2


def test_another_process_on_the_gpu_voids_the_window_where_pids_can_be_told_apart():
    shared = [
        sample(processes=(GpuProcess(5, 1, "compute"), GpuProcess(9, 1, "compute", name="train")))
    ]
    assert find_disturbed_gpus(shared, gpus=(0,), own_pids=(5,)) == (
        Void(VoidKind.OUTSIDE, "GPU 0 was used by another process: 9 (train)"),
    )
    assert find_disturbed_gpus(shared, gpus=(0,), own_pids=None) == ()
