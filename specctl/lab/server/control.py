"""The endpoints that change a server: flush, abort, corpora, thresholds; and its health."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.lab.requests import Request
from specctl.lab.server.pending import HEALTH_PREFIX, Pending
from specctl.lab.server.state import Phase
from specctl.lab.server.web import Answer, Asked, error_answer, json_answer

if TYPE_CHECKING:
    from specctl.lab.server.state import ServerState

_SETTABLE = (
    "pp_max_micro_batch_size",
    "speculative_accept_threshold_single",
    "speculative_accept_threshold_acc",
)
_OUR_WORDS = (
    "Please check backend logs for more details. "
    "(When there are running or waiting requests, the operation will not be performed.)\n"
)
_NO_NGRAM = "Ngram speculative decoding is not enabled."


class Control:
    """What an operator tells a server."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._is_loading_corpus = False

    async def flush(self, _asked: Asked) -> Answer:
        """/flush_cache."""
        reply = await self._state.link.ask(do="flush")
        if reply["ok"]:
            return Answer(200, f"Cache flushed.\n{_OUR_WORDS}".encode())
        if self._state.launch.numbers <= (0, 5, 2):
            return Answer(400, f"Cache flushed.\n{_OUR_WORDS}".encode())
        return Answer(400, b"Flush cache failed.\n")

    async def abort(self, asked: Asked) -> Answer:
        """/abort_request."""
        body = asked.json() or {}
        link = self._state.link
        if body.get("abort_all"):
            link.tell(do="abort_all")
        elif body.get("rid"):
            link.tell(do="abort", rids=[body["rid"]])
        return Answer(200)

    async def freeze_gc(self, _asked: Asked) -> Answer:
        """/freeze_gc, of which nothing is simulated."""
        return Answer(200, b"Garbage collection frozen.\n")

    async def set_internal_state(self, asked: Asked) -> Answer:
        """/set_internal_state: the accept thresholds, and nothing of what shapes speculation."""
        body = asked.json() or {}
        wanted = body.get("server_args") or {}
        is_new = self._state.launch.numbers >= (0, 5, 23)
        wrong = [name for name in wanted if name not in _SETTABLE]
        if wrong:
            self._state.log.say(f"Updating {wrong[0]} is not supported.")
            return json_answer([False] if is_new else [{"updated": True, "server_args": {}}])
        await self._state.link.ask(do="thresholds")
        self._state.thresholds.update({name: float(value) for name, value in wanted.items()})
        return json_answer([True] if is_new else [{"updated": True, "server_args": wanted}])

    # ------------------------------------------------ corpora
    async def list_corpora(self, _asked: Asked) -> Answer:
        """/list_external_corpora."""
        if self._state.launch.algorithm != "NGRAM":
            return _corpora({}, _NO_NGRAM)
        reply = await self._state.link.ask(do="corpora")
        return _corpora(reply["corpora"], "")

    async def add_corpus(self, asked: Asked) -> Answer:
        """/add_external_corpus: one load at a time."""
        body = asked.json() or {}
        name = body.get("corpus_id") or uuid.uuid4().hex
        if self._state.launch.algorithm != "NGRAM":
            return _added("", 0, _NO_NGRAM)
        if self._is_loading_corpus:
            return _added("", 0, "Another corpus load is already in progress.")
        self._is_loading_corpus = True
        try:
            documents = [self._state.tokenizer.encode(text) for text in _documents(body)]
            reply = await self._state.link.ask(do="add_corpus", corpus_id=name, documents=documents)
        except (OSError, ValueError) as error:
            return _added("", 0, str(error))
        finally:
            self._is_loading_corpus = False
        if not reply["ok"]:
            return _added("", 0, reply["message"])
        return _added(name, reply["loaded"], "")

    async def remove_corpus(self, asked: Asked) -> Answer:
        """/remove_external_corpus."""
        name = (asked.json() or {}).get("corpus_id")
        if not name:
            return json_answer({"success": False, "message": "corpus_id is required."}, 400)
        if self._state.launch.algorithm != "NGRAM":
            return json_answer({"success": False, "message": _NO_NGRAM}, 400)
        reply = await self._state.link.ask(do="remove_corpus", corpus_id=name)
        message = "" if reply["ok"] else f"Corpus '{name}' not found."
        return json_answer({"success": reply["ok"], "message": message}, _status(reply["ok"]))

    # ------------------------------------------------ health
    async def ready(self, _asked: Asked) -> Answer:
        """/ready."""
        return Answer(200 if self._state.phase is Phase.READY else 503)

    async def health(self, asked: Asked) -> Answer:
        """/health and /health_generate: a token is made, and a second goes by."""
        state = self._state
        if state.phase is Phase.DRAINING:
            state.log.say("Health check request received during shutdown. Returning 503.")
            return Answer(503)
        if state.phase is Phase.STARTING:
            return Answer(503)
        began = time.time_ns() / 1e9
        rid = f"{HEALTH_PREFIX}_{uuid.uuid4().hex}"
        pending = Pending(rid, 1, began, is_logged=False)
        state.link.submit([(Request(rid, (0,), 1), pending)])
        pause, most = (state.launch.duration_s(name) for name in ("health", "health_timeout"))
        while time.time_ns() / 1e9 < began + most:
            await asyncio.sleep(pause)
            if state.link.last_heard_s > began:
                state.phase = Phase.READY if state.phase is Phase.UNHEALTHY else state.phase
                return Answer(200)
        state.link.pending.pop(rid, None)
        self._say_unhealthy(began, most)
        state.phase = Phase.UNHEALTHY if state.phase is Phase.READY else state.phase
        del asked
        return Answer(503)

    def _say_unhealthy(self, began: float, most: float) -> None:
        clock = "%H:%M:%S"
        began_text = time.strftime(clock, time.localtime(began))
        heard = time.strftime(clock, time.localtime(self._state.link.last_heard_s))
        self._state.log.say(
            "Health check failed. Server couldn't get a response from detokenizer for last "
            f"{most:.0f} seconds. tic start time: {began_text}. last_heartbeat time: {heard}"
        )


def _documents(body: dict[str, Any]) -> list[str]:
    if body.get("file_path"):
        lines = Path(body["file_path"]).read_text().splitlines()
        documents = [json.loads(line) for line in lines if line.strip()]
    else:
        documents = body.get("documents") or []
    if not all(isinstance(text, str) for text in documents):
        raise ValueError("a corpus is made of JSON strings")
    return documents


def _status(ok: bool) -> int:  # noqa: FBT001
    return 200 if ok else 400


def _corpora(counts: dict[str, int], message: str) -> Answer:
    value = {"success": not message, "corpus_token_counts": counts, "message": message}
    return json_answer(value, _status(not message))


def _added(name: str, loaded: int, message: str) -> Answer:
    value = {
        "success": not message,
        "corpus_id": name,
        "message": message,
        "loaded_token_count": loaded,
    }
    return json_answer(value, _status(not message))


def not_found() -> Answer:
    """For a path that the release does not have."""
    return json_answer({"detail": "Not Found"}, 404)


def unauthorized() -> Answer:
    """For a wrong key, or none."""
    return json_answer({"error": "Unauthorized"}, 401)


def failed(error: Exception) -> Answer:
    """For a body that cannot be read."""
    return error_answer(str(error))
