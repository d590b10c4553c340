"""forecast as a user runs it: ids, texts by a host's tokenizer, costs from the ledger."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from specctl.adapters.ledger_schema import MIGRATIONS
from tests.cli.kept import keep_trial
from tests.cli.test_probe_commands import python
from tests.unit.domain.forecast.transcripts import at_random, like_text

__all__ = ["python"]
TRANSFORMERS = """
class Tokenizer:
    chat_template = "the template"
    def get_vocab(self):
        return {"a": 1}
    def encode(self, text, add_special_tokens=True):
        return [1] * add_special_tokens + [2 + sum(word.encode()) for word in text.split()]
    def apply_chat_template(self, messages, **options):
        return [2 + sum(word.encode()) for one in messages for word in one["content"].split()]
class AutoTokenizer:
    @staticmethod
    def from_pretrained(name, **options):
        return Tokenizer()
"""


@pytest.fixture
def ngram(workspace):
    (workspace / "profiles/ngram.toml").write_text(
        'model = "m"\n[speculation]\nalgorithm = "NGRAM"\nnum-draft-tokens = 8\n'
        "ngram-capacity = 50_000\n"
    )
    return workspace


def write_lines(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path.name


@pytest.fixture
def ids(ngram):
    lines = [
        {"prompt_ids": one.prompt, "output_ids": one.output, "category": one.category}
        for one in [*like_text(3, 80, category="code"), *like_text(3, 80, 9, "chat")]
    ]
    return write_lines(ngram / "ids.jsonl", lines)


def test_ids_need_no_host(run, ids):
    ran = run("forecast", ids, "--profile", "ngram", "--base-ms", "10", "--step-ms", "11", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/forecast/1"
    assert (found["host"], found["tokenizer_sha256"]) == (None, None)
    assert found["forecast"]["break_even"] == pytest.approx(1.1)
    assert found["forecast"]["is_worth_trying"] is True
    assert {one["category"] for one in found["forecast"]["categories"]} == {"code", "chat"}


def kept_of(err):
    """The id that was said."""
    (line,) = [line for line in err.splitlines() if "kept as run" in line]
    return line.split("specctl runs show ")[1].strip()


def test_a_forecast_is_kept_shown_listed_and_taken_along(run, ids, ngram, tmp_path):
    docs = write_lines(ngram / "docs.jsonl", [list(like_text(3, 80)[1].output)])
    ran = run("forecast", ids, "--profile", "ngram", "--corpus", docs, "--base-ms", "10",
              "--step-ms", "11", "--release", "0.5.23", "--json")  # fmt: skip
    found, name = json.loads(ran.out), kept_of(ran.err)
    assert found["run"] == name
    (entry,) = json.loads(run("runs", "list", "--kind", "forecast", "--json").out)["runs"]
    assert (entry["id"], entry["host"], entry["profiles"]) == (name, None, ["ngram"])
    listed = run("runs", "list").out
    assert "no host" in listed
    assert "cold, " in listed
    kept = json.loads(run("runs", "show", name, "--json").out)
    document, provenance = kept["document"], kept["provenance"]
    assert document == {name: found[name] for name in document} | {"run": None}
    assert len(document["transcripts_sha256"]) == len(document["corpora"][0]["sha256"]) == 64
    assert document["forecast"]["settings"]["num_draft_tokens"] == 8
    assert provenance["build"] == "0.5.23"
    assert 'algorithm = "NGRAM"' in provenance["profiles"]["ngram"]
    shown = run("runs", "show", name)
    assert "accept length, warm" in shown.out
    assert shown.out.rstrip().endswith(entry["outcome"])
    assert "output_ids" not in json.dumps(kept)
    exported = run("runs", "export", name)
    assert "specctl runs recompute" in exported.err
    again = run("runs", "recompute", str(ngram / exported.out.strip()), inside=tmp_path)
    assert again.status == 0, again.err
    assert f"the same as was said: {entry['outcome']}" in again.err
    assert json.loads(run("runs", "recompute", name, "--json").out)["schema"] == found["schema"]
    assert "a report is about trials" in run("runs", "report", name).err


def test_a_kept_forecast_that_was_changed_is_told_apart(run, ids, ngram):
    ran = run("forecast", ids, "--profile", "ngram", "--base-ms", "10", "--step-ms", "11")
    bundle = ngram / run("runs", "export", kept_of(ran.err)).out.strip()
    found = json.loads(gzip.decompress(bundle.read_bytes()))
    found["run"]["document"]["forecast"]["predicted_speedup"] *= 2
    bundle.write_bytes(gzip.compress(json.dumps(found).encode()))
    again = run("runs", "recompute", str(bundle))
    assert again.status == 1
    assert "not what was said: predicted speedup cold: " in again.err
    found["run"]["document"]["forecast"].pop("cold")
    bundle.write_bytes(gzip.compress(json.dumps(found).encode()))
    broken = run("runs", "recompute", str(bundle))
    assert (broken.status, "does not hold a forecast" in broken.err) == (2, True)


def test_a_ledger_that_cannot_be_used_costs_no_forecast(run, ids, home):
    state = home / ".local/state/specctl"
    state.mkdir(parents=True)
    (state / "ledger.db").write_text("this is no database, and long enough to be looked at" * 50)
    ran = run("forecast", ids, "--profile", "ngram", "--json")
    assert (ran.status, json.loads(ran.out)["run"]) == (0, None)
    assert "not kept: the ledger" in ran.err


def test_what_is_kept_in_an_older_ledger_migrates_it_and_says_so_in_one_line(run, ids, home):
    path = home / ".local/state/specctl/ledger.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as file:
        for number, script in enumerate(MIGRATIONS[:3], start=1):
            file.executescript(f"{script}; PRAGMA user_version = {number}")
    ran = run("runs", "list")
    assert (ran.status, "nothing was kept yet" in ran.err) == (0, True)
    assert "version" not in ran.err
    assert [one.name for one in path.parent.iterdir()] == ["ledger.db"]
    ran = run("forecast", ids, "--profile", "ngram")
    assert ran.status == 0, ran.err
    (line,) = [one for one in ran.err.splitlines() if "version" in one]
    copy = path.with_name("ledger.db.version-3")
    assert line == (
        f"specctl: the ledger {path} went from version 3 to {len(MIGRATIONS)}, which an older "
        f"specctl refuses; as it was: {copy}"
    )
    assert copy.exists()
    assert "went from" not in run("forecast", ids, "--profile", "ngram").err


def test_a_forecast_in_words(run, ids, ngram):
    docs = write_lines(ngram / "docs.jsonl", [list(like_text(3, 80)[1].output)])
    ran = run("forecast", ids, "--profile", "ngram", "--corpus", docs, "--base-ms", "10")
    assert ran.status == 0, ran.err
    assert "accept length, warm" in ran.out
    assert "a step may cost" in ran.out
    assert "all given documents" in ran.out
    assert "Whether it pays cannot be said" in ran.out
    assert "holds for temperature 0" in ran.out


def test_what_does_not_pay_is_not_recommended_with_another_setting(run, ids):
    ran = run("forecast", ids, "--profile", "ngram", "--base-ms", "10", "--step-ms", "400")
    assert ran.status == 0, ran.err
    assert "Not worth trying" in ran.out
    assert "Try " not in ran.out


def test_costs_come_from_a_trial_with_ngram(run, ids, home):
    trial = keep_trial(home, "NGRAM", draft_tokens=8)
    ran = run("forecast", ids, "--profile", "ngram", "--costs", trial, "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)["forecast"]
    assert found["cost_source"] == f"measured in {trial}"
    assert found["break_even"] == pytest.approx(2 / 1.3, rel=0.02)
    assert json.loads(ran.out)["cost_hosts"] == ["gpu8"]


def test_a_draft_model_says_nothing_of_ngram_steps(run, ids, home):
    trial = keep_trial(home)
    ran = run("forecast", ids, "--profile", "ngram", "--costs", trial)
    assert ran.status == 0, ran.err
    assert "drafts with EAGLE3: its step holds the time of a draft model" in ran.out
    assert "a step may cost" in ran.out


def test_texts_are_tokenised_by_the_host(run, ngram, python, tmp_path):
    (ngram / "remotes/here.toml").write_text(
        f'transport = "local"\npython = "{python}"\ngpus = []\nstate_dir = "{tmp_path}/state"\n'
    )
    packages = next(Path(python).parents[1].glob("lib/python*/site-packages"))
    (packages / "transformers.py").write_text(TRANSFORMERS)
    talk = [{"role": "user", "content": "say it again please"}]
    said = "it is what it is and it was what it was because it is " * 4
    lines = [{"messages": talk, "output": f"{said} {n}"} for n in range(3)]
    name = write_lines(ngram / "texts.jsonl", [*lines, {"prompt": "no answer"}])
    ran = run("forecast", name, "--profile", "ngram", "--on", "here", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["forecast"]["version"] == "0.5.23"
    assert len(found["tokenizer_sha256"]) == len(found["template_sha256"]) == 64
    assert "by the tokenizer" in found["tokens"]
    assert found["forecast"]["cold"]["accept_length"] > 2
    assert any("without an answer: 1" in words for words in found["notes"])
    assert any("tokenised anew" in words for words in found["notes"])
    kept = json.loads(run("runs", "show", found["run"], "--json").out)
    assert (kept["host"], kept["provenance"]["host"]) == ("here", "here")
    assert kept["document"]["transcripts"] == "texts.jsonl"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([{"prompt": "a", "output": "b"}], "Add --on HOST"),
        ([{"prompt": "a"}], "prompts without answers, as a workload does"),
        ([{"other": 1}], "holds no answer"),
        ([[1]], "longer than a token"),
    ],
)
def test_what_cannot_be_forecast_from_is_refused(run, ngram, lines, words):
    name = write_lines(ngram / "lines.jsonl", lines)
    ran = run("forecast", name, "--profile", "ngram")
    assert (ran.status, ran.out) == (2, "")
    assert words in ran.err


def test_random_tokens_are_named_as_such(run, ngram):
    name = write_lines(ngram / "random.jsonl", [list(one.output) for one in at_random()])
    ran = run("forecast", name, "--profile", "ngram", "--base-ms", "10", "--step-ms", "10")
    assert ran.status == 0, ran.err
    assert "the outputs look like random token ids" in ran.out
    assert "Cannot be said: these are no answers to real requests." in ran.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--step-ms", "soon"], "is no step cost"),
        (["--step-ms", "8=20"], "says nothing without --base-ms"),
        (["--base-ms", "0"], "must be above 0"),
        (["--costs", "ffff", "--base-ms", "1"], "takes both costs from runs"),
        (["--release", "0.5.2"], "has no NGRAM"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, ids, options, words):
    ran = run("forecast", ids, "--profile", "ngram", *options)
    assert ran.status == 2
    assert words in ran.err
