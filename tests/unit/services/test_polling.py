"""Polling: which path is asked, what is concluded, and that a server in trouble is left alone."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from specctl.adapters.sglang import Answer, SglangClient
from specctl.domain.errors import DeadlineError, ServerAnswerError
from specctl.domain.missing import Why
from specctl.services.polling import LONGEST_PAUSE_S, READY_EVERY_S, ServerPoller

CAPTURES = Path(__file__).parents[2] / "data" / "captures"
LOADS = (CAPTURES / "loads" / "v1-loads-ngram-0.5.23.json").read_bytes()
METRICS = (CAPTURES / "metrics" / "ngram-0.5.23.txt").read_bytes()
INFO = (CAPTURES / "server_info" / "ngram-0.5.23.json").read_bytes()
OLD_INFO = (CAPTURES / "server_info" / "baseline-0.5.2.json").read_bytes()


class Clock:
    """Time that only moves when told to."""

    time_s = 1000.0

    def now(self) -> float:
        return self.time_s

    monotonic = now

    async def sleep(self, seconds: float) -> None:
        self.time_s += seconds


class Server:
    """Answers by path; what is not in `answers` is 404."""

    def __init__(self, **answers: bytes | int | Exception) -> None:
        self.answers = {"/" + path.replace("__", "/"): answer for path, answer in answers.items()}
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        answer = self.answers.get(request.url.path, 404)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return httpx.Response(answer, text="no")
        return httpx.Response(200, content=answer)

    def poller(self, clock: Clock, version: str | None = "0.5.23", **options) -> ServerPoller:
        client = SglangClient(httpx.MockTransport(self), 30000)
        options = {"has_metrics": True, "is_speculating": True, **options}
        return ServerPoller(client, clock, version=version, **options)


async def test_the_small_answer_is_asked_every_time_the_large_one_rarely():
    server, clock = Server(v1__loads=LOADS, metrics=METRICS), Clock()
    poller = server.poller(clock)
    for _ in range(12):
        await poller.poll()
        clock.time_s += 1
    assert server.asked.count("/v1/loads") == 12
    assert server.asked.count("/metrics") == 2


async def test_counters_of_metrics_join_the_rates_of_loads():
    sample = await Server(v1__loads=LOADS, metrics=METRICS).poller(Clock()).poll()
    assert sample.source == "/v1/loads"
    assert sample.running_requests is not None
    assert sample.generated_tokens is not None
    assert sample.verify_steps is not None


async def test_a23_metrics_that_are_not_enabled_are_asked_once():
    server = Server(server_info=INFO)
    poller = server.poller(Clock(), version="0.5.6", has_metrics=None)
    first = await poller.poll()
    await poller.poll()
    assert server.asked.count("/metrics") == 1
    assert first.source == "/server_info"
    assert first.accept_length_scope == "lifetime"
    assert first.tokens_per_s is None
    assert first.reason("tokens_per_s").why is Why.STALE


async def test_a10_old_versions_are_asked_by_their_old_path():
    server = Server(get_server_info=OLD_INFO)
    sample = await server.poller(Clock(), version="0.5.2", has_metrics=False).poll()
    assert sample.source == "/get_server_info"
    assert "/server_info" not in server.asked


async def test_a12_a_key_is_wanted():
    poller = Server(v1__loads=401, metrics=401, server_info=401).poller(Clock())
    sample = await poller.poll()
    assert poller.http == "401"
    assert sample.accept_length is None
    assert sample.reason("accept_length").why is Why.UNAUTHORIZED


async def test_a14_a_server_that_times_out_is_left_alone_ever_longer():
    server = Server(v1__loads=httpx.ReadTimeout("silence"))
    poller = server.poller(Clock())
    pauses = []
    samples = []
    for _ in range(7):
        samples.append(await poller.poll())
        pauses.append(poller.pause_s)
    assert server.asked == ["/v1/loads"] * 7, "no other path is tried while one hangs"
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_S
    assert samples[-1].reason("tokens_per_s").why is Why.TIMED_OUT


async def test_the_pause_ends_with_the_first_answer():
    server = Server(v1__loads=httpx.ReadTimeout("silence"), metrics=METRICS)
    poller = server.poller(Clock())
    await poller.poll()
    server.answers["/v1/loads"] = LOADS
    await poller.poll()
    assert poller.pause_s == 0
    assert poller.http == "200"


async def test_nothing_listens():
    poller = Server(v1__loads=httpx.ConnectError("refused")).poller(Clock())
    sample = await poller.poll()
    assert poller.http == "refused"
    assert sample.reason("running_requests").why is Why.UNREACHABLE


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"loads": "x"}', b"\xff\xfe"])
async def test_answers_that_are_none_do_not_end_the_watching(body):
    server = Server(v1__loads=body, metrics=body, server_info=body)
    sample = await server.poller(Clock()).poll()
    assert sample.tokens_per_s is None


async def test_a_server_that_warms_up_is_not_taken_for_ready():
    server = Server(v1__loads=LOADS, metrics=METRICS, ready=503)
    poller = server.poller(Clock())
    await poller.poll()
    assert poller.http == "503"
    server.answers["/ready"] = b""
    await poller.poll()
    assert poller.http == "200"


async def test_a_server_that_was_ready_is_asked_again_now_and_then():
    server, clock = Server(v1__loads=LOADS, metrics=METRICS, ready=b""), Clock()
    poller = server.poller(clock)
    await poller.poll()
    await poller.poll()
    assert (server.asked.count("/ready"), poller.http) == (1, "200")
    server.answers["/ready"] = 503
    clock.time_s += READY_EVERY_S
    await poller.poll()
    await poller.poll()
    assert (server.asked.count("/ready"), poller.http) == (3, "503")


async def test_a_version_without_ready_is_asked_for_it_once():
    server = Server(v1__loads=LOADS, metrics=METRICS)
    poller = server.poller(Clock(), version=None)
    await poller.poll()
    await poller.poll()
    assert server.asked.count("/ready") == 1
    assert poller.http == "200"


async def test_health_is_never_asked():
    """Since 0.4.10.post2 it generates a token."""
    server = Server()
    poller = server.poller(Clock(), version=None, has_metrics=None)
    for _ in range(3):
        await poller.poll()
    assert not [path for path in server.asked if "health" in path or "generate" in path]


class Heard:
    """What the agent hears; after `answers` it hears nothing."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers, self.asked, self.closed = list(answers), list[str](), 0

    async def get(self, path: str, *, timeout_s: float) -> Answer:
        assert timeout_s > 0
        self.asked.append(path)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None:
        self.closed += 1


