"""What would be done is shown and agreed to in one way."""

from __future__ import annotations

from functools import partial

import pytest

from specctl.cli.agreeing import is_agreed
from specctl.domain.errors import RefusedError
from specctl.domain.plan import Check, Level

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


def test_a_no_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specctl.cli.agreeing.confirm", lambda *_, **__: False)
    with pytest.raises(RefusedError, match="nothing was done"):
        ask([], is_dry=False, yes=False)
