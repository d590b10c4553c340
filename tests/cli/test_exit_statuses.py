"""The one place where errors become exit statuses."""

from __future__ import annotations

import click
import pytest

from specctl.cli import diagnostics
from specctl.cli.main import run
from specctl.domain import errors
from specctl.domain.problem import Problem

STATUSES = [
    (errors.InvalidFileError((Problem("f", 1, "k", "m"),), hint="h"), 2),
    (errors.UsageError("x"), 2),
    (errors.RefusedError("x"), 1),
    (errors.LockedError("x"), 1),
    (errors.RemoteFailedError("x"), 1),
    (errors.LaunchFailedError("x"), 1),
    (errors.AgentAnswerError("x"), 1),
    (errors.ServerAnswerError("x"), 1),
    (errors.UnreachableError("x"), 3),
    (errors.NotAuthenticatedError("x"), 3),
    (errors.HostKeyUnknownError("x"), 3),
    (errors.HostKeyChangedError("x"), 3),
    (errors.ConnectionLostError("x"), 3),
    (errors.AgentError("x"), 3),
    (errors.DeadlineError("x"), 4),
    (errors.NotMetError("x"), 5),
    (errors.SpecctlError("x"), 1),
    (click.UsageError("x"), 2),
    (click.FileError("x"), 1),
    (click.Abort(), 130),
    (KeyboardInterrupt(), 130),
]


@pytest.mark.parametrize(("error", "status"), STATUSES, ids=lambda value: type(value).__name__)
def test_every_error_has_its_status_and_words(monkeypatch, capsys, error, status):
    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr("specctl.cli.main.cli.main", fail)
    assert run(["check"]) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("specctl: ")


def test_every_error_class_of_the_domain_has_a_case():
    own = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    tested = {type(error) for error, _ in STATUSES}
    assert {kind for kind in own if issubclass(kind, Exception)} - {errors.HostError} <= tested


def test_details_are_indented_and_the_hint_comes_last(capsys):
    diagnostics.fail("two things", details=["one", "other\x1b[31m"], hint="do this")
    assert capsys.readouterr().err == (
        "specctl: error: two things\n  one\n  other\nhint: do this\n"
    )


@pytest.mark.parametrize(("hint", "said"), [("", "specctl status"), ("Do this.", "Do this.")])
def test_a_host_that_was_lost_says_where_to_look(capsys, hint, said):
    assert diagnostics.report(errors.ConnectionLostError("gone", hint=hint)) == 3
    assert said in capsys.readouterr().err.splitlines()[1]
