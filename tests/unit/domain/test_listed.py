"""Rows of hosts and profiles."""

from __future__ import annotations

import pytest

from specctl.domain.host import Host
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.listed import lint_marks, list_host, list_profile
from specctl.domain.profile import Profile, Speculation

PROFILE = Profile("eagle", "org/m", speculation=Speculation("EAGLE"), file="profiles/eagle.toml")


def found(severity, profile="eagle", file="profiles/eagle.toml"):
    return Finding(severity, "", "words", profile=profile, file=file)


@pytest.mark.parametrize(
    ("findings", "marks"),
    [
        ([], "✓"),
        ([found(Severity.HINT)], "✓"),
        ([found(Severity.ERROR, profile=""), found(Severity.ERROR)], "✗2"),
        ([found(Severity.REWRITE), found(Severity.WARNING)], "▲2"),
        ([found(Severity.ERROR), found(Severity.WARNING)], "✗1 ▲1"),
        ([found(Severity.ERROR, profile="other")], "✓"),
        ([found(Severity.ERROR, file="profiles/base.toml")], "✗1"),
        ([found(Severity.ERROR, profile="", file="profiles/base.toml")], "✓"),
    ],
)
def test_a_profile_is_marked_with_its_own_findings_wherever_the_value_stands(findings, marks):
    row = list_profile("eagle", PROFILE.file, PROFILE, findings, is_simulated=False)
    assert lint_marks(row) == marks


def test_an_unusable_profile_claims_nothing():
    row = list_profile("odd", "profiles/odd.toml", None, [], is_simulated=False)
    assert (row.is_usable, row.model, row.algorithm, row.description) == (False, None, None, None)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (Host("gpu8", ssh="alias"), "ssh alias"),
        (Host("gpu8"), "ssh gpu8"),
        (Host("gpu8", address="h.example", port=2222, user="ops"), "ssh ops@h.example:2222"),
        (Host("here", transport="local"), "this machine"),
        (Host("b", ssh="b", enter=("docker", "exec", "-i", "x")), "ssh b, then docker exec -i x"),
    ],
)
def test_how_a_host_is_reached(host, words):
    assert list_host(host).reached == words
