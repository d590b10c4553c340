from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save, save_file

from specctl.domain.missing import Missing, Why
from specctl.facts.safetensors import (
    LENGTH_BYTES,
    header_length,
    read_header,
    read_integers,
    read_truths,
)
from tests.unit.facts.making import Dice, either, json_of, made, many, mapping, number, record, word


def tensors_of(file: bytes):
    length = header_length(file[:LENGTH_BYTES], len(file))
    if isinstance(length, Missing):
        return length
    return read_header(file[LENGTH_BYTES : LENGTH_BYTES + length], len(file))


def file_of(header: object, data: bytes = b"", *, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def row(shape, begin, end, dtype="I8"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_what_the_package_writes_is_read_back(tmp_path):
    arrays = {
        "model.fc.weight": np.zeros((3, 5), dtype=np.float16),
        "d2t": np.array([0, 7, -2, 1 << 40]),
        "t2d": np.array([True, False, True]),
        "empty": np.zeros((0, 4), dtype=np.float32),
    }
    path = tmp_path / "model.safetensors"
    save_file(arrays, str(path), metadata={"format": "pt"})
    file = path.read_bytes()
    found = tensors_of(file)
    assert not isinstance(found, Missing)
    by_name = {tensor.name: tensor for tensor in found}
    assert {name: tensor.shape for name, tensor in by_name.items()} == {
        name: array.shape for name, array in arrays.items()
    }
    assert sum(t.size_bytes for t in found) == sum(array.nbytes for array in arrays.values())
    begin = LENGTH_BYTES + struct.unpack("<Q", file[:LENGTH_BYTES])[0]

    def data(name):
        return file[begin + by_name[name].begin : begin + by_name[name].end]

    assert read_integers(by_name["d2t"], data("d2t")) == (0, 7, -2, 1 << 40)
    assert read_truths(by_name["t2d"], data("t2d")) == b"\1\0\1"
    assert isinstance(read_integers(by_name["t2d"], data("t2d")), Missing)
    assert isinstance(read_truths(by_name["d2t"], data("d2t")), Missing)
    assert isinstance(read_integers(by_name["d2t"], b"short"), Missing)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (b"", "ends after 0 bytes"),
        (b"\1\0\0", "ends after 3 bytes"),
        (file_of({}, length=1 << 63), "9223372036854775808 bytes"),
        (file_of({}, length=3), "its header would be 3 bytes, the file has 10"),
        (file_of(b"\xff\xfe{}"), "no JSON"),
        (file_of(b"[" * 100_000), "no JSON"),
        (file_of([1]), "no object"),
        (file_of({"a": 1}, b""), "describes a in a way"),
        (file_of({"a": row([2], 0, 3)}, b"xxx"), "describes a"),
        (file_of({"a": row([2], 2, 0)}, b"xx"), "describes a"),
        (file_of({"a": row([-1, -2], 0, 2)}, b"xx"), "describes a"),
        (file_of({"a": row([True], 0, 1)}, b"x"), "describes a"),
        (file_of({"a": row([1 << 52, 1 << 52], 0, 1)}, b"x"), "describes a"),
        (file_of({"a": row([1] * 9, 0, 1)}, b"x"), "describes a"),
        (file_of({"a": row([1], 0, 1, "T9")}, b"x"), "describes a"),
        (file_of({"a": row([2], 0, 2), "b": row([2], 1, 3)}, b"xxx"), "overlap at byte 1"),
        (file_of({"a": row([1], 0, 1), "b": row([1], 2, 3)}, b"xxx"), "leave a gap at byte 1"),
        (file_of({"a": row([4], 0, 4)}, b"xx"), "cut off, or added to"),
        (file_of({"a": row([1], 0, 1)}, b"xx"), "cut off, or added to"),
        (file_of({"a\x1b[2J": 1}), "describes a in a way"),
    ],
)
def test_a_header_that_cannot_be_is_said_to_be_so(file, words):
    found = tensors_of(file)
    assert isinstance(found, Missing)
    assert found.why is Why.MALFORMED
    assert words in found.detail
    assert "\x1b" not in found.detail


sizes = either(number(0, 40), number(-4, 1 << 70), word(0, 1, 2, 8, 1 << 53, 1 << 63))
values = json_of(leaves=6)
rows = record(
    {
        "dtype": either(word("I64", "BOOL", "F16", "F4", "X"), values),
        "shape": either(many(sizes, 4), values),
        "data_offsets": either(many(sizes, 3), values),
    }
)
headers = made(mapping(Dice.text, either(rows, values), 6))


@given(headers | st.binary(max_size=80), st.binary(max_size=40), st.none() | st.integers(0, 200))
def test_a_hostile_header_is_read_or_refused_and_never_larger_than_its_file(header, data, length):
    file = file_of(header, data, length=length)
    found = tensors_of(file)
    if isinstance(found, Missing):
        assert found.detail
        return
    assert sum(tensor.size_bytes for tensor in found) <= len(file)
    for tensor in found:
        assert 0 <= tensor.begin <= tensor.end <= len(file)
        read_integers(tensor, data)
        read_truths(tensor, data)


@given(st.data())
def test_a_good_file_with_bytes_changed_is_read_or_refused(data):
    file = bytearray(save({"d2t": np.arange(4), "fc.weight": np.zeros((2, 2), np.float32)}))
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    found = tensors_of(bytes(file))
    assert isinstance(found, Missing) or sum(t.size_bytes for t in found) <= len(file)


def test_a_header_that_is_there_and_too_long_is_not_called_cut_off():
    found = header_length(struct.pack("<Q", 150_000_000), 150_000_008)
    assert isinstance(found, Missing)
    assert found.detail == "its header has 150,000,000 bytes, more than the 100,000,000 allowed"
