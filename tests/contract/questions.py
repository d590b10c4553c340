"""The questions that a stand-in, a captured server and a real one are all asked.

Each answer is a small JSON value that says how a server speaks, never how fast: statuses, keys and
types, names and labels, shapes of log lines. `tests/data/contract/VERSION.json` holds the answers
of real servers by the questions' names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.contract.shapes import line_shape, metric_shapes, shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.contract.subject import Subject

ARGUMENTS = (
    "--device", "cpu", "--attention-backend", "torch_native", "--sampling-backend", "pytorch",
    "--disable-overlap-schedule", "--dtype", "float32", "--max-total-tokens", "20000",
    "--max-running-requests", "8", "--enable-metrics", "--host", "127.0.0.1",
)  # fmt: skip
"""Of the servers that were captured."""

NGRAM = (
    "--speculative-algorithm", "NGRAM", "--speculative-num-draft-tokens", "8",
    "--speculative-ngram-capacity", "200000",
)  # fmt: skip
PROMPT = "def fibonacci(n):\n    "
TOO_LONG = "def fibonacci(n): " * 20000
_GREEDY = {"temperature": 0}
_BODY = {"text": PROMPT, "sampling_params": {**_GREEDY, "max_new_tokens": 200, "ignore_eos": True}}
_SHORT = {"text": PROMPT, "sampling_params": {**_GREEDY, "max_new_tokens": 48}}
_BATCH = {**_BODY, "text": [f"{PROMPT}#{number}" for number in range(8)]}
_CHAT = {
    "model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 48,
    "temperature": 0,
}  # fmt: skip
_CHAT_STREAM = {**_CHAT, "stream": True, "stream_options": {"include_usage": True}}
_COMPLETIONS = {"model": "m", "prompt": [PROMPT] * 4, "max_tokens": 64, "temperature": 0}


@dataclass(frozen=True)
class Question:
    """One question."""

    name: str
    put: Callable[[Subject], Any]

    def __str__(self) -> str:
        return self.name


def _status(path: str) -> Question:
    return Question(f"status {path}", lambda subject: subject.ask("GET", path).status)


def _get(path: str) -> Question:
    return Question(f"json {path}", lambda subject: shape(subject.ask("GET", path).json))


def _post(name: str, path: str, body: Any) -> Question:
    return Question(f"json {name}", lambda subject: shape(subject.ask("POST", path, body).json))


def _stream(name: str, path: str, body: Any) -> Question:
    """The first, second, second to last and last events: those between are like the second."""

    def put(subject: Subject) -> Any:
        events = subject.ask("POST", path, body).events
        first, second, *_, before, last = events
        return {
            "first": shape(first), "second": shape(second),
            "before": shape(before), "last": last,
        }  # fmt: skip

    return Question(f"stream {name}", put)


def _refused(subject: Subject) -> Any:
    reply = subject.ask("POST", "/generate", {"text": TOO_LONG})
    message = reply.json["error"]["message"]
    return {"status": reply.status, "json": shape(reply.json), "words": line_shape(message)}


def _unknown_path(subject: Subject) -> Any:
    reply = subject.ask("GET", "/no-such-path")
    return {"status": reply.status, "json": reply.json}


def _flush(subject: Subject) -> Any:
    reply = subject.ask("GET", "/flush_cache")
    return {"status": reply.status, "text": reply.body.decode()}


def _health(subject: Subject) -> Any:
    reply = subject.ask("GET", "/health")
    return {"status": reply.status, "bytes": len(reply.body)}


def _metrics(subject: Subject) -> Any:
    return metric_shapes(subject.ask("GET", "/metrics").body.decode())


def _lines(subject: Subject, *starts: str) -> list[str]:
    shapes = {line_shape(line) for line in subject.log().splitlines()}
    return sorted(one for one in shapes if one.startswith(starts))


def _log(name: str, *starts: str) -> Question:
    return Question(f"log {name}", lambda subject: _lines(subject, *starts))


def _milestones(subject: Subject) -> list[str]:
    """The lines of a start in their order, each shape once."""
    wanted = (
        "server_args=", "Init parallel", "Init torch", "Load weight", "KV Cache", "Memory pool",
        "max_total_num_tokens", "Engine startup", "INFO:     Started",
        "INFO:     Waiting for application startup",
        "INFO:     Application startup", "INFO:     Uvicorn", "The server is fired up",
    )  # fmt: skip
    found: list[str] = []
    for line in subject.log().splitlines():
        one = line_shape(line)
        if one.startswith("server_args="):
            one = one[: len("server_args=S")]
        if one.startswith(wanted) and one not in found:
            found.append(one)
    return found


STATUS_PATHS = (
    "/health_generate", "/get_server_info", "/server_info", "/get_model_info", "/v1/models",
    "/get_load", "/v1/loads", "/metrics",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (
    *(_status(path) for path in STATUS_PATHS),
    Question("health", _health),
    _get("/server_info"),
    _get("/v1/loads"),
    _post("/generate", "/generate", _BODY),
    _post("/generate in a batch", "/generate", _BATCH),
    _stream("/generate", "/generate", {**_SHORT, "stream": True}),
    _post("/v1/chat/completions", "/v1/chat/completions", _CHAT),
    _stream("/v1/chat/completions", "/v1/chat/completions", _CHAT_STREAM),
    _post("/v1/completions", "/v1/completions", _COMPLETIONS),
    Question("a prompt that is too long", _refused),
    Question("an unknown path", _unknown_path),
    _get("/get_server_info"),
    _get("/get_model_info"),
    _get("/v1/models"),
    _get("/get_load"),
    Question("metrics", _metrics),
    Question("flush", _flush),
    Question("milestones", _milestones),
    _log("decode", "Decode batch"),
    _log("prefill", "Prefill batch"),
    _log("access", 'INFO:     ADDRESS - "'),
    _log("flush", "Cache flushed"),
    _log("deprecated", "Endpoint '"),
)
