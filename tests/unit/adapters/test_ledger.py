from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace

import pytest

from specctl.adapters import ledger_schema as module
from specctl.adapters.ledger import Ledger
from specctl.adapters.ledger_notice import listen
from specctl.adapters.ledger_schema import MIGRATIONS
from specctl.domain.errors import UsageError
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.training import TrainedOn, key_of

PROVENANCE = Provenance(
    "0.1.0", "op@laptop", "gpu8",
    gpus=("H200",) * 2, gpu_clocks_mhz=(1980, None), build="0.5.23",
    profiles={"base": 'model = "m"\n'}, arguments={"base": {"tp_size": 2, "nested": [1, {}]}},
)  # fmt: skip
RUN = Run(
    "aaaa0001", RunKind.TRIAL, "gpu8", ("base", "ngram"), 10.0, None, "", PROVENANCE, {"n": 1}
)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "state" / "ledger.db")
    yield made
    made.close()


def test_what_is_kept_comes_back(ledger):
    ledger.add(RUN)
    assert ledger.run("aaaa0001") == RUN
    ledger.end("aaaa0001", ended_s=20.0, outcome="faster", document={"n": 2})
    found = ledger.run("aaaa")
    assert (found.ended_s, found.outcome, found.document) == (20.0, "faster", {"n": 2})
    assert found.provenance == PROVENANCE


def test_the_file_is_its_owners_alone(ledger):
    ledger.add(RUN)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_runs_are_chosen_by_host_kind_and_profile(ledger):
    ledger.add(RUN)
    ledger.add(replace(RUN, id="bbbb0001", host="gpu4", kind=RunKind.PROBE, began_s=30.0))
    ledger.add(replace(RUN, id="cccc0001", profiles=("other",), began_s=20.0))
    assert [run.id for run in ledger.runs()] == ["bbbb0001", "cccc0001", "aaaa0001"]
    assert [run.id for run in ledger.runs(host="gpu8")] == ["cccc0001", "aaaa0001"]
    assert [run.id for run in ledger.runs(kind=RunKind.PROBE)] == ["bbbb0001"]
    assert [run.id for run in ledger.runs(profile="ngram", host="gpu8")] == ["aaaa0001"]
    assert [run.id for run in ledger.runs(most=1)] == ["bbbb0001"]
    assert ledger.runs(profile='x" OR 1=1 --') == ()


def test_runs_are_chosen_by_kinds_and_training(ledger):
    code = TrainedOn("code", "1" * 64, 12)
    ledger.add(replace(RUN, provenance=replace(PROVENANCE, trained_on=code)))
    ledger.add(replace(RUN, id="bbbb0001", kind=RunKind.PROBE, began_s=30.0))
    ledger.add(replace(RUN, id="cccc0001", kind=RunKind.LAUNCH, began_s=20.0))
    found = ledger.runs(kinds=(RunKind.PROBE, RunKind.TRIAL))
    assert [run.id for run in found] == ["bbbb0001", "aaaa0001"]
    assert [run.id for run in ledger.runs(training=key_of(code))] == ["aaaa0001"]
    assert [run.id for run in ledger.runs(training=key_of(None))] == ["bbbb0001", "cccc0001"]
    assert ledger.runs(training=key_of(replace(code, prompts=6))) == ()


def test_a_forecast_of_no_host_is_kept_as_such(ledger):
    provenance = replace(PROVENANCE, host=None)
    forecast = replace(RUN, kind=RunKind.FORECAST, host=None, provenance=provenance)
    ledger.add(forecast)
    ledger.add(replace(RUN, id="bbbb0001"))
    assert ledger.run("aaaa0001") == forecast
    assert [run.id for run in ledger.runs(host="")] == ["aaaa0001"]


def test_an_id_that_is_none_or_several_is_refused(ledger):
    ledger.add(RUN)
    ledger.add(replace(RUN, id="aaaa0002"))
    with pytest.raises(UsageError, match="may be any of aaaa0001, aaaa0002"):
        ledger.run("aaaa")
    for name in ("zzzz", "aaa", "%", "aaaa%"):
        with pytest.raises(UsageError, match="no run"):
            ledger.run(name)
    with pytest.raises(UsageError, match="no run zzzz"):
        ledger.end("zzzz", ended_s=1.0, outcome="")


