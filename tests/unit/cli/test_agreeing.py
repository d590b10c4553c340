"""What would be done is shown and agreed to in one way."""

from __future__ import annotations

from functools import partial

import pytest

from specctl.cli.agreeing import is_agreed
from specctl.cli.applying import show
from specctl.domain.errors import RefusedError
from specctl.domain.plan import Check, Level, Plan
from specctl.services.progress import require_allowed

GPUS = Check("gpus", Level.REFUSE, "GPU 0 is taken", "specctl stop h/0")
STEPS = ["start base", "start ngram"]
SHOWN = ["specctl: 1. start base", "specctl: 2. start ngram", "specctl: loads took 2 min"]
ask = partial(is_agreed, "h", STEPS, remarks=["loads took 2 min"])


def test_what_is_agreed_to_was_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask([], is_dry=False, yes=True)
    assert capsys.readouterr().err.splitlines() == SHOWN


def test_a_dry_run_shows_refusals_and_is_no_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert not ask([GPUS], is_dry=True, yes=True)
    refused = "specctl: warning: GPU 0 is taken. specctl stop h/0"
    assert capsys.readouterr().err.splitlines() == [*SHOWN, refused]


def test_what_cannot_be_done_is_refused_with_what_to_do_next() -> None:
    with pytest.raises(RefusedError, match="host h: GPU 0 is taken") as caught:
        ask([GPUS], is_dry=False, yes=True)
    assert caught.value.hint == "specctl stop h/0"


def test_every_refusal_is_named_with_what_to_do_about_it() -> None:
    ports = Check("ports", Level.REFUSE, "port 30000 is held.", "Choose another with --port.")
    twice = Check("lock", Level.REFUSE, "gpu-0 is locked", "specctl stop h/0")
    with pytest.raises(RefusedError) as caught:
        ask([ports, GPUS, twice], is_dry=False, yes=True)
    words = "host h: port 30000 is held; GPU 0 is taken; gpu-0 is locked"
    assert caught.value.message == words
    assert caught.value.hint == "Choose another with --port. specctl stop h/0"


def test_a_plan_that_is_refused_twice_says_both_next_steps() -> None:
    first, second = Check("a", Level.REFUSE, "x", "Do x"), Check("b", Level.REFUSE, "y", "Do y.")
    plan = Plan("1", "h", "start", None, (), (first, second))
    shown = partial(show, plan, as_json=False, dry_run=True)
    for refuse in (shown, partial(require_allowed, plan)):
        with pytest.raises(RefusedError, match="host h: a: x; b: y") as caught:
            refuse()
        assert caught.value.hint == "Do x; Do y."


def test_a_no_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specctl.cli.agreeing.confirm", lambda *_, **__: False)
    with pytest.raises(RefusedError, match="nothing was done"):
        ask([], is_dry=False, yes=False)
