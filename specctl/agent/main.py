"""The agent's main loop: requests in, answers out, a thread for each."""

from __future__ import annotations

import importlib
import json
import os
import threading
from types import GeneratorType
from typing import Any, BinaryIO, Callable, Dict

from . import children
from .hello import hello
from .protocol import LINE_MAX_BYTES, OpError, Writer, describe

OPS = {
    "load": ("loading", "load"),
    "sample": ("sampler", "sample"),
    "processes": ("processes", "processes"),
    "stat": ("files", "stat"),
    "walk": ("files", "walk"),
    "read": ("files", "read"),
    "disk": ("files", "disk"),
    "tail": ("tail", "tail"),
    "ports": ("ports", "ports"),
    "environment": ("places", "environment"),
    "commands": ("places", "commands"),
    "interpreters": ("interpreters", "interpreters"),
    "doctor": ("doctor", "doctor"),
    "answers": ("answers", "answers"),
    "probe": ("probe", "run"),
    "tree_changes": ("tree_changes", "tree_changes"),
    "tree": ("source_tree", "tree"),
    "tree_read": ("source_reading", "read"),
    "tree_search": ("source_search", "search"),
}
"""Op name to (module, function), imported when first asked for.

A function takes `(params, cancelled)`, `cancelled` being a threading.Event that is set when the
operator cancels. It returns the result, or is a generator: what it yields are the stream's items,
what it returns is the stream's end.
"""

EMITTING = frozenset({"probe"})
"""Ops whose function takes `(params, emit, is_cancelled)` and returns the stream's end."""

GATHERED = frozenset({"sample", "tail", "answers"})
"""Streams whose items are sent together; the first of each goes out at once."""

REQUESTS_MAX = 64


def main(marker: str, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer requests until stdin ends, then end at once with everything started here."""
    writer = Writer(stdout)
    try:
        writer.hello(marker, hello())
        Requests(writer).serve(stdin)
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        children.kill_all()
        # A thread may be inside a driver call that never returns: do not wait for it.
        os._exit(0)


class Requests:
    """The requests under way, by id."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._running: Dict[Any, threading.Event] = {}
        self._lock = threading.Lock()

    def serve(self, stdin: BinaryIO) -> None:
        """Read requests until stdin ends."""
        while True:
            line = stdin.readline(LINE_MAX_BYTES * 8)
            if not line:
                return
            if line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            identifier, op = request["id"], request["op"]
            params = dict(request.get("params") or {})
        except (ValueError, KeyError, TypeError):
            self._refuse(None, "bad_request", "not a request: id, op and params are needed")
            return
        if op == "cancel":
            self._cancel(identifier, params)
        elif op not in OPS:
            self._refuse(identifier, "not_supported", "this agent has no op %r" % (op,))
        else:
            self._start(identifier, op, params)

    def _start(self, identifier: Any, op: str, params: Dict[str, Any]) -> None:
        cancelled = threading.Event()
        with self._lock:
            is_known = identifier in self._running
            is_full = len(self._running) >= REQUESTS_MAX
            if not (is_known or is_full):
                self._running[identifier] = cancelled
        if is_known:
            self._refuse(identifier, "bad_request", "a request with this id is running")
        elif is_full:
            self._refuse(identifier, "error", "%d requests are running" % REQUESTS_MAX)
        else:
            arguments = (identifier, op, params, cancelled)
            threading.Thread(target=self._run, args=arguments, name=op, daemon=True).start()

    def _cancel(self, identifier: Any, params: Dict[str, Any]) -> None:
        with self._lock:
            cancelled = self._running.get(params.get("id"))
        if cancelled is not None:
            cancelled.set()
        self._writer.send({"id": identifier, "ok": {"was_running": cancelled is not None}})

    def _refuse(self, identifier: Any, kind: str, message: str) -> None:
        self._writer.send({"id": identifier, "error": {"kind": kind, "message": message}})

    def _run(
        self, identifier: Any, op: str, params: Dict[str, Any], cancelled: threading.Event
    ) -> None:
        try:
            last = self._answer(identifier, op, params, cancelled)
        except Exception as error:
            last = {"error": describe(error)}
        finally:
            with self._lock:
                del self._running[identifier]
        try:
            self._writer.send({"id": identifier, **last})
        except OSError:  # the operator is gone; stdin will say so too
            cancelled.set()

    def _answer(
        self, identifier: Any, op: str, params: Dict[str, Any], cancelled: threading.Event
    ) -> Dict[str, Any]:
        function = _find(op)
        send = self._writer.send

        def emit(item: Dict[str, Any]) -> None:
            send({"id": identifier, "item": item})

        if op in EMITTING:
            return {"end": function(params, emit, cancelled.is_set)}
        result = function(params, cancelled)
        if not isinstance(result, GeneratorType):
            return {"ok": result}
        while True:
            try:
                item = next(result)
            except StopIteration as stop:
                return {"end": stop.value or {}}
            if cancelled.is_set():
                result.close()
                return {"end": {"cancelled": True}}
            emit(item)
            if op in GATHERED:
                send = self._writer.send_soon


def _find(op: str) -> Callable[..., Any]:
    module, function = OPS[op]
    package = (__package__ or "specctl_agent") + "."
    try:
        found = importlib.import_module(package + module)
    except ImportError as error:
        raise OpError("not_supported", "this agent cannot %s: %s" % (op, error)) from error
    return getattr(found, function)  # type: ignore[no-any-return]
