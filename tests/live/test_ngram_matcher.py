"""specctl's n-gram matcher beside the compiled one of the installed SGLang."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specctl.domain.ngram.matcher import Matcher
from specctl.domain.ngram.settings import MatchType, NgramSettings
from tests.live.conftest import ENVIRONMENT
from tests.ngram_cpp.goldens import RECORD, read_texts, record_all
from tests.ngram_cpp.real import RealMatcher, compile_matcher
from tests.ngram_cpp.scripts import make_calls_script, make_serving_script, play

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
UNHURRIED = settings(
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    (package,) = ENVIRONMENT.glob("lib/python3*/site-packages/sglang")
    return compile_matcher(package, tmp_path_factory.mktemp("matcher"))


def compare(library, script):
    real = RealMatcher(library, script.settings)
    try:
        expected = play(script, real)
    finally:
        real.close()
    assert play(script, Matcher(script.settings)) == expected


@UNHURRIED
@given(seed=st.integers(min_value=0, max_value=2**63))
def test_any_calls_draft_the_same_trees(library, seed):
    compare(library, make_calls_script(seed))


@pytest.mark.parametrize("kind", list(MatchType))
@pytest.mark.parametrize("depth", [2, 9, 18, 30])
@pytest.mark.parametrize("capacity", [31, 700, 20_000, 1_000_000])
def test_serving_drafts_the_same_trees(library, kind, depth, capacity):
    chosen = NgramSettings(
        max_trie_depth=depth, match_type=kind, capacity=capacity, max_bfs_breadth=depth
    )
    compare(library, make_serving_script(depth, read_texts()[:20], chosen))


def test_the_record_is_what_it_answers(library):
    assert record_all(partial(RealMatcher, library)) == json.loads(
        RECORD.read_text(encoding="utf-8")
    )