async def test_what_answered_is_heard_from_the_agent_from_then_on():
    loads = Answer(200, LOADS, "/v1/loads")
    server, clock, heard = Server(v1__loads=LOADS), Clock(), Heard(loads, loads)
    poller = server.poller(clock, has_metrics=False, live=heard)
    assert not poller.has_waited
    samples = []
    for _ in range(3):
        samples.append(await poller.poll())
        clock.time_s += 1
        assert poller.has_waited
    assert server.asked.count("/v1/loads") == 1
    assert heard.asked == ["/v1/loads"] * 2
    assert {sample.source for sample in samples} == {"/v1/loads"}

    await poller.rest()
    assert not poller.has_waited
    assert heard.closed == 1
    await poller.poll()
    assert server.asked.count("/v1/loads") == 2


@pytest.mark.parametrize(
    ("broken", "http"),
    [
        (ServerAnswerError("nothing listens"), "refused"),
        (DeadlineError("late"), "timed out"),
        (Answer(503, b"", "/v1/loads"), "503"),
    ],
)
async def test_a_server_that_no_longer_answers_the_agent_is_asked_as_any_other(broken, http):
    server, clock, heard = Server(v1__loads=LOADS), Clock(), Heard(broken)
    poller = server.poller(clock, has_metrics=False, version=None, live=heard)
    await poller.poll()
    clock.time_s += 1
    server.answers.clear()
    await poller.poll()
    assert not poller.has_waited
    assert poller.http == http
    asked = len(server.asked)
    server.answers["/v1/loads"] = LOADS
    await poller.poll()
    assert len(server.asked) > asked
    assert len(heard.asked) == 1


async def test_a_server_without_a_small_answer_is_asked_by_requests():
    server, heard = Server(metrics=METRICS), Heard()
    poller = server.poller(Clock(), version="0.5.2", live=heard)
    for _ in range(2):
        await poller.poll()
        assert not poller.has_waited
    assert heard.asked == []
