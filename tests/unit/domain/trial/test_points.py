from __future__ import annotations

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.profile import Origin, Profile, Speculation
from specctl.domain.trial.points import Axis, at_point, grid, read_axis, split_name

EAGLE = Profile(
    "llama-eagle3",
    "m",
    speculation=Speculation("EAGLE3", {"num-steps": 3, "eagle-topk": 1}),
    origins={
        "speculation.num-steps": Origin("profiles/llama-eagle3.toml", 4),
        "model": Origin("profiles/llama-eagle3.toml", 1),
    },
)


@pytest.mark.parametrize(
    "text",
    [
        "num-steps=1,3,5",
        "speculative-num-steps=1,3,5",
        "--speculative-num-steps=1, 3, 5",
        "num_steps=1,3,5",
    ],
)
def test_an_axis_is_read_in_every_spelling(text):
    assert read_axis(text) == Axis("num-steps", (1, 3, 5))


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("num-step=1", "no --speculative-num-step", "The nearest is num-steps."),
        ("page-size=1", "no part of speculation", "for each value"),
        ("num-steps", "no argument with values", "--over num-steps=1,3,5"),
        ("num-steps=1,,3", "no argument with values", ""),
        ("num-steps=1,1", "named twice", ""),
        ("num-steps=true", "takes a value", ""),
        ("num-steps=1,-1", "num-steps=-1: -1 is below 0", ""),
        (f"num-steps={10**20}", "it is more than 2147483647", ""),
        (f"num-draft-tokens={2**31}", "32-bit", ""),
        (f"num-steps={10**400}", "it is more than 2147483647", ""),
        ("accept-threshold-single=-0.5", "-0.5 is below 0", ""),
        ("accept-threshold-single=nan", "no number SGLang takes", ""),
        ("num-steps=1000000", "no draft of more than 1,024 pays", ""),
        ("num-steps=3,1025", "num-steps=1025: no draft", ""),
        ("eagle-topk=2.5", "2.5 is no whole number", ""),
        (f"num-steps={','.join(map(str, range(25)))}", "25 points is more than 24", "fewer"),
        ("algorithm=NGRAM", "no --speculative-algorithm", ""),
        ("qqqq=1", "no --speculative-qqqq", "num-steps, eagle-topk"),
    ],
)
def test_what_is_no_axis_is_refused_with_the_nearest(text, words, hint):
    with pytest.raises(UsageError, match=words) as caught:
        read_axis(text)
    assert hint in caught.value.hint


def test_a_key_that_the_profile_has_itself_is_taken():
    assert read_axis("new-in-0-6=2", ("new-in-0-6",)) == Axis("new-in-0-6", (2,))


def test_values_are_as_a_file_would_hold_them():
    axis = read_axis("ngram-match-type=BFS,PROB")
    assert axis.values == ("BFS", "PROB")
    assert read_axis("accept-threshold-single=0.5,1").values == (0.5, 1)
    assert read_axis("adaptive=true,false").values == (True, False)


def test_sizes_that_are_no_draft_may_be_large():
    assert read_axis("ngram-capacity=1000000,10000000").values == (1_000_000, 10_000_000)
    assert read_axis("num-steps=1,1024").values == (1, 1024)


def test_a_grid_that_is_too_large_is_refused_before_a_point_is_made():
    axes = [Axis(f"new-{number}", tuple(range(24))) for number in range(12)]
    with pytest.raises(UsageError, match=f"a grid of {24**12:,} points"):
        grid(EAGLE, axes)


def test_a_grid_is_every_combination_and_its_names_make_the_points_again():
    points = grid(EAGLE, [Axis("num-steps", (1, 5)), Axis("eagle-topk", (1, 4))])
    names = [point.name for point in points]
    assert names[0] == "llama-eagle3+num-steps=1+eagle-topk=1"
    assert len(set(names)) == 4
    for point in points:
        base, values = split_name(point.name)
        assert base == EAGLE.name
        assert at_point(EAGLE, values) == point
    last = points[3].speculation
    assert last is not None
    assert last.arguments == {"num-steps": 5, "eagle-topk": 4}
    assert "speculation.num-steps" not in points[0].origins
    assert points[0].origins["model"] == EAGLE.origins["model"]


def test_a_profile_by_itself_sets_nothing():
    assert split_name("llama-eagle3") == ("llama-eagle3", {})


def test_a_grid_needs_speculation_each_axis_once_and_few_points():
    with pytest.raises(UsageError, match="does not speculate"):
        grid(Profile("base", "m"), [Axis("num-steps", (1,))])
    with pytest.raises(UsageError, match="does not speculate"):
        at_point(Profile("base", "m"), {"num-steps": 1})
    with pytest.raises(UsageError, match="names an argument twice"):
        grid(EAGLE, [Axis("num-steps", (1,)), Axis("num-steps", (2,))])
    with pytest.raises(UsageError, match="30 points is more than 24"):
        grid(EAGLE, [Axis("num-steps", tuple(range(1, 6))), Axis("eagle-topk", tuple(range(1, 7)))])
