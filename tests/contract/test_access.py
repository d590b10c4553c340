"""Who may ask what, in which state; and what a server can be told, as the guide has it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.questions import ARGUMENTS, NGRAM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.standin import StandIn

    Launch = Callable[..., StandIn]

OPEN, NORMAL, ADMIN = "/ready", "/v1/models", "/list_external_corpora"
KEYS = ("--api-key", "plain"), ("--admin-api-key", "admin")


def statuses(server: StandIn, key: str | None) -> tuple[int, int, int]:
    found = [server.ask("GET", path, key=key).status for path in (OPEN, NORMAL, ADMIN)]
    return found[0], found[1], found[2]


@pytest.mark.parametrize(
    ("arguments", "none", "plain", "admin"),
    [
        ((), (200, 200, 400), (200, 200, 400), (200, 200, 400)),
        (KEYS[0], (200, 401, 401), (200, 200, 400), (200, 401, 401)),
        (KEYS[1], (200, 200, 401), (200, 200, 401), (200, 200, 400)),
        (KEYS[0] + KEYS[1], (200, 401, 401), (200, 200, 401), (200, 401, 400)),
    ],
    ids=["no key", "plain key", "admin key", "both"],
)
def test_three_classes_of_paths(
    launch: Launch,
    arguments: tuple[str, ...],
    none: tuple[int, int, int],
    plain: tuple[int, int, int],
    admin: tuple[int, int, int],
) -> None:
    """400 is NGRAM's: the key was right."""
    server = launch(*ARGUMENTS, *arguments).wait_until_ready()
    assert statuses(server, None) == none
    assert statuses(server, "plain") == plain
    assert statuses(server, "admin") == admin


def test_the_words_of_a_refusal(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *KEYS[0]).wait_until_ready()
    reply = server.ask("GET", NORMAL)
    assert (reply.status, reply.json) == (401, {"error": "Unauthorized"})


def test_0_5_2_has_one_key_for_everything_else(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *KEYS[0], version="0.5.2").wait_until_ready()
    assert server.ask("GET", "/flush_cache").status == 401
    assert server.ask("GET", "/flush_cache", key="plain").status == 200


def test_metrics_need_their_flag(launch: Launch) -> None:
    server = launch("--device", "cpu").wait_until_ready()
    assert server.ask("GET", "/metrics").status == 404


# ---------------------------------------------------- being told
def test_a_flush_is_refused_while_requests_run(launch: Launch) -> None:
    from tests.contract.test_life import ask_in_background

    server = launch(*ARGUMENTS).wait_until_ready()
    thread, got = ask_in_background(server, 400)
    assert server.ask("POST", "/flush_cache").status == 400
    assert server.ask("POST", "/abort_request", {"abort_all": True}).status == 200
    thread.join()
    assert got[0].json["meta_info"]["finish_reason"]["type"] == "abort"
    assert server.ask("POST", "/flush_cache").status == 200


