"""Writing safetensors files: a length, a JSON header, the tensors' bytes one after the other."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ITEM_BYTES = {"BF16": 2, "F32": 4, "I64": 8, "BOOL": 1, "U8": 1}
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor; without `data` it is zero and takes no room on the disk."""

    dtype: str
    shape: Sequence[int]
    data: bytes | None = None

    @property
    def size_bytes(self) -> int:
        """Of its data."""
        return prod(self.shape) * ITEM_BYTES[self.dtype]


def write_safetensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]
) -> None:
    """Write `path`; ValueError for data that does not fill its tensor."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    offset = 0
    for name, tensor in tensors.items():
        if tensor.data is not None and len(tensor.data) != tensor.size_bytes:
            raise ValueError(f"{name}: {len(tensor.data)} bytes for {tensor.size_bytes}")
        ends = [offset, offset + tensor.size_bytes]
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": ends}
        offset = ends[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            if tensor.data is None:
                file.seek(tensor.size_bytes, 1)
            else:
                file.write(tensor.data)
        file.truncate(8 + len(text) + offset)
