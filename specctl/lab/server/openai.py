"""The OpenAI endpoints: completions and chat, whole and streamed."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from specctl.lab.chat import render
from specctl.lab.server.generation import Generation, RefusedError, event
from specctl.lab.server.meta import finish_reason
from specctl.lab.server.web import Answer, Asked, json_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.lab.server.pending import Pending
    from specctl.lab.server.state import ServerState

_DONE = b"data: [DONE]\n\n"


class OpenAi:
    """Bodies of OpenAI's shape, served by the same generation."""

    def __init__(self, state: ServerState, generation: Generation) -> None:
        self._state, self._generation = state, generation

    async def completions(self, asked: Asked) -> Answer:
        """/v1/completions; `prompt` is a text, a list of texts, or token ids."""
        body = asked.json()
        prompt = body.get("prompt", "")
        is_ids = isinstance(prompt, list) and bool(prompt) and not isinstance(prompt[0], str)
        made = {"input_ids" if is_ids else "text": prompt, **_sampling(body, "max_tokens")}
        return await self._serve(asked, made, _Completion(self._state, body))

    async def chat(self, asked: Asked) -> Answer:
        """/v1/chat/completions, the turns put together as the models' own template does."""
        body = asked.json()
        turns = body.get("messages") or []
        text = render({"role": turn["role"], "content": _content(turn)} for turn in turns)
        name = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
        return await self._serve(
            asked, {"text": text, **_sampling(body, name)}, _Chat(self._state, body)
        )

    async def _serve(self, asked: Asked, made: dict[str, Any], shape: _Shape) -> Answer:
        is_streaming = bool(asked.json().get("stream"))
        try:
            requests = self._generation.make(made, is_streaming=is_streaming)
        except RefusedError as refusal:
            return _refused(str(refusal))
        self._state.link.submit(requests)
        waiting = [pending for _, pending in requests]
        if is_streaming:
            return Answer(kind="text/event-stream", stream=self._stream(waiting, shape))
        for pending in waiting:
            await self._generation.finish(pending, asked)
        choices = [shape.choice(index, one) for index, one in enumerate(waiting)]
        return json_answer({**shape.head(""), "choices": choices, **shape.tail(waiting)})

    async def _stream(self, waiting: list[Pending], shape: _Shape) -> AsyncIterator[bytes]:
        decode = self._state.tokenizer.decode
        for index, pending in enumerate(waiting):
            sent = ""
            try:
                if (first := shape.first(index)) is not None:
                    yield shape.chunk([first])
                async for count in pending.updates():
                    text = decode(pending.tokens[:count])
                    if text[len(sent) :] or not shape.ends_apart:
                        yield shape.chunk([shape.piece(index, text[len(sent) :], pending)])
                    sent = text
                if shape.ends_apart:
                    yield shape.chunk([shape.end(index, pending)])
            finally:
                if pending.finish is None:
                    self._state.link.forget(pending.rid)
        if shape.wants_usage:
            yield shape.chunk([], usage=shape.usage(waiting))
        yield _DONE


