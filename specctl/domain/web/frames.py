"""The frames that a screen's process and its server exchange: a letter, a length, a payload.

The form is that of Textual's web driver: `D` for the terminal's bytes, `M` for JSON about them,
`P` for files, which specctl's screen never sends.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD_BYTES = 5
FRAME_BYTES_MAX = 16 * 1024 * 1024
"""Far more than one paint of the largest terminal."""

READY = b"__GANGLION__\n"
"""The line with which the driver begins to speak in frames."""

DATA, ABOUT = b"D", b"M"


def frame(kind: bytes, payload: bytes) -> bytes:
    """One frame."""
    return b"%s%s%s" % (kind, len(payload).to_bytes(4, "big"), payload)


def about(said: Mapping[str, object]) -> bytes:
    """One frame of JSON."""
    return frame(ABOUT, json.dumps(said).encode())


def read_head(head: bytes) -> tuple[bytes, int] | None:
    """Kind and length of the payload that follows; None when no frame begins so."""
    size = int.from_bytes(head[1:HEAD_BYTES], "big")
    return (head[:1], size) if size <= FRAME_BYTES_MAX else None
