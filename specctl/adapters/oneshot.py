"""Actions that run once on a host: one request in, one framed answer out."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from specctl.adapters.agent_channel import first_words
from specctl.adapters.agent_start import FailedStart
from specctl.adapters.bundle import holder_bundle, oneshot_bundle
from specctl.adapters.command_log import naming
from specctl.domain.errors import AgentError, RemoteFailedError
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from specctl.adapters.session import Finished, Session

FULL = ("No space left on device", "ENOSPC", "Disk quota exceeded", "EDQUOT", "disk may be full")
"""As the calls of a host say it, and its lock files."""


async def run_oneshot(
    session: Session,
    python: Sequence[str],
    name: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
) -> dict[str, Any]:
    """The answer of the one-shot `name`; raises RemoteFailedError with its own words."""
    bundle = oneshot_bundle(python, name, request)
    with naming(name, request):
        finished = await session.run(bundle.argv, timeout_s=timeout_s, stdin=bundle.payload)
    framed = _after(finished.stdout, bundle.marker.encode() + b" ")
    if framed is None:
        raise _no_answer(session.host, python, finished)
    return _read_answer(session.host, name, framed)


@asynccontextmanager
async def held_oneshot(
    session: Session,
    python: Sequence[str],
    name: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
) -> AsyncIterator[dict[str, Any]]:
    """The answer of a one-shot that goes on until the block is left, or the connection is lost."""
    bundle = holder_bundle(python, name, request)
    with naming(name, request):
        process = await session.open(bundle.argv)
    try:
        _, framed = await first_words(session.host, process, python, bundle, timeout_s)
        yield _read_answer(session.host, name, framed)
    finally:
        await process.close_stdin()
        await process.close()


def _after(stdout: bytes, marker: bytes) -> bytes | None:
    for line in stdout.split(b"\n"):
        if line.startswith(marker):
            return line.removeprefix(marker)
    return None


def _read_answer(host: str, name: str, framed: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(framed)
        if "ok" in answer:
            return dict(answer["ok"] or {})
        words = clean(str(answer["error"]["message"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise AgentError(f"host {host}: {name} gave a damaged answer: {error}") from error
    raise RemoteFailedError(f"host {host}: {name}: {words}", hint=_next_step(host, words))


def _next_step(host: str, words: str) -> str:
    """What to do about a disk that takes nothing; empty for what the words say themselves."""
    if any(sign in words for sign in FULL):
        step = "Free some space there, or name another state_dir in the host's file"
        return f"{step}: specctl doctor {host} says which disk takes what."
    if "Read-only file system" in words or "EROFS" in words:
        return f"Name a state_dir that can be written to: specctl doctor {host} says which can."
    return ""


def _no_answer(host: str, python: Sequence[str], finished: Finished) -> AgentError:
    return FailedStart(
        host, python, finished.exit_status, finished.error_text, finished.text
    ).error()
