"""A check of the profile as part of the plan of a start."""

from __future__ import annotations

import pytest

from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.lint.plan_checks import ProfileReading, profile_checks
from specctl.domain.plan import Level
from specctl.domain.source import Place

ERROR = Finding(
    Severity.ERROR, "speculation.eagle-topk", "needs num-steps beside it", "give all three",
    place=Place("srt/server_args.py", 7), file="profiles/p.toml", line=4,
)  # fmt: skip
REWRITE = Finding(Severity.REWRITE, "", "the server will change it", file="profiles/p.toml")
HINT = Finding(Severity.HINT, "speculation.algorithm", "is an alias")


def levels(*findings, unchecked=False, **fields):
    reading = ProfileReading(findings, "SGLang 0.5.23", is_from_source=True, **fields)
    return [(c.level, c.words) for c in profile_checks(reading, unchecked=unchecked)]


def test_hints_pass_rewrites_warn_and_errors_refuse():
    assert [level for level, _ in levels(HINT)] == [Level.PASS]
    assert levels(REWRITE, HINT) == [(Level.WARN, "profiles/p.toml the server will change it")]
    ((level, words),) = levels(ERROR)
    assert level is Level.REFUSE
    assert words == (
        "profiles/p.toml:4 speculation.eagle-topk: needs num-steps beside it [srt/server_args.py:7]"
    )


@pytest.mark.parametrize("fields", [{"unchecked": True}, {"is_version_known": False}])
def test_an_error_leaves_the_decision_to_a_person(fields):
    assert [level for level, _ in levels(ERROR, **fields)] == [Level.WARN]


def test_a_source_that_was_not_asked_is_a_warning_of_its_own():
    reading = ProfileReading((), "SGLang 0.5.5", is_from_source=False, trouble="no permission")
    (check,) = profile_checks(reading, unchecked=False)
    assert check.level is Level.WARN
    assert "no permission" in check.words
    assert "SGLang 0.5.5's rules" in check.words
    assert profile_checks(None, unchecked=False) == ()
