"""Work for a worker that may be cut off before it began."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Later(Generic[Result]):
    """A coroutine made when it is awaited: one that was made and never began is warned of."""

    def __init__(
        self,
        make: Callable[Given, Coroutine[None, None, Result]],
        *args: Given.args,
        **more: Given.kwargs,
    ) -> None:
        self._make: Callable[[], Coroutine[None, None, Result]] = partial(make, *args, **more)

    def __await__(self) -> Generator[None, None, Result]:
        """Make it and wait for it."""
        return self._make().__await__()
