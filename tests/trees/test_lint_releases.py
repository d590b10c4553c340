"""The rules held against the source of every sampled release."""

from __future__ import annotations

import json

import pytest

from specctl.domain.lint.build import Build
from specctl.domain.lint.declared import SPANS, spellings
from specctl.domain.lint.engine import lint_argv
from specctl.domain.lint.rules import RULES
from specctl.domain.lint.rules.algorithm import SPANS as ALGORITHMS
from specctl.facts.lint_source import build_of
from specctl.services.inspection import open_tree_here
from tests.data import data_text
from tests.trees.releases import ERAS, VERSIONS, release
from tests.unit.domain.lint.examples import ELSEWHERE, EXAMPLES
from tests.unit.domain.lint.oracle import (
    DISAGREEMENTS,
    OTHER_VALUES,
    differences,
    is_refused,
    rows,
)

pytestmark = pytest.mark.timeout(300)
EVERY = [
    pytest.param(version, marks=() if version in ERAS else (pytest.mark.trees,))
    for version in VERSIONS
]
NEWEST = "0.5.23"
LINES = json.loads(data_text("lint/lines-0.5.23.json"))

SAID_BESIDE = {
    "unparsable-variable": "the variable had another name and another reader before",
    "cpu-verify": "speculation on the CPU came later than the backends without it",
    "algorithm-blank": "argparse had its list of algorithms before and refused it there",
    "algorithm-none": "argparse had its list of algorithms before and refused it there",
    "ngram-match-type-ignored": "the line is there, and is used since",
    "pipeline-before": "since then the same words begin another check",
    "replicas": "drafts in replicas came with 0.5.2",
}
"""Rules whose line is also in versions that do not do it, and why."""

ON_SPELLING = frozenset({
    "abbreviated-flag", "ambiguous-flag", "deprecated-flag", "number-of-values", "retired-flag",
    "unknown-flag", "value-of-wrong-kind", "value-outside-choices",
})  # fmt: skip
"""What only the flags of a tree can tell."""


_read: dict[str, Build] = {}
"""Each release is read once."""


@pytest.fixture
async def build(request, cache) -> Build:
    version = request.param
    if version not in _read:
        opened = await open_tree_here(release(version), cache=cache)
        _read[version] = build_of(opened.tree, opened.texts)
    return _read[version]


@pytest.mark.parametrize("build", EVERY, indirect=True)
def test_a_rule_holds_where_the_source_says_so(build):
    for rule in RULES:
        if rule.source is None:
            continue
        found = rule.source.find(build.texts) is not None
        holds = rule.span.holds(build.number)
        assert found or not holds, f"{build.version} has no line for {rule.id}"
        if rule.id not in SAID_BESIDE:
            assert holds or not found, f"{build.version} says {rule.id} too"


@pytest.mark.parametrize("build", EVERY, indirect=True)
def test_flags_and_algorithms_are_those_the_versions_are_known_for(build):
    known = spellings(build)
    differing = [f for f, span in SPANS.items() if (f in known) is not span.holds(build.number)]
    assert differing == []
    assert build.tree is not None
    names = {name for a in build.tree.algorithms for name in (a.name, *a.aliases)}
    other = [n for n, span in ALGORITHMS.items() if (n in names) is not span.holds(build.number)]
    assert other == []


@pytest.mark.parametrize("build", EVERY, indirect=True)
def test_the_version_alone_says_what_the_source_says(build):
    """Where no tree is at hand the same findings come out, spelling aside."""
    by_version = Build(build.version, is_assumed=False)
    for name, example in EXAMPLES.items():
        asked = [
            {
                finding.rule
                for finding in lint_argv(
                    example.words, one, example.surroundings, example.env
                ).findings
            }
            for one in (build, by_version)
        ]
        assert asked[0] - ON_SPELLING == asked[1] - ON_SPELLING, f"{build.version} {name}"


@pytest.mark.parametrize("build", [NEWEST], indirect=True)
def test_the_real_resolution_agrees(build):
    outcomes, values = set(), set()
    for row in rows():
        linted = lint_argv(row.argv, build, row.around, row.env)
        if is_refused(linted) is row.is_accepted:
            outcomes.add(row.id)
        elif row.is_accepted and differences(row, linted):
            values.add(row.id)
    assert outcomes == DISAGREEMENTS.keys()
    assert values == OTHER_VALUES.keys()


@pytest.mark.parametrize("build", [NEWEST], indirect=True)
def test_findings_name_the_line_of_the_source(build):
    """Of 0.5.23 and, for what it no longer does, of the last version that did."""
    places = {}
    for name, example in EXAMPLES.items():
        found = lint_argv(example.words, build, example.surroundings, example.env).findings
        place = next((f.place for f in found if f.rule == name and f.place), None)
        if place is not None:
            places[name] = str(place)
    assert places == LINES


def test_every_rule_is_shown_by_a_line_or_by_the_real_resolution(capsys):
    ended = {rule.id for rule in RULES if rule.span.until}
    live = {rule.id for rule in RULES if rule.is_live}
    lines = set(LINES)
    rest = {rule.id for rule in RULES} - live - lines - ended - set(ELSEWHERE)
    with capsys.disabled():
        print(
            f"\n{len(RULES)} rules: {len(live)} shown by the real resolution on the CPU, "
            f"{len(lines - live)} by a line of {NEWEST} alone, {len(ended)} by a line of an older "
            f"version, {len(ELSEWHERE)} by tests of their own, {len(rest)} by nothing in a source: "
            f"{', '.join(sorted(rest)) or 'none'}"
        )
    assert rest <= OWN_ADVICE.keys()


OWN_ADVICE = {
    "flags-without-algorithm": "nothing reads the flag then",
    "flags-of-another-algorithm": "nothing reads the flag then",
    "stale-variable": "the version has no such variable",
    "abbreviated-flag": "argparse's own rule",
    "graphs-for-nothing": "arithmetic of two of the profile's own values",
}
"""Rules without a line: what they say is that there is none."""
