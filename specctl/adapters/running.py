"""Running a command to its end, the same way on this machine and over a connection."""

from __future__ import annotations

import asyncio
import shlex
import signal
from typing import TYPE_CHECKING, Protocol

from specctl.adapters.session import OUTPUT_BYTES_MAX, Finished
from specctl.domain.errors import DeadlineError, RemoteFailedError
from specctl.domain.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.output import Output

_NAME_CELLS = 60


class Started(Protocol):
    """A command that was started and whose output arrives in `output`."""

    output: Output

    def send_all(self, data: bytes) -> None:
        """Give it its whole stdin, then the end of it; it may end without having read any."""
        ...

    async def kill(self) -> None:
        """End it and its children, as far as the way to it allows."""
        ...

    async def close(self) -> None:
        """Stop talking to it."""
        ...


async def finish(
    started: Started, argv: Sequence[str], *, host: str, timeout_s: float, stdin: bytes
) -> Finished:
    """Wait for its end and collect its output; kills it when cancelled or past the deadline."""
    try:
        async with asyncio.timeout(timeout_s):
            started.send_all(stdin)
            stdout = await _collect(started.output)
            status = await started.output.wait_exit()
    except TimeoutError as error:
        await started.kill()
        raise _too_slow(started.output, host, timeout_s) from error
    except BaseException:
        await started.kill()
        raise
    finally:
        await started.close()
    return Finished(tuple(argv), status, stdout, started.output.stderr)


async def _collect(output: Output) -> bytes:
    collected = bytearray()
    while data := await output.read():
        collected += data
        if len(collected) > OUTPUT_BYTES_MAX:
            raise RemoteFailedError(f"`{output.name}` printed more than {OUTPUT_BYTES_MAX} bytes")
    return bytes(collected)


def _too_slow(output: Output, host: str, timeout_s: float) -> DeadlineError:
    words = f"host {host}: `{output.name}` did not end within {timeout_s:g} s"
    last = clean(output.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2])
    return DeadlineError(f"{words}; it last said: {shorten(last, 200)}" if last else words)


def name_of(argv: Sequence[str]) -> str:
    """A command as error messages name it: whole when short, else its beginning."""
    return shorten(clean(shlex.join(argv)), _NAME_CELLS)


def status_of_signal(name: str) -> int:
    """The exit status shells give a command that signal `name` (`TERM`) ended."""
    number = getattr(signal, f"SIG{name}", None)
    return 128 + (number.value if isinstance(number, signal.Signals) else 0)
