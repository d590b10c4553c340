"""The header of a safetensors file, and the small integer tables behind it.

Layout: eight bytes, little-endian, how long the header is; the header, a JSON object of tensor name
to `{"dtype", "shape", "data_offsets": [begin, end]}`; the tensors' bytes, without gaps.
"""

from __future__ import annotations

import json
import struct
from typing import Any, TypeGuard

from specctl.domain.checkpoint.values import DTYPE_BITS, Tensor
from specctl.domain.missing import Missing, Why
from specctl.domain.text import clean

LENGTH_BYTES = 8
LONGEST_HEADER_BYTES = 100_000_000
"""What the safetensors library itself refuses to go beyond."""

MOST_DIMENSIONS = 8
LARGEST = 1 << 53
_NAME_CHARACTERS = 300
_WHOLE = {"I64": "q", "U64": "Q", "I32": "i", "U32": "I", "I16": "h", "U16": "H", "I8": "b",
          "U8": "B"}  # fmt: skip
_TRUTH = frozenset({"BOOL", "U8", "I8"})


def header_length(first: bytes, file_bytes: int) -> int | Missing:
    """How long the header is, from the file's first eight bytes."""
    if len(first) < LENGTH_BYTES:
        return Missing(Why.MALFORMED, f"the file ends after {len(first)} bytes")
    length = int(struct.unpack("<Q", first[:LENGTH_BYTES])[0])
    if LONGEST_HEADER_BYTES < length <= file_bytes - LENGTH_BYTES:
        words = f"its header has {length:,} bytes, more than the {LONGEST_HEADER_BYTES:,} allowed"
        return Missing(Why.MALFORMED, words)
    if LENGTH_BYTES + length > file_bytes:
        words = f"its header would be {length} bytes, the file has {file_bytes}"
        return Missing(Why.MALFORMED, words)
    return length


def read_header(text: bytes, file_bytes: int) -> tuple[Tensor, ...] | Missing:
    """The tensors of a header, in the order of their bytes; why not, where it cannot be trusted."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Missing(Why.MALFORMED, f"its header is no JSON: {clean(str(error))[:120]}")
    if not isinstance(found, dict):
        return Missing(Why.MALFORMED, "its header is no object")
    tensors = []
    for name, row in found.items():
        if name != "__metadata__":
            tensor = _tensor(name, row)
            if tensor is None:
                words = f"its header describes {clean(name)[:80]} in a way that cannot be"
                return Missing(Why.MALFORMED, words)
            tensors.append(tensor)
    tensors.sort(key=lambda tensor: (tensor.begin, tensor.end))
    return _gapless(tensors, file_bytes - LENGTH_BYTES - len(text)) or tuple(tensors)


def _tensor(name: str, row: Any) -> Tensor | None:
    if not isinstance(row, dict):
        return None
    dtype, shape, offsets = row.get("dtype"), row.get("shape"), row.get("data_offsets")
    if not isinstance(dtype, str) or not _are_sizes(shape) or not _are_sizes(offsets):
        return None
    if len(offsets) != 2 or len(shape) > MOST_DIMENSIONS or dtype not in DTYPE_BITS:  # noqa: PLR2004
        return None
    tensor = Tensor(clean(name)[:_NAME_CHARACTERS], dtype, tuple(shape), offsets[0], offsets[1])
    is_whole = tensor.end - tensor.begin == tensor.size_bytes and tensor.values <= LARGEST
    return tensor if is_whole else None


def _are_sizes(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(x) is int and 0 <= x <= LARGEST for x in value)


def _gapless(tensors: list[Tensor], data_bytes: int) -> Missing | None:
    """Nothing when the tensors lie one behind the other and fill the file."""
    at = 0
    for tensor in tensors:
        if tensor.begin != at:
            how = "overlap" if tensor.begin < at else "leave a gap"
            return Missing(Why.MALFORMED, f"its tensors {how} at byte {min(at, tensor.begin)}")
        at = tensor.end
    if at != data_bytes:
        words = f"its tensors take {at} bytes, the file holds {data_bytes}: cut off, or added to"
        return Missing(Why.MALFORMED, words)
    return None


def read_integers(tensor: Tensor, data: bytes) -> tuple[int, ...] | Missing:
    """The numbers of a whole-number tensor; why not, where it is none or its bytes do not fit."""
    code = _WHOLE.get(tensor.dtype)
    if code is None or len(tensor.shape) != 1:
        words = f"{tensor.name} is {tensor.dtype} {list(tensor.shape)}, not a list of whole numbers"
        return Missing(Why.MALFORMED, words)
    if len(data) != tensor.size_bytes:
        return Missing(Why.MALFORMED, f"{tensor.name} has {len(data)} of its bytes")
    return struct.unpack(f"<{tensor.values}{code}", data)


def read_truths(tensor: Tensor, data: bytes) -> bytes | Missing:
    """One byte per value of a truth-value tensor."""
    if tensor.dtype not in _TRUTH or len(tensor.shape) != 1 or len(data) != tensor.size_bytes:
        words = f"{tensor.name} is {tensor.dtype} {list(tensor.shape)}, not a list of truth values"
        return Missing(Why.MALFORMED, words)
    return data
