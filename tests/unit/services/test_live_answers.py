"""Answers as the agent hears them: one stream a path, and the errors that a request would have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from specctl.domain.errors import AgentAnswerError, DeadlineError, ServerAnswerError
from specctl.services.live_answers import LiveAnswers


class Stream:
    def __init__(self, items: list[Any]) -> None:
        self.items, self.is_closed = items, False

    async def __anext__(self) -> dict[str, Any]:
        if not self.items:
            raise StopAsyncIteration
        item = self.items.pop(0)
        if isinstance(item, Exception):
            raise item
        if item is None:
            await asyncio.Event().wait()
        return item  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        self.is_closed = True


class Agent:
    """Plays streams in turn."""

    def __init__(self, *streams: list[Any]) -> None:
        self._left = [Stream(items) for items in streams]
        self.begun: list[tuple[dict[str, Any], Stream]] = []

    def stream(self, op: str, **params: Any) -> Stream:
        assert op == "answers"
        stream = self._left.pop(0)
        self.begun.append((params, stream))
        return stream


def live(agent: Any) -> LiveAnswers:
    return LiveAnswers(agent, "http://127.0.0.1:1", {"A": "k"}, interval_s=0.01)


async def test_one_stream_gives_one_answer_after_another():
    agent = Agent([{"status": 200, "body": "1"}, {"status": 503, "body": "é"}])
    answers = live(agent)
    first = await answers.get("/v1/loads", timeout_s=1)
    second = await answers.get("/v1/loads", timeout_s=1)

    assert (first.status, first.body, first.path) == (200, b"1", "/v1/loads")
    assert (second.status, second.text) == (503, "é")
    [(params, stream)] = agent.begun
    assert params["headers"] == {"A": "k"}
    assert not stream.is_closed
    await answers.close()
    assert stream.is_closed


async def test_another_path_is_another_stream():
    agent = Agent([{"status": 200, "body": "1"}], [{"status": 200, "body": "2"}])
    answers = live(agent)
    await answers.get("/v1/loads", timeout_s=1)
    assert (await answers.get("/get_load", timeout_s=1)).text == "2"
    assert agent.begun[0][1].is_closed


@pytest.mark.parametrize(
    ("item", "error", "words"),
    [
        ({"error": "timed out", "detail": "x"}, DeadlineError, "in time"),
        ({"error": "refused", "detail": "x"}, ServerAnswerError, "nothing listens"),
        ({"error": "broken", "detail": "half"}, ServerAnswerError, "half"),
        (AgentAnswerError("no op"), ServerAnswerError, "no op"),
        (None, DeadlineError, "not heard of"),
    ],
)
async def test_what_goes_wrong_is_told_as_a_request_tells_it_and_ends_the_stream(
    item, error, words
):
    agent = Agent([item], [{"status": 200, "body": "again"}])
    answers = live(agent)
    with pytest.raises(error, match=words) as caught:
        await answers.get("/v1/loads", timeout_s=0.01)
    assert getattr(caught.value, "status", None) is None
    assert agent.begun[0][1].is_closed
    assert (await answers.get("/v1/loads", timeout_s=1)).text == "again"


async def test_an_agent_that_ends_the_stream_is_an_answer_that_did_not_come():
    with pytest.raises(ServerAnswerError, match="no more"):
        await live(Agent([])).get("/v1/loads", timeout_s=1)
