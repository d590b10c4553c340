"""One command line for every rule, in the first and the last version it holds for, and beside."""

from __future__ import annotations

import pytest

from specctl.domain.lint.build import LATEST, Build
from specctl.domain.lint.engine import lint_argv
from specctl.domain.lint.rules import RULES
from specctl.domain.versions import read_version
from tests.unit.domain.lint.examples import ELSEWHERE, EXAMPLES

VERSIONS = (
    "0.4.1", "0.4.2", "0.4.3.post4", "0.4.4", "0.4.6.post5", "0.4.7.post1", "0.4.9",
    "0.4.10.post2", "0.5.2", "0.5.3", "0.5.3.post3", "0.5.4.post3", "0.5.5", "0.5.6.post2",
    "0.5.7", "0.5.8", "0.5.9", "0.5.10.post1", "0.5.11", "0.5.12", "0.5.13.post1", "0.5.14",
    "0.5.15.post1", "0.5.16", "0.5.17", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22",
    "0.5.23",
)  # fmt: skip
"""Those whose source was looked at."""

BY_ID = {rule.id: rule for rule in RULES}


def _spoken(name: str, version: str) -> set[str]:
    example = EXAMPLES[name]
    build = Build(version, is_assumed=False)
    found = lint_argv(example.words, build, example.surroundings, example.env)
    return {finding.rule for finding in found.findings}


def _first(name: str) -> str:
    span, since = BY_ID[name].span, EXAMPLES[name].since
    start = max(span.since, since, key=lambda text: read_version(text) or ())
    return start or LATEST


def _cases():
    for name in EXAMPLES:
        span = BY_ID[name].span
        for version in dict.fromkeys((_first(name), span.until or LATEST)):
            yield pytest.param(name, version, True, id=f"{name}-{version}")
        outside = [v for v in VERSIONS if not span.holds(read_version(v) or ())]
        before = [v for v in outside if (read_version(v) or ()) < (read_version(span.since) or ())]
        after = [v for v in outside if v not in before]
        for version in (*before[-1:], *after[:1]):
            yield pytest.param(name, version, False, id=f"{name}-not-{version}")


def test_every_rule_has_an_example():
    assert EXAMPLES.keys() | ELSEWHERE.keys() == BY_ID.keys()
    assert not EXAMPLES.keys() & ELSEWHERE.keys()
    assert len(BY_ID) == len(RULES)


@pytest.mark.parametrize(("name", "version", "speaks"), _cases())
def test_a_rule_speaks_in_its_versions(name, version, speaks):
    assert (name in _spoken(name, version)) is speaks


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_finding_says_what_happens_and_in_which_versions(name):
    example, rule = EXAMPLES[name], BY_ID[name]
    version = rule.span.until or LATEST
    build = Build(version, is_assumed=False)
    found = lint_argv(example.words, build, example.surroundings, example.env)
    for finding in found.findings:
        if finding.rule == name:
            assert finding.message
            assert not finding.message.endswith(".")
            assert not finding.fix.endswith(".")
            assert finding.versions == str(rule.span)