def test_launches_of_a_trial_keep_their_order(ledger):
    ledger.add(RUN)
    assert [ledger.add_block("aaaa0001", {"place": n}) for n in range(3)] == [0, 1, 2]
    assert [block["place"] for block in ledger.blocks("aaaa0001")] == [0, 1, 2]
    with pytest.raises(sqlite3.IntegrityError):
        ledger.add_block("zzzz0001", {})


def test_spreads_of_a_host_are_found_by_recipe_concurrency_and_age(ledger):
    ledger.add(RUN)
    kept = (("r1", 100.0, 1), ("r2", 200.0, 1), ("r2", 200.0, 8), ("r3", 300.0, 1))
    for recipe, at_s, concurrency in kept:
        ledger.keep_spread(
            "aaaa0001",
            host="gpu8",
            recipe=recipe,
            concurrency=concurrency,
            at_s=at_s,
            launches=4,
            spread=0.01,
        )
    assert ledger.spreads("gpu8", ("r1", "r2"), 1, 150.0) == ((4, 0.01),)
    assert ledger.spreads("gpu4", ("r1", "r2"), 1, 0.0) == ()


def test_spreads_of_launches_after_a_training_set_are_apart_from_cold_ones(ledger):
    others = TrainedOn("others", "1" * 64, 12)
    for run_id, spread, trained_on in (("aaaa0001", 0.01, None), ("bbbb0001", 0.02, others)):
        ledger.add(replace(RUN, id=run_id))
        ledger.keep_spread(
            run_id, host="gpu8", recipe="r", concurrency=1, at_s=1.0, launches=4, spread=spread,
            trained_on=trained_on,
        )  # fmt: skip
    assert ledger.spreads("gpu8", ("r",), 1, 0.0) == ((4, 0.01),)
    assert ledger.spreads("gpu8", ("r",), 1, 0.0, trained_on=others) == ((4, 0.02),)
    fewer = replace(others, prompts=6)
    assert ledger.spreads("gpu8", ("r",), 1, 0.0, trained_on=fewer) == ()


WRITER = """
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from specctl.adapters.ledger import Ledger
from tests.unit.adapters.test_ledger import RUN
ledger = Ledger(Path(sys.argv[1]))
for n in range(40):
    ledger.add(replace(RUN, id=f"{sys.argv[2]}{n:06d}"))
"""


def test_several_specctl_write_at_once(tmp_path):
    path = tmp_path / "ledger.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name])
        for name in ("aa", "bb", "cc")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(Ledger(path).runs(most=500)) == 120


def test_a_run_that_fails_to_be_kept_leaves_nothing(ledger):
    ledger.add(RUN)
    with pytest.raises(sqlite3.IntegrityError):
        ledger.add(RUN)
    ledger.add(replace(RUN, id="bbbb0001"))
    assert len(ledger.runs()) == 2


def test_a_number_that_json_has_not_is_refused_before_it_is_written(ledger):
    with pytest.raises(ValueError, match="JSON"):
        ledger.add(replace(RUN, document={"n": float("nan")}))
    assert ledger.runs() == ()


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_an_older_file_is_migrated_with_what_it_holds(tmp_path, monkeypatch, version):
    path = tmp_path / "ledger.db"
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS[:version])
    old = Ledger(path)
    old.add(RUN)
    old.close()
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS)
    new = Ledger(path)
    new.prepare()
    assert new.run("aaaa0001") == RUN
    assert new.spreads("gpu8", ("r",), 1, 0.0) == ()
    new.add(replace(RUN, id="bbbb0001", kind=RunKind.FORECAST, host=None))
    assert [run.id for run in new.runs(kind=RunKind.FORECAST)] == ["bbbb0001"]
    names = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert ("runs_by_kind",) in names
    assert version_of(path) == len(MIGRATIONS)


def version_of(path):
    with closing(sqlite3.connect(path)) as file:
        return file.execute("PRAGMA user_version").fetchone()[0]


@pytest.fixture
def said():
    words: list[str] = []
    listen(words.append)
    yield words
    listen(lambda _: None)


