"""What completion and a bug report read of the user's own files: one reading of each."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from specctl.adapters.completing import find_words
from specctl.adapters.ledger import Ledger
from specctl.adapters.ledger_reading import reading_ledger
from specctl.adapters.surroundings import configured_names, ledger_lines, noted_hosts
from specctl.domain.runs import Provenance, Run, RunKind

CONFIG = """
Host bastion "gpu9" b?d *.wild
  HostName=bastion.example.com
  User ops
  ProxyJump aw@jump:2222,other
host=second
"""


@pytest.fixture
def ledger_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path / "STATE/specctl/ledger.db"


@pytest.fixture
def ledger(ledger_file):
    with closing(Ledger(ledger_file)) as found:
        origin = Provenance("1", "op", "gpu8")
        found.add(Run("5c0ffee2", RunKind.TRIAL, "gpu8", ("a",), 1.0, 2.0, "faster", origin))
    return ledger_file


def test_aliases_and_the_names_that_a_report_masks_come_of_one_reading(tmp_path, ledger_file):
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text(CONFIG)
    hosts, users = configured_names()
    assert set(find_words("alias", None)) == {"bastion", "gpu9", "second"}
    assert hosts == {"bastion", "gpu9", "second", "bastion.example.com", "jump", "other"}
    assert users == {"ops", "aw"}


def test_without_a_configuration_and_a_ledger_there_are_no_names_and_none_is_made(ledger_file):
    assert configured_names() == (frozenset(), frozenset())
    assert find_words("alias", None) == find_words("run", None) == {}
    assert noted_hosts() == frozenset()
    assert list(ledger_file.parent.parent.glob("*")) == []


def test_a_ledger_is_read_and_never_written(ledger):
    assert find_words("run", None) == {"5c0ffee2": "trial gpu8 a"}
    assert noted_hosts() == {"gpu8"}
    assert ("trial runs", "1") in list(ledger_lines())
    with reading_ledger(0.1) as found:
        assert found is not None
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            found.execute("DELETE FROM runs")


def test_a_damaged_ledger_names_nothing_and_a_report_says_why(ledger):
    ledger.write_bytes(b"no database" * 100)
    os.truncate(ledger, 1000)
    assert find_words("run", None) == {}
    assert noted_hosts() == frozenset()
    assert ("cannot be read", "file is not a database") in list(ledger_lines())
