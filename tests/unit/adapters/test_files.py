"""TOML files in every state."""

from __future__ import annotations

import os

import pytest

from specctl.adapters.files import parse_toml, read_toml

SYNTAX = [
    (b'model = "m\n', 1, "column 11: the line ends inside a string"),
    (b"model m\n", 1, "column 7: an equals sign must follow the key"),
    (b"a = 1\n\nmodel =\n", 3, "column 8: the value is missing"),
    (b"a = 1\nmodel = m\n", 2, "column 9: the value is missing, or is text without quotes"),
    (b"[arguments\ntp-size = 1\n", 1, "column 11: the closing ] of the table name is missing"),
    (b"a = 1\na = 2\n", 2, "column 6: this key already has a value above"),
    (b"a = 1 b = 2\n", 1, "column 7: one line holds one"),
    (b'a = "\\d"\n', 1, "column 8: write \\\\ for a backslash"),
    (b"a = [1,\n2\n", 2, "the file ends too early: the closing ] of a list is missing"),
    (b"= 1\n", 1, "column 1: this is neither"),
    (b"[a]\nb = 1\n[a]\n", 3, "column 3: [a] stands above already"),
    (b"[a.b]\n[a.b]\n", 2, "column 5: [a.b] stands above already"),
]


@pytest.mark.parametrize(("data", "line", "words"), SYNTAX)
def test_a_mistake_of_syntax_has_line_and_column_in_words(data, line, words):
    problem = parse_toml(data, "profiles/p.toml").problem
    assert problem is not None
    assert problem.file == "profiles/p.toml"
    assert problem.line == line
    assert problem.message.startswith(words)


def test_c14_a_byte_order_mark_and_windows_line_ends_are_accepted():
    data = b'\xef\xbb\xbfmodel = "/models/m"\r\n\r\n[arguments]\r\ntp-size = 2\r\n'
    toml = parse_toml(data, "p.toml")
    assert toml.problem is None
    assert toml.values == {"model": "/models/m", "arguments": {"tp-size": 2}}
    assert toml.lines["arguments", "tp-size"] == 4


def test_c14_a_carriage_return_never_reaches_a_value():
    toml = parse_toml(b'a = """x\r\ny"""\r\n', "p.toml")
    assert toml.values == {"a": "x\ny"}


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ('model = "é"'.encode("utf-16"), None, "is UTF-16 text"),
        (b'a = 1\nmodel = "\xe9"\n', 2, "byte 0xe9 is not UTF-8 text"),
    ],
)
def test_other_encodings_are_named(data, line, words):
    problem = parse_toml(data, "p.toml").problem
    assert problem is not None
    assert problem.line == line
    assert problem.message.startswith(words)


def test_files_that_cannot_be_read_are_problems_too(tmp_path):
    (tmp_path / "folder.toml").mkdir()
    for path, words in (
        (tmp_path / "none.toml", "cannot be read: No such file"),
        (tmp_path / "folder.toml", "cannot be read: Is a directory"),
    ):
        problem = read_toml(path, path.name).problem
        assert problem is not None
        assert problem.message.startswith(words)
    big = tmp_path / "big.toml"
    big.write_bytes(b"#" * ((1 << 20) + 1))
    problem = read_toml(big, "big.toml").problem
    assert problem is not None
    assert "1 MiB" in problem.message


def test_the_line_of_a_key_not_written_is_that_of_its_table():
    toml = parse_toml(b"a = 1\n[placement]\nport = 1\n", "p.toml")
    assert toml.line(("placement", "gpus")) == 2
    assert toml.line(("nothing",)) is None


@pytest.mark.parametrize(
    "number",
    [
        "9" * 20,
        "9" * 5000,
        "0x" + "f" * 5000,
        "-9223372036854775809",
        "[1, [-1, 1" + "0" * 19 + "]]",
    ],
)
def test_a_number_beyond_64_bits_is_a_problem(number):
    problem = parse_toml(f"a = 9223372036854775807\nb = {number}\n".encode(), "p.toml").problem
    assert problem is not None
    assert "more than 64 bits" in problem.message


@pytest.mark.parametrize("special", ["pipe", "device"])
def test_what_is_no_plain_file_is_not_read(tmp_path, special):
    path = tmp_path / "p.toml"
    if special == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    problem = read_toml(path, "p.toml").problem
    assert problem is not None
    assert problem.message == "is no plain file"
