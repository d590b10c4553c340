"""Calls that may hang: one at a time in a thread of their own, and who asks waits only so long."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, NamedTuple, Optional


class Outcome(NamedTuple):
    """What a call gave: its value or its error, and the processor time it took."""

    value: Any
    error: Optional[BaseException]
    at: float
    """When it ended, by the monotonic clock."""

    cost_s: float


class SingleFlight:
    """Runs one function on demand; while a call is under way, asking again only waits for it."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._condition = threading.Condition()
        self._arguments: Any = None
        self._began: Optional[float] = None
        self._thread: Optional[threading.Thread] = None
        self.last: Optional[Outcome] = None
        """The outcome of the last call that ended."""

    @property
    def running_s(self) -> float:
        """For how long the call under way has been running; 0 when there is none."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def ask(self, timeout_s: float, *arguments: Any) -> Optional[Outcome]:
        """The outcome of a call begun or joined now, or None when it does not end in time."""
        with self._condition:
            if self._began is None:
                self._begin(arguments)
            began = self._began
            self._condition.wait_for(lambda: self._began != began, timeout_s)
            return self.last if self._began != began else None

    def _begin(self, arguments: Any) -> None:
        self._arguments = arguments
        self._began = time.monotonic()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        self._condition.notify_all()

    def _work(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._arguments is not None)
                arguments, self._arguments = self._arguments, None
            cpu = time.thread_time()
            value, error = None, None
            try:
                value = self._function(*arguments)
            except BaseException as raised:
                error = raised
            cost_s = time.thread_time() - cpu
            with self._condition:
                self.last = Outcome(value, error, time.monotonic(), cost_s)
                self._began = None
                self._condition.notify_all()
