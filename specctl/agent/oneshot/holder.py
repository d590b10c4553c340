"""Hold locks for as long as the operator's channel is open: it ends with it, however it ends."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from . import locker


def main(marker: str, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Read one request line, answer in a frame, and hold what was taken until stdin ends."""
    request = json.loads(stdin.readline(1 << 20))
    try:
        answer: dict[str, Any] = {"ok": locker.hold(request)}
    except (OSError, locker.LockError, KeyError) as error:
        answer = {"error": {"kind": "error", "message": str(error)}}
    stdout.write(b"\n%s %s\n" % (marker.encode("ascii"), json.dumps(answer).encode("ascii")))
    stdout.flush()
    if answer.get("ok", {}).get("held"):
        locker.wait_for_end(stdin)
