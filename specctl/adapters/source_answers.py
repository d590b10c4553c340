"""The packed parts of an agent's answer about a tree, unpacked within bounds."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKED_BYTES_MAX = 64 << 20
UNPACKED_BYTES_MAX = 192 << 20


class Parts:
    """Collects the pieces of each part; a host may send anything."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._pieces: dict[str, list[bytes]] = {}
        self.packed: dict[str, list[bytes]] = {}
        """The parts that were opened, as they came."""

        self.received_bytes = 0
        """As they came over the wire."""

    def take(self, item: Mapping[str, Any]) -> str | None:
        """Keep one piece; the name of its part when that is now complete. Raises AgentError."""
        part, data = item.get("part"), item.get("data")
        if not isinstance(part, str) or not isinstance(data, str):
            raise self._broken("a piece that is none")
        self.received_bytes += len(data)
        if self.received_bytes > PACKED_BYTES_MAX:
            raise self._broken(f"more than {PACKED_BYTES_MAX >> 20} MiB")
        try:
            self._pieces.setdefault(part, []).append(base64.b64decode(data, validate=True))
        except (ValueError, binascii.Error):
            raise self._broken("data that cannot be decoded") from None
        return part if item.get("is_last") is True else None

    def open(self, part: str) -> dict[str, Any]:
        """The content of a part that is complete; raises AgentError."""
        packed = b"".join(self._pieces.pop(part, ()))
        self.packed.setdefault(part, []).append(packed)
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(packed, UNPACKED_BYTES_MAX)
            if unpacker.unconsumed_tail:
                raise self._broken(f"more than {UNPACKED_BYTES_MAX >> 20} MiB unpacked")
            content = json.loads(data)
        except (zlib.error, ValueError, RecursionError):
            raise self._broken("data that cannot be read") from None
        if not isinstance(content, dict):
            raise self._broken("data that cannot be read")
        return content

    def _broken(self, what: str) -> AgentError:
        return AgentError(f"host {self._host}: the agent's answer about the tree is {what}")