class _Shape:
    """What is common to both: ids, usage, the release's keys."""

    object = ""
    chunk_object = ""
    ends_apart = False
    """The finish has a chunk of its own."""

    def __init__(self, state: ServerState, body: dict[str, Any]) -> None:
        self.state = state
        self.is_new = state.launch.numbers >= (0, 5, 23)
        self._id = uuid.uuid4().hex
        self._model = body.get("model") or state.launch.args.served_model_name
        self._created = time.time_ns() // 10**9
        options = body.get("stream_options") or {}
        self.wants_usage = bool(options.get("include_usage"))

    def head(self, suffix: str) -> dict[str, Any]:
        """The keys before the choices."""
        return {
            "id": self._id,
            "object": self.chunk_object if suffix else self.object,
            "created": self._created,
            "model": self._model,
        }

    def usage(self, waiting: list[Pending]) -> dict[str, Any]:
        """Tokens of all prompts and completions together."""
        prompt = sum(one.prompt_tokens for one in waiting)
        completion = sum(len(one.tokens) for one in waiting)
        usage = {
            "prompt_tokens": prompt,
            "total_tokens": prompt + completion,
            "completion_tokens": completion,
            "prompt_tokens_details": None,
            "reasoning_tokens": 0,
        }
        return {**usage, "completion_tokens_details": None} if self.is_new else usage

    def tail(self, waiting: list[Pending]) -> dict[str, Any]:
        """The keys after the choices."""
        metadata: dict[str, Any] = {"weight_version": "default"}
        if self.is_new:
            end = len(waiting[0].tokens)
            metadata["weight_versions"] = [{"version": "default", "start": 0, "end": end}]
        return {"usage": self.usage(waiting), "metadata": metadata}

    def chunk(self, choices: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> bytes:
        """One event of a stream."""
        value = {**self.head("chunk"), "choices": choices}
        if usage is not None or not self.is_new:
            value["usage"] = usage
        return event(value)

    @staticmethod
    def ending(pending: Pending | None) -> dict[str, Any]:
        """`finish_reason` and what it matched; None while it goes on."""
        reason = finish_reason(pending) if pending is not None else None
        kind = reason["type"] if reason else None
        matched = reason.get("matched") if reason else None
        return {"logprobs": None, "finish_reason": kind, "matched_stop": matched}

    def choice(self, index: int, pending: Pending) -> dict[str, Any]:
        """A whole answer."""
        raise NotImplementedError

    def first(self, index: int) -> dict[str, Any] | None:
        """What a stream begins with."""
        raise NotImplementedError

    def piece(self, index: int, text: str, pending: Pending) -> dict[str, Any]:
        """A part of it."""
        raise NotImplementedError

    def end(self, index: int, pending: Pending) -> dict[str, Any]:
        """What a stream ends with."""
        raise NotImplementedError


class _Completion(_Shape):
    object = chunk_object = "text_completion"

    def choice(self, index: int, pending: Pending) -> dict[str, Any]:
        text = self.state.tokenizer.decode(pending.tokens)
        return {"index": index, "text": text, **self.ending(pending)}

    def first(self, index: int) -> None:
        del index

    def piece(self, index: int, text: str, pending: Pending) -> dict[str, Any]:
        return {"index": index, "text": text, **self.ending(pending)}


class _Chat(_Shape):
    object, chunk_object = "chat.completion", "chat.completion.chunk"
    ends_apart = True

    def choice(self, index: int, pending: Pending) -> dict[str, Any]:
        content = self.state.tokenizer.decode(pending.tokens)
        message = {"role": "assistant", "content": content, "reasoning_content": None}
        if not self.is_new:
            message["tool_calls"] = None
        return {"index": index, "message": message, **self.ending(pending)}

    def first(self, index: int) -> dict[str, Any]:
        return self._delta(index, {"role": "assistant", "content": ""}, None)

    def piece(self, index: int, text: str, pending: Pending) -> dict[str, Any]:
        del pending
        return self._delta(index, {"content": text}, None)

    def end(self, index: int, pending: Pending) -> dict[str, Any]:
        return self._delta(index, {}, pending)

    def _delta(self, index: int, said: dict[str, Any], pending: Pending | None) -> dict[str, Any]:
        if self.is_new:
            delta = {"reasoning_content": None, **said}
        else:
            delta = {"role": None, "content": None, "reasoning_content": None, "tool_calls": None}
            delta |= said
        return {"index": index, "delta": delta, **self.ending(pending)}


def _content(turn: dict[str, Any]) -> str:
    content = turn.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def _sampling(body: dict[str, Any], length: str) -> dict[str, Any]:
    params = {
        "max_new_tokens": body.get(length),
        "temperature": body.get("temperature", 1.0),
        "stop": body.get("stop"),
        "ignore_eos": body.get("ignore_eos", False),
        "sampling_seed": body.get("seed"),
    }
    return {"sampling_params": params}


def _refused(message: str) -> Answer:
    return json_answer(
        {
            "object": "error",
            "message": message,
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        400,
    )
