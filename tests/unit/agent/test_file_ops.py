from __future__ import annotations

import base64
import os
import threading
import time

import pytest

from specctl.agent import files, places
from specctl.agent.protocol import CHUNK_MAX_BYTES, LINE_MAX_BYTES, OpError
from specctl.agent.tail import tail

NEVER = threading.Event()


def _read(path, **params):
    answer = files.read({"path": str(path), **params}, NEVER)
    return base64.b64decode(answer["data"]), answer


def test_stat_tells_apart_absent_and_hidden(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    file.chmod(0o640)
    link = tmp_path / "b"
    link.symlink_to("nowhere")
    answer = files.stat({"paths": [str(file), str(tmp_path), str(link)]}, NEVER)
    row = answer[str(file)]
    assert (row["kind"], row["size"], row["mode"]) == ("file", 3, 0o640)
    assert row["inode"] == file.stat().st_ino
    assert answer[str(tmp_path)]["kind"] == "directory"
    assert answer[str(link)] == {
        "exists": False,
        "error": {"kind": "not_found", "message": f"No such file or directory {link}"},
    }


def test_read_gives_ranges_and_says_where_the_end_is(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(bytes(range(256)))
    data, answer = _read(file, offset=250, length=3)
    assert (data, answer["eof"], answer["size"]) == (bytes([250, 251, 252]), False, 256)
    data, answer = _read(file, offset=250, length=6)
    assert (data, answer["eof"]) == (bytes(range(250, 256)), True)
    assert _read(file, offset=9999)[0] == b""
    with pytest.raises(OpError):
        _read(file, offset=-1)


def test_read_never_fills_more_than_a_line(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"x" * (CHUNK_MAX_BYTES + 5))
    data, answer = _read(file, length=4 << 20)
    assert (len(data), answer["eof"]) == (CHUNK_MAX_BYTES, False)
    assert len(answer["data"]) < LINE_MAX_BYTES - 1024


def test_read_does_not_block_on_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OpError, match="is a pipe"):
        _read(pipe)


def _walk(root, **params):
    answer = files.walk({"root": str(root), **params}, NEVER)
    return [entry[0] for entry in answer["entries"]], answer


@pytest.fixture
def tree(tmp_path):
    for name in ("a/b/c/deep.py", "a/one.py", "a/two.txt", "ngram.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "a" / "loop").symlink_to("..")
    return tmp_path


def test_walk_is_breadth_first_and_sorted(tree):
    names, answer = _walk(tree)
    assert names[:2] == ["a", "ngram.py"]
    assert names[-1] == "a/b/c/deep.py"
    assert answer["truncated"] is None


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"globs": ["*.py"]}, ["ngram.py", "a/one.py", "a/b/c/deep.py"]),
        ({"globs": ["a/*.txt"]}, ["a/two.txt"]),
        ({"globs": ["*.py"], "max_depth": 2}, ["ngram.py", "a/one.py"]),
        ({"globs": ["*.py"], "max_entries": 1}, ["ngram.py"]),
        ({"globs": ["*.py"], "follow": True}, ["ngram.py", "a/one.py", "a/b/c/deep.py"]),
    ],
)
def test_walk_keeps_to_its_bounds(tree, params, expected):
    names, answer = _walk(tree, **params)
    assert names == expected
    bound = next((name for name in ("max_depth", "max_entries") if name in params), None)
    assert answer["truncated"] == bound


def test_walk_of_many_files_fits_a_line(tmp_path):
    for number in range(9000):
        (tmp_path / f"{'n' * 90}{number}").touch()
    _, answer = _walk(tmp_path, max_entries=100_000)
    assert answer["truncated"] == "size"
    assert len(str(answer)) < LINE_MAX_BYTES


def test_disk_of_a_path_not_there_yet(tmp_path):
    path = str(tmp_path / "not" / "yet")
    row = files.disk({"paths": [path]}, NEVER)[path]
    assert row["total"] > row["free"] > 0
    assert row["error"] is None