def test_only_thresholds_can_be_set(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    threshold = {"server_args": {"speculative_accept_threshold_single": 0.9}}
    assert server.ask("POST", "/set_internal_state", threshold).json == [True]
    steps = {"server_args": {"speculative_num_steps": 9}}
    assert server.ask("POST", "/set_internal_state", steps).json == [False]
    info = server.ask("GET", "/server_info").json
    assert info["internal_states"][0]["speculative_accept_threshold_single"] == 0.9
    assert info["speculative_num_steps"] is None


def test_corpora_are_added_once_and_removed(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *NGRAM).wait_until_ready()
    body = {"corpus_id": "words", "documents": ["some words to be found again"]}
    added = server.ask("POST", "/add_external_corpus", body).json
    assert added["success"] is True
    assert added["corpus_id"] == "words"
    assert added["loaded_token_count"] > 0
    again = server.ask("POST", "/add_external_corpus", body)
    assert (again.status, again.json["success"]) == (400, False)
    listed = server.ask("GET", "/list_external_corpora").json
    assert listed["corpus_token_counts"] == {"words": added["loaded_token_count"]}
    assert server.ask("POST", "/remove_external_corpus", {"corpus_id": "words"}).status == 200
    assert server.ask("GET", "/list_external_corpora").json["corpus_token_counts"] == {}


def test_a_flush_keeps_corpora_and_starts_the_average_anew(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *NGRAM, "--decode-log-interval", "1").wait_until_ready()
    server.ask("POST", "/add_external_corpus", {"corpus_id": "a", "documents": ["some words"]})
    ask(server, tokens=64)
    assert "avg_spec_accept_length" in state_of(server)
    assert server.ask("POST", "/flush_cache").status == 200
    assert "avg_spec_accept_length" not in state_of(server)
    assert [*server.ask("GET", "/list_external_corpora").json["corpus_token_counts"]] == ["a"]


def test_counters_agree_with_each_other(launch: Launch) -> None:
    server = launch(*ARGUMENTS, *NGRAM, "--decode-log-interval", "1").wait_until_ready()
    meta = ask(server, tokens=200)["meta_info"]
    histogram = meta["spec_correct_drafts_histogram"]
    assert sum(histogram) == meta["spec_verify_ct"]
    drafts = sum(place * count for place, count in enumerate(histogram))
    assert drafts == meta["spec_num_correct_drafts"]
    assert meta["completion_tokens"] == 200
    assert meta["spec_accept_length"] == 200 / meta["spec_verify_ct"]
    page = server.ask("GET", "/metrics").body.decode().splitlines()
    (verified,) = [x for x in page if x.startswith("sglang:spec_verify_calls_total{")]
    assert float(verified.split()[-1]) >= meta["spec_verify_ct"]
    average = state_of(server)["avg_spec_accept_length"]
    assert 1 <= average <= 8


def ask(server: StandIn, *, tokens: int) -> Any:
    sampling = {"max_new_tokens": tokens, "temperature": 0, "ignore_eos": True}
    body = {"text": "def parse(line):\n", "sampling_params": sampling}
    return server.ask("POST", "/generate", body).json


def state_of(server: StandIn) -> Any:
    return server.ask("GET", "/server_info").json["internal_states"][0]


def test_accept_length_can_be_forced_and_step_times_recorded(launch: Launch) -> None:
    drafter = str(launch.host.home / "models/draft")  # type: ignore[attr-defined]
    chain = (
        "--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3",
        "--speculative-eagle-topk", "1", "--speculative-draft-model-path", drafter,
    )  # fmt: skip
    forced = {"SGLANG_SIMULATE_ACC_LEN": "3", "SGLANG_RECORD_STEP_TIME": "1"}
    server = launch(*ARGUMENTS, *chain, **forced).wait_until_ready()
    meta = ask(server, tokens=240)["meta_info"]
    assert 2.8 < meta["spec_accept_length"] < 3.2
    times = state_of(server)["step_time_dict"]["1"]
    assert len(times) >= meta["spec_verify_ct"]
    assert all(0.0005 < seconds < 0.05 for seconds in times)


def test_ranks_find_each_other_at_a_port_of_their_own(launch: Launch) -> None:
    import socket

    from tests.contract.standin import free_port

    port = free_port()
    launch(*ARGUMENTS, "--nccl-port", str(port)).wait_until_ready()
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


def test_a_caller_that_goes_away_ends_its_request(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    sampling = {"max_new_tokens": 5000, "ignore_eos": True}
    with pytest.raises(TimeoutError):
        server.ask(
            "POST", "/generate", {"text": "go on", "sampling_params": sampling}, timeout_s=0.3
        )
    until = time.monotonic() + 5
    while server.ask("GET", "/v1/loads").json["loads"][0]["num_running_reqs"]:
        assert time.monotonic() < until
        time.sleep(0.02)
