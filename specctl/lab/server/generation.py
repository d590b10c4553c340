"""/generate: prompts in, text and counters out, whole or as a stream."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

from specctl.lab.requests import Request
from specctl.lab.server.meta import meta_info
from specctl.lab.server.pending import Pending
from specctl.lab.server.web import Answer, Asked, error_answer, json_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from specctl.lab.server.state import ServerState

_DEFAULT_NEW_TOKENS = 128


class RefusedError(Exception):
    """A request that is answered with 400 and these words."""


class Generation:
    """Turns bodies into requests of the engine, and what comes of them into answers."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def generate(self, asked: Asked) -> Answer:
        """SGLang's own endpoint."""
        body = asked.json()
        if not isinstance(body, dict):
            return error_answer("the body is a JSON object")
        try:
            made = self.make(body, is_streaming=bool(body.get("stream")))
        except RefusedError as refusal:
            self._state.log.say(f"[http_server] Error: {refusal}")
            return error_answer(str(refusal))
        self._state.link.submit(made)
        waiting = [pending for _, pending in made]
        if body.get("stream"):
            return Answer(kind="text/event-stream", stream=self._stream(waiting))
        for pending in waiting:
            await self.finish(pending, asked)
        values = [self._value(pending) for pending in waiting]
        return json_answer(values if self._is_batch(body) else values[0])

    @staticmethod
    def _is_batch(body: dict[str, Any]) -> bool:
        text, ids = body.get("text"), body.get("input_ids")
        is_nested = isinstance(ids, list) and bool(ids) and isinstance(ids[0], list)
        return isinstance(text, list) or is_nested

    async def finish(self, pending: Pending, asked: Asked) -> None:
        """Wait for the end; a caller that goes away aborts the request."""
        try:
            async for _ in pending.updates():
                if asked.is_gone():
                    return
        finally:
            if pending.finish is None:
                self._state.link.forget(pending.rid)

    async def _stream(self, waiting: list[Pending]) -> AsyncIterator[bytes]:
        is_incremental = bool(self._state.launch.args.incremental_streaming_output)
        for index, pending in enumerate(waiting):
            sent = 0
            try:
                async for count in pending.updates():
                    value = self._value(pending, count, sent, is_delta=is_incremental)
                    if len(waiting) > 1:
                        value["index"] = index
                    sent = count
                    yield event(value)
            finally:
                if pending.finish is None:
                    self._state.link.forget(pending.rid)
        yield b"data: [DONE]\n\n"

    def _value(
        self, pending: Pending, count: int | None = None, sent: int = 0, *, is_delta: bool = False
    ) -> dict[str, Any]:
        """What is answered after `count` tokens, `sent` of which were answered before."""
        state = self._state
        tokens = pending.tokens if count is None else pending.tokens[:count]
        text = state.tokenizer.decode(tokens)
        shown = tokens
        if is_delta:
            text = text[len(state.tokenizer.decode(tokens[:sent])) :]
            shown = tokens[sent:]
        elif state.launch.numbers <= (0, 5, 2):
            shown = tokens[sent:]
        is_last = pending.finish is not None and len(tokens) == len(pending.tokens)
        meta = meta_info(state, pending, len(tokens), is_first=sent == 0, is_last=is_last)
        return {"text": text, "output_ids": list(shown), "meta_info": meta}

    # ------------------------------------------------ requests
    def make(self, body: dict[str, Any], *, is_streaming: bool) -> list[tuple[Request, Pending]]:
        """The requests of a body; raises RefusedError where one cannot be served."""
        if body.get("return_logprob"):
            raise RefusedError("SIMULATED: the lab's server computes no logprobs")
        prompts = self._prompts(body)
        sampling = body.get("sampling_params") or {}
        if isinstance(sampling, dict):
            sampling = [sampling] * len(prompts)
        rids = body.get("rid")
        rids = rids if isinstance(rids, list) else [rids] * len(prompts)
        return [
            self.request(tokens, params, rid=rid, is_streaming=is_streaming)
            for tokens, params, rid in zip(prompts, sampling, rids, strict=True)
        ]

    def _prompts(self, body: dict[str, Any]) -> list[list[int]]:
        text, ids = body.get("text"), body.get("input_ids")
        if (text is None) == (ids is None):
            raise RefusedError(
                "Either text, input_ids or input_embeds should be provided and not both."
            )
        if text is not None:
            texts = text if isinstance(text, list) else [text]
            return [self._state.tokenizer.encode(one) for one in texts]
        if not isinstance(ids, list) or not ids:
            raise RefusedError("input_ids is a list of token ids")
        return ids if isinstance(ids[0], list) else [ids]

    def request(
        self, tokens: list[int], params: dict[str, Any], *, rid: str | None, is_streaming: bool
    ) -> tuple[Request, Pending]:
        """One prompt as a request; raises RefusedError when it is too long."""
        launch, known = self._state.launch, self._state.tokenizer.eos_id
        new = int(params.get("max_new_tokens") or _DEFAULT_NEW_TOKENS)
        self._check_length(len(tokens), new)
        stop = params.get("stop") or ()
        request = Request(
            rid=rid or uuid.uuid4().hex,
            tokens=tuple(tokens),
            max_new_tokens=min(new, launch.context_length - len(tokens)),
            temperature=float(params.get("temperature", 1.0)),
            seed=params.get("sampling_seed"),
            stop_token_ids=frozenset(params.get("stop_token_ids") or ()) - {known},
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            ignore_eos=bool(params.get("ignore_eos")),
        )
        pending = Pending(request.rid, len(tokens), time.time_ns() / 1e9, is_streaming=is_streaming)
        return request, pending

    def _check_length(self, prompt: int, new: int) -> None:
        context = self._state.launch.context_length
        if prompt >= context:
            self._state.leak()
            raise RefusedError(
                f"The input ({prompt} tokens) is longer than the model's context length "
                f"({context} tokens)."
            )
        if prompt + new > context and not self._state.launch.args.allow_auto_truncate:
            raise RefusedError(
                f"Requested token count exceeds the model's maximum context length of {context} "
                f"tokens. You requested a total of {prompt + new} tokens: {prompt} tokens from "
                f"the input messages and {new} tokens for the completion."
            )


def event(value: Any) -> bytes:
    """One server-sent event."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"data: {text}\n\n".encode()
