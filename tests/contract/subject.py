"""Who is asked: a running server, whatever is behind it, and how it is started and watched."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    body: bytes
    kind: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """Of a stream; the closing `[DONE]` as that text."""
        parts = [p[6:] for p in self.body.decode().split("\n\n") if p.startswith("data: ")]
        return [part if part == "[DONE]" else json.loads(part) for part in parts]


@dataclass(frozen=True)
class Ended:
    """How a start ended that did not come to serve."""

    status: int
    """As a shell sees it: 128 + n for a signal."""

    output: str

    @property
    def last_line(self) -> str:
        return self.output.rstrip().splitlines()[-1]


class Subject(Protocol):
    """A server that questions are put to; see `questions.py`."""

    version: str

    def ask(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Reply:
        """One request to the running server."""
        ...

    def log(self) -> str:
        """Everything that it has printed so far."""
        ...

    def try_start(self, *arguments: str) -> Ended:
        """Start another one with these arguments, which is expected to end by itself."""
        ...


def request(
    port: int, method: str, path: str, body: Any = None, *,
    key: str | None = None, timeout_s: float = 60,
) -> Reply:  # fmt: skip
    """One request to a port of this machine; raises OSError where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, headers)
        response = connection.getresponse()
        data = response.read()
        kind = (response.getheader("Content-Type") or "").split(";")[0]
        return Reply(response.status, data, kind)
    finally:
        connection.close()
