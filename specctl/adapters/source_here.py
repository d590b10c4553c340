"""A tree of this machine, looked at by the same code that an agent runs on a host."""

from __future__ import annotations

import asyncio
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from specctl.agent.main import OPS
from specctl.agent.protocol import OpError
from specctl.domain.errors import AgentAnswerError
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HERE = "this machine"


def absolute(directory: Path) -> str:
    """A folder as the op is asked for it."""
    return str(directory.expanduser().absolute())


class HereStream:
    """The items of one op, run in a thread; what it says at the end is `end`."""

    def __init__(self, op: str, **params: Any) -> None:
        self._cancelled = threading.Event()
        module, function = OPS[op]
        run = getattr(import_module(f"specctl.agent.{module}"), function)
        self._items = run(params, self._cancelled)
        self._lock = threading.Lock()
        self.end: dict[str, Any] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop the op, and let it clear up."""
        self._cancelled.set()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._lock:  # a thread may be inside it: cancelling its waiter does not stop it
            self._items.close()

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        return self

    async def __anext__(self) -> dict[str, Any]:
        item = await asyncio.to_thread(self._next)
        if item is None:
            raise StopAsyncIteration
        return item

    def _next(self) -> dict[str, Any] | None:
        try:
            with self._lock:
                item: dict[str, Any] = next(self._items)
        except StopIteration as stop:
            self.end = stop.value or {}
            return None
        except OpError as error:
            raise AgentAnswerError(clean(str(error)), kind=error.kind) from None
        except OSError as error:
            raise AgentAnswerError(f"{error.strerror}: {error.filename}") from None
        return item
