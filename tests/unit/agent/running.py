"""A real agent in a process of its own, spoken to as the operator's side does."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
import zlib
from importlib import resources
from typing import Any

from specctl.agent.bootstrap import BOOT

MARKER = "specctl-0123456789abcdef"
WAIT_S = 20


def sources() -> dict[str, str]:
    """Module name to source, as the bundle carries them."""
    found = {}
    for file in resources.files("specctl.agent").iterdir():
        stem, _, suffix = file.name.partition(".")
        if suffix == "py":
            name = "specctl_agent" if stem == "__init__" else f"specctl_agent.{stem}"
            found[name] = file.read_text()
    return found


def pack(payload: dict[str, Any], *, sha256: str | None = None) -> bytes:
    body = zlib.compress(json.dumps(payload).encode())
    digest = sha256 or hashlib.sha256(body).hexdigest()
    return json.dumps({"size": len(body), "sha256": digest}).encode() + b"\n" + body


class RunningAgent:
    """Started on creation; closed by leaving its `with` block."""

    def __init__(
        self,
        python: str = sys.executable,
        env: dict[str, str] | None = None,
        enter: tuple[str, ...] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*enter, python, "-I", "-u", "-c", BOOT, MARKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env or dict(os.environ),
        )
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._next = 0
        self.write(pack({"modules": sources(), "main": "specctl_agent.main"}))
        assert self.process.stdout is not None
        noise = self.process.stdout.readline()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(
                f"no hello: {self.process.stderr and self.process.stderr.read()!r}"
            )
        assert noise == b"\n"
        marker, _, hello = line.decode("ascii").partition(" ")
        assert marker == MARKER
        self.hello: dict[str, Any] = json.loads(hello)
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> RunningAgent:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(WAIT_S)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                message = json.loads(line.decode("ascii"))
                self.answers(message.get("id")).put(message)
        except ValueError:  # closed under the reader at the end of a test
            return

    def answers(self, identifier: int | None) -> queue.Queue[dict[str, Any]]:
        return self._answers.setdefault(-1 if identifier is None else identifier, queue.Queue())

    def send(self, op: str, **params: Any) -> int:
        self._next += 1
        self.answers(self._next)
        request = {"id": self._next, "op": op, "params": params}
        self.write(json.dumps(request).encode() + b"\n")
        return self._next

    def next(self, identifier: int | None, timeout_s: float = WAIT_S) -> dict[str, Any]:
        return self.answers(identifier).get(timeout=timeout_s)

    def call(self, op: str, **params: Any) -> Any:
        answer = self.next(self.send(op, **params))
        assert "ok" in answer, answer
        return answer["ok"]

    def fail(self, op: str, **params: Any) -> dict[str, str]:
        answer = self.next(self.send(op, **params))
        assert "error" in answer, answer
        error: dict[str, str] = answer["error"]
        return error

    def item(self, identifier: int, timeout_s: float = WAIT_S) -> dict[str, Any]:
        answer = self.next(identifier, timeout_s)
        assert "item" in answer, answer
        item: dict[str, Any] = answer["item"]
        return item

    def until(self, identifier: int, accept: Any, tries: int = 200) -> dict[str, Any]:
        """The first item of a stream that `accept` likes."""
        item = None
        for _ in range(tries):
            item = self.item(identifier)
            if accept(item):
                return item
        raise AssertionError(f"none of {tries} items was accepted; the last: {item}")
