"""The lab's story is made of ordinary commands, and leaves its folder as it was."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest

from specctl.adapters.ledger import Ledger
from specctl.adapters.workloads import parse_workload
from specctl.cli import lab_demo
from specctl.cli.lab_demo import MARK, Stage
from specctl.cli.main import Commands
from specctl.cli.story import (
    FOREIGN,
    HOST,
    KINDS,
    NGRAM,
    PROMPTS,
    SHORT_TOKENS,
    TRAINED,
    chapters,
    ending,
    short_prompts,
)
from specctl.domain.errors import NotMetError, RefusedError, UsageError
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.trial.trial_json import plan_json
from tests.unit.domain.trial.runs import trial_plan

STORY = chapters(Path("/srv/models"))


@pytest.mark.parametrize("chapter", STORY, ids=lambda chapter: shlex.join(chapter.command[:3]))
def test_every_chapter_is_a_command_that_specctl_takes(chapter):
    table = Commands()
    with click.Context(table) as context:
        name, command, rest = table.resolve_command(context, list(chapter.command))
        assert command is not None
        parsed = command.make_context(name, rest)
    assert chapter.trial_of or HOST in {
        str(value).partition("/")[0] for value in parsed.params.values()
    } | {
        value for values in parsed.params.values() if isinstance(values, tuple) for value in values
    }


def test_its_prompts_are_one_of_each_kind_and_a_workload():
    found = parse_workload(short_prompts().encode(), name="short", file=PROMPTS)
    assert tuple(prompt.category for prompt in found.prompts) == KINDS
    assert {prompt.max_tokens for prompt in found.prompts} == {SHORT_TOKENS}


def test_it_tells_what_has_to_be_told():
    verbs = [chapter.command[0] for chapter in STORY]
    assert verbs == [
        "doctor", "inspect", "inspect", "checkpoint", "start", "start", "stop", "compare",
        "compare", "breakeven", "breakeven", "compare",
    ]  # fmt: skip
    tried = [chapter.command[3] for chapter in STORY if chapter.command[0] == "compare"]
    assert tried == [FOREIGN, NGRAM, TRAINED]
    assert [chapter.trial_of for chapter in STORY if "{trial}" in chapter.command] == [FOREIGN] * 2
    failing = [chapter for chapter in STORY if 0 not in chapter.ends_with]
    assert [chapter.command[0] for chapter in failing] == ["start"]


def test_it_ends_in_what_was_shown_and_what_comes_next():
    shown, following = ending({NGRAM: "slower", TRAINED: "faster"})
    assert f"{NGRAM} slower; {TRAINED} faster" in shown
    assert "SIMULATED" in shown
    assert "specctl add HOST" in following


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path / "demo")
    made.make()
    return made


def test_everything_of_it_lies_in_its_own_folder(stage):
    own = {value for name, value in stage.environment.items() if name in lab_demo.OWN}
    assert len(own) == len(lab_demo.OWN)
    assert all(Path(value).is_relative_to(stage.folder) for value in own)
    assert stage.models.is_relative_to(stage.folder)
    stage.remove()
    assert not stage.folder.exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "theirs").mkdir()
    with pytest.raises(UsageError, match="is there already"):
        Stage(tmp_path / "theirs").make()
    Stage(tmp_path / "theirs").remove()
    assert (tmp_path / "theirs").is_dir()


def test_what_an_earlier_demo_left_is_cleared_away(stage):
    (stage.folder / "workspace/remotes/old.toml").touch()
    stage.make()
    assert list((stage.folder / "workspace/remotes").iterdir()) == []
    assert (stage.folder / MARK).exists()


def test_a_demo_that_is_being_played_is_not_cleared_away_by_another(stage, monkeypatch):
    monkeypatch.setattr(Stage, "run", lambda _stage, words: 0)
    with stage.made():
        (stage.folder / "workspace/remotes/lab-1.toml").touch()
        with (
            pytest.raises(RefusedError, match="another demo is being played in"),
            Stage(stage.folder).made(),
        ):
            pytest.fail("a second one began")
        assert (stage.folder / "workspace/remotes/lab-1.toml").exists()
    assert not stage.folder.exists()


def test_a_file_in_place_of_its_folder_is_left_alone(tmp_path):
    (tmp_path / "demo").touch()
    with pytest.raises(UsageError, match="is there already"), Stage(tmp_path / "demo").made():
        pytest.fail("it began")
    assert (tmp_path / "demo").is_file()


def test_a_chapter_that_ends_otherwise_ends_the_story(stage, monkeypatch, capsys):
    ran = []

    def run(_stage, words):
        ran.append(words)
        return 3

    monkeypatch.setattr(Stage, "run", run)
    with pytest.raises(NotMetError, match=f"specctl doctor {HOST} ended with 3"):
        lab_demo.print_story(stage)
    assert ran == [("doctor", HOST)]
    assert f"$ specctl doctor {HOST}\n" in capsys.readouterr().out


def test_the_newest_trial_of_a_profile_is_the_one_it_goes_on_with(stage):
    with pytest.raises(NotMetError, match=f"{TRAINED} was not tried"):
        stage.trial_of(TRAINED)
    kept = []
    for began_s in (10.0, 30.0, 20.0):
        plan = trial_plan(3, profile=TRAINED)
        run = Run(
            f"{int(began_s):08x}", RunKind.TRIAL, HOST, (plan.baseline, TRAINED), began_s, None,
            "faster", Provenance("0.1.0", "op@laptop", HOST), plan_json(plan),
        )  # fmt: skip
        ledger = Ledger(stage.folder / "state/specctl/ledger.db")
        ledger.add(run)
        ledger.close()
        kept.append(run.id)
    assert stage.trial_of(TRAINED).id == kept[1]
