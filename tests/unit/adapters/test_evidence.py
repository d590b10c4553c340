from __future__ import annotations

import gzip
import json

import pytest

from specctl.adapters import evidence as module
from specctl.adapters.evidence import SCHEMA, Evidence, read_evidence, write_evidence
from specctl.domain.errors import UsageError
from specctl.domain.plain import plain
from tests.unit.adapters.test_ledger import RUN

BLOCKS = ({"place": 0}, {"place": 1, "words": "ü" * 100})


def packed(value):
    return gzip.compress(json.dumps(value).encode(), mtime=0)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.specctl.json.gz"
    size = write_evidence(path, Evidence(RUN, BLOCKS))
    assert size == path.stat().st_size
    assert read_evidence(path) == Evidence(RUN, BLOCKS)


def test_the_same_run_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_evidence(tmp_path / name, Evidence(RUN, BLOCKS))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_nothing_is_written_over(tmp_path):
    path = tmp_path / "there"
    path.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        write_evidence(path, Evidence(RUN))
    assert path.read_text() == "mine"
    with pytest.raises(UsageError, match="cannot be written"):
        write_evidence(tmp_path / "no" / "folder", Evidence(RUN))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is cut off"),
        (b"not gzip at all", "is no evidence"),
        (packed([]), "its schema is not"),
        (packed({"schema": "specctl/evidence/2"}), "its schema is not"),
        (packed({"schema": SCHEMA, "run": {}, "blocks": []}), "is not there"),
        (packed({"schema": SCHEMA, "run": plain(RUN), "blocks": [1]}), "array of objects"),
        (packed({"schema": SCHEMA, "run": {**plain(RUN), "kind": "wish"}, "blocks": []}), "kind"),
        (packed({"schema": SCHEMA, "run": plain(RUN), "blocks": []})[:-20], "is cut off"),
        (gzip.compress(b"[" * 100_000, mtime=0), "is no evidence"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_what_is_no_bundle_is_refused_in_words(tmp_path, data, words):
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=words):
        read_evidence(path)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "UNPACKED_MOST", 1024 * 1024)
    path = tmp_path / "bomb"
    path.write_bytes(gzip.compress(b" " * 64 * 1024 * 1024))
    with pytest.raises(UsageError, match="unpacks to over"):
        read_evidence(path)


def test_a_huge_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PACKED_MOST", 1024 * 1024)
    path = tmp_path / "huge"
    path.write_bytes(b"\0" * (1024 * 1024 + 1))
    with pytest.raises(UsageError, match="larger than"):
        read_evidence(path)


def test_what_a_bundle_says_is_cleaned_and_only_recipes_have_lines(tmp_path):
    run = plain(RUN)
    run |= {"host": "gpu8\x1b[31m\nfaster", "outcome": "fas\x1b]0;x\x07ter"}
    run["provenance"] |= {"profiles": {"base": "model = 1\nmore = \x1b[1m2\n"}}
    path = tmp_path / "x"
    path.write_bytes(packed({"schema": SCHEMA, "run": run, "blocks": [{"failure": "\x1b[2J"}]}))
    found = read_evidence(path)
    assert (found.run.host, found.run.outcome) == ("gpu8 faster", "faster")
    assert found.run.provenance.profiles["base"] == "model = 1\nmore = 2\n"
    assert found.blocks == ({"failure": ""},)