def older(path, monkeypatch, version=3):
    """A ledger that an older specctl made, with one run."""
    with monkeypatch.context() as then:
        then.setattr(module, "MIGRATIONS", MIGRATIONS[:version])
        with closing(Ledger(path)) as ledger:
            ledger.add(RUN)
    return path


def test_reading_makes_nothing_and_migrates_nothing(tmp_path, monkeypatch, said):
    nowhere = tmp_path / "none/ledger.db"
    with closing(Ledger(nowhere)) as empty:
        assert (empty.runs(), empty.blocks("aaaa0001")) == ((), ())
        assert empty.spreads("gpu8", ("r",), 1, 0.0) == ()
    assert not nowhere.parent.exists()
    path = older(tmp_path / "ledger.db", monkeypatch)
    before = path.read_bytes()
    with closing(Ledger(path)) as ledger:
        assert ledger.runs() == (RUN,)
        assert ledger.has_run("aaaa0001")
        assert ledger.blocks("aaaa0001") == ()
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            ledger._file.execute("DELETE FROM runs")
    assert (path.read_bytes(), version_of(path), said) == (before, 3, [])
    assert [one.name for one in tmp_path.iterdir()] == ["ledger.db"]


def test_spreads_of_an_older_file_are_cold_or_not_there(tmp_path, monkeypatch):
    path = older(tmp_path / "ledger.db", monkeypatch, 2)
    with sqlite3.connect(path) as file:
        file.execute("INSERT INTO spreads VALUES ('aaaa0001', 'gpu8', 'r', 1, 1.0, 4, 0.01)")
    with closing(Ledger(path)) as ledger:
        assert ledger.spreads("gpu8", ("r",), 1, 0.0) == ((4, 0.01),)
        code = TrainedOn("code", "1" * 64, 12)
        assert ledger.spreads("gpu8", ("r",), 1, 0.0, trained_on=code) == ()
    with closing(Ledger(older(tmp_path / "first.db", monkeypatch, 1))) as ledger:
        assert ledger.spreads("gpu8", ("r",), 1, 0.0) == ()


def test_the_first_change_migrates_says_so_once_and_keeps_the_file_as_it_was(
    tmp_path, monkeypatch, said
):
    path = older(tmp_path / "ledger.db", monkeypatch)
    with closing(Ledger(path)) as ledger:
        ledger.add(replace(RUN, id="bbbb0001"))
        ledger.add(replace(RUN, id="cccc0001"))
    copy = tmp_path / "ledger.db.version-3"
    assert said == [
        f"the ledger {path} went from version 3 to {len(MIGRATIONS)}, which an older specctl "
        f"refuses; as it was: {copy}"
    ]
    assert (version_of(path), version_of(copy)) == (len(MIGRATIONS), 3)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS[:3])
    with closing(Ledger(copy)) as as_it_was:
        assert as_it_was.runs() == (RUN,)
    with pytest.raises(UsageError, match="newer specctl"):
        Ledger(path)
    assert {one.name for one in tmp_path.iterdir()} == {"ledger.db", copy.name}


def test_of_each_version_one_copy_is_kept(tmp_path, monkeypatch, said):
    path = tmp_path / "ledger.db"
    for version in (1, 2, 3, 3):
        path.unlink(missing_ok=True)
        with closing(Ledger(older(path, monkeypatch, version))) as ledger:
            ledger.add(replace(RUN, id="bbbb0001", began_s=float(version)))
    assert {one.name for one in tmp_path.iterdir()} == {
        "ledger.db", *(f"ledger.db.version-{version}" for version in (1, 2, 3)),
    }  # fmt: skip
    assert len(said) == 4


def test_without_a_copy_nothing_is_migrated(tmp_path, monkeypatch, said):
    path = older(tmp_path / "ledger.db", monkeypatch)
    (tmp_path / "ledger.db.version-3").mkdir()
    with closing(Ledger(path)) as ledger:
        with pytest.raises(UsageError, match="no copy can be kept of it as it is: Is a directory"):
            ledger.add(replace(RUN, id="bbbb0001"))
        assert ledger.runs() == (RUN,)
    assert (version_of(path), said) == (3, [])
    assert not (tmp_path / "ledger.db.version-3.part").exists()


