"""specctl's n-gram matcher beside those of the releases, compiled."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from specctl.domain.ngram.matcher import Matcher
from specctl.domain.ngram.settings import MatchType, NgramSettings
from tests.ngram_cpp.goldens import read_texts
from tests.ngram_cpp.real import RealMatcher, compile_matcher
from tests.ngram_cpp.scripts import Script, make_calls_script, make_serving_script, play
from tests.trees.releases import release

pytestmark = [pytest.mark.trees, pytest.mark.timeout(900)]
DIFFERING = ("0.5.10.post1", "0.5.11", "0.5.19", "0.5.23")
"""The first and last of each way it was written; those between are the same text."""

CORPUS_CALLS = ("load", "unload")


@pytest.fixture(scope="module", params=DIFFERING)
def build(request, tmp_path_factory):
    package = release(request.param) / "sglang"
    return request.param, compile_matcher(package, tmp_path_factory.mktemp("matcher"))


def compare(build, script):
    version, library = build
    if version.startswith("0.5.10"):
        calls = tuple(call for call in script.operations if call[0] not in CORPUS_CALLS)
        settings = replace(script.settings, external_sam_budget=0, remembers_matches=False)
        script = Script(settings, calls)
    real = RealMatcher(library, script.settings)
    try:
        expected = play(script, real)
    finally:
        real.close()
    assert play(script, Matcher(script.settings)) == expected


def test_any_calls_draft_the_same_trees(build):
    rng = random.Random(11)
    for _ in range(1500):
        compare(build, make_calls_script(rng.randrange(2**63)))


@pytest.mark.parametrize("kind", list(MatchType))
@pytest.mark.parametrize("capacity", [700, 1_000_000])
def test_serving_drafts_the_same_trees(build, kind, capacity):
    chosen = NgramSettings(match_type=kind, capacity=capacity)
    compare(build, make_serving_script(3, read_texts()[:20], chosen))