def test_commands_are_found_beyond_path(monkeypatch, tmp_path):
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\n")
    monkeypatch.setattr(places, "EXTRA_PATH", (str(tmp_path),))
    monkeypatch.setenv("PATH", "relative:/nonexistent")
    assert places.find_command("nvidia-smi") is None
    tool.chmod(0o755)
    assert places.find_command("nvidia-smi") == str(tool)
    assert places.commands({"names": ["nope"]}, NEVER) == {"nope": None}


def _tail(path, **params):
    stop = threading.Event()
    items = list(tail({"path": str(path), **params}, stop))
    return b"".join(base64.b64decode(item["data"]) for item in items), items


def test_tail_from_the_end_starts_at_a_line(tmp_path):
    file = tmp_path / "log"
    file.write_bytes(b"first\nsecond\nthird\n")
    assert _tail(file, offset=-8)[0] == b"third\n"
    assert _tail(file, offset=-6)[0] == b"third\n"
    assert _tail(file, offset=-999)[0] == b"first\nsecond\nthird\n"
    assert _tail(file, offset=6)[0] == b"second\nthird\n"


class Following:
    """A tail that is followed, one item at a time."""

    def __init__(self, path, **params):
        self.stop = threading.Event()
        self.stream = tail({"path": str(path), "follow": True, **params}, self.stop)

    def next(self):
        item = next(self.stream)
        return base64.b64decode(item["data"]), item["event"], item["offset"]


def test_tail_follows_writes_truncation_and_rotation(tmp_path):
    file = tmp_path / "log"
    follow = Following(file)
    assert follow.next() == (b"", "missing", 0)
    file.write_bytes(b"one\n")
    assert follow.next() == (b"one\n", None, 4)
    with file.open("ab") as more:
        more.write(b"two\n")
    assert follow.next() == (b"two\n", None, 8)
    file.write_bytes(b"new\n")
    assert follow.next() == (b"", "truncated", 0)
    assert follow.next() == (b"new\n", None, 4)
    with file.open("ab") as more:
        more.write(b"last words\n")
    file.rename(tmp_path / "log.1")
    file.write_bytes(b"next file\n")
    assert follow.next() == (b"last words\n", None, 15)
    assert follow.next() == (b"", "rotated", 0)
    assert follow.next() == (b"next file\n", None, 10)
    file.unlink()
    assert follow.next()[1] == "missing"


def test_tail_of_another_inode_starts_over(tmp_path):
    file = tmp_path / "log"
    file.write_bytes(b"x" * 100)
    data, items = _tail(file, offset=50, inode=file.stat().st_ino + 1)
    assert items[0]["event"] == "rotated"
    assert len(data) == 100


def test_tail_ends_with_where_to_go_on(tmp_path):
    file = tmp_path / "log"
    file.write_bytes(b"abc")
    stream = tail({"path": str(file)}, threading.Event())
    next(stream)
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == {"offset": 3, "inode": file.stat().st_ino}


def test_tail_reads_on_through_a_deleted_file(tmp_path):
    with (tmp_path / "log").open("wb") as file:
        file.write(b"still here\n")
        file.flush()
        (tmp_path / "log").unlink()
        assert _tail(f"/proc/self/fd/{file.fileno()}")[0] == b"still here\n"


class Never:
    """An event that is never set and is waited for in no time; keeps when each wait would end."""

    def __init__(self):
        self.ends = []

    def is_set(self):
        return False

    def wait(self, seconds):
        self.ends.append((time.time() + seconds) % 0.2)
        return len(self.ends) == 3


def test_a_tail_may_come_at_the_instants_of_samples(tmp_path):
    file, never = tmp_path / "log", Never()
    file.write_bytes(b"what was there comes at once\n")
    items = list(tail({"path": str(file), "follow": True, "every_s": 0.2}, never))
    assert len(items) == 1
    assert all(min(end, 0.2 - end) < 0.01 for end in never.ends)