def test_what_others_wrote_meanwhile_is_in_the_copy_and_migrated_once(tmp_path, monkeypatch, said):
    path = older(tmp_path / "ledger.db", monkeypatch)
    with closing(Ledger(path)) as one, closing(Ledger(path)) as other:
        one.add(replace(RUN, id="bbbb0001"))
        other.add(replace(RUN, id="cccc0001"))
        assert len(one.runs()) == len(other.runs()) == 3
    assert len(said) == 1


def test_that_it_can_be_written_is_found_out_before(tmp_path):
    (tmp_path / "no-folder").touch()
    ledger = Ledger(tmp_path / "no-folder/ledger.db")
    with pytest.raises(UsageError, match="cannot be used"):
        ledger.prepare()
    with closing(Ledger(tmp_path / "ledger.db")) as fine:
        fine.prepare()
        assert fine.path.exists()


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = older(tmp_path / "ledger.db", monkeypatch, len(MIGRATIONS))
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (x); BROKEN"))
    with pytest.raises(UsageError, match="cannot be written"):
        Ledger(path).prepare()
    monkeypatch.setattr(module, "MIGRATIONS", MIGRATIONS)
    Ledger(path).add(replace(RUN, id="bbbb0001"))
    tables = sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall()
    assert ("more",) not in tables


def test_a_newer_file_and_one_that_is_none_are_refused_in_words(tmp_path):
    newer = tmp_path / "newer.db"
    sqlite3.connect(newer).execute("PRAGMA user_version = 99").connection.commit()
    with pytest.raises(UsageError, match="newer specctl"):
        Ledger(newer)
    none = tmp_path / "none.db"
    none.write_text(json.dumps({"not": "a database"}) * 100)
    with pytest.raises(UsageError, match="cannot be used"):
        Ledger(none)


def test_a_ledger_that_cannot_be_made_says_why_and_what_to_do(tmp_path):
    (tmp_path / "no-folder").touch()
    with pytest.raises(UsageError, match=r"cannot be used: Not a directory$"):
        Ledger(tmp_path / "no-folder/below/ledger.db").prepare()


def test_a_damaged_ledger_is_said_in_words(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = Ledger(path)
    ledger.add(RUN)
    assert ledger.has_run("aaaa0001")
    with sqlite3.connect(path) as file:
        file.execute("UPDATE runs SET document = '{broken'")
    for ask in (lambda: ledger.has_run("aaaa0001"), lambda: ledger.run("aaaa0001")):
        with pytest.raises(UsageError, match="cannot be read"):
            ask()
    with sqlite3.connect(path) as file:
        file.execute("DROP TABLE blocks")
    with pytest.raises(UsageError, match="cannot be read: no such table"):
        ledger.blocks("aaaa0001")
    with pytest.raises(UsageError, match="cannot be written: no such table"):
        ledger.add_block("aaaa0001", {})


def test_a_place_that_cannot_be_made_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be used"):
        Ledger(tmp_path / "file/ledger.db").prepare()


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("provenance", "{", "JSONDecodeError"),
        ("profiles", "[", "JSONDecodeError"),
        ("profiles", "7", "TypeError"),
        ("kind", "voyage", "'voyage' is not a valid RunKind"),
        ("began_s", "9e999", "is no time"),
        ("document", "\x1b[31m", "JSONDecodeError"),
    ],
)
def test_a_damaged_run_is_left_out_of_the_list_and_named(ledger, column, value, words):
    ledger.add(RUN)
    ledger.add(replace(RUN, id="bbbb0001"))
    other = sqlite3.connect(ledger.path)
    other.execute(f"UPDATE runs SET {column} = ? WHERE id = 'bbbb0001'", (value,))
    other.commit()
    other.close()
    for profile in (None, "ngram"):
        assert [run.id for run in ledger.runs(profile=profile)] == ["aaaa0001"]
    assert list(ledger.damaged) == ["bbbb0001"]
    assert words in ledger.damaged["bbbb0001"]
    with pytest.raises(UsageError, match="cannot be read"):
        ledger.run("bbbb0001")
