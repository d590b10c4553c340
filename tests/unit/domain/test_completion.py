"""What may stand at the end of a command line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.completion import joined, kinds_of, wanted

NOTHING = {"options": {}, "arguments": [], "repeats": False, "commands": {}}
START = {
    **NOTHING,
    "options": {"--port": [[], True, "Port"], "--yes": [[], False, "Do not ask"]},
    "arguments": [["host"], ["profile"]],
}
COMPARE = {**NOTHING, "arguments": [["host"], ["profile"], ["profile"]], "repeats": True}
CORPUS = {**NOTHING, "commands": {"list": [NOTHING, "List"]}}
SERVER = {**NOTHING, "arguments": [["host"]], "commands": {"corpus": [CORPUS, "Corpora"]}}
SHAPE = {
    **NOTHING,
    "options": {"-C": [["dir"], True, "There"], "--workspace": [["dir"], True, "There"]},
    "commands": {
        "start": [START, "Start"], "compare": [COMPARE, "Compare"], "server": [SERVER, "Tell"]
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("metavar", "kinds"),
    [
        ("HOST[/SERVER]", (("host",),)),
        ("HOST[/SERVER]|RUN...", (("host", "run"),)),
        ("[HOST]...", (("host",),)),
        ("HOST BASELINE PROFILE...", (("host",), ("profile",), ("profile",))),
        ("RUN|FILE...", (("run", "file"),)),
        ("FILE|-", (("file",),)),
        ("[FILE[:LINE]]", ()),
        ("SECONDS", ((),)),
    ],
)
def test_what_a_metavar_takes(metavar, kinds):
    assert kinds_of(metavar) == kinds


@pytest.mark.parametrize(
    ("words", "kinds", "fixed"),
    [
        ([""], (), {"start", "compare", "server"}),
        (["-C", ""], ("dir",), set()),
        (["-C", "x", "start", ""], ("host",), set()),
        (["start", "gpu8", ""], ("profile",), set()),
        (["start", "--yes", "gpu8", ""], ("profile",), set()),
        (["start", "--port", "1", "gpu8", ""], ("profile",), set()),
        (["start", "--port=1", ""], ("host",), set()),
        (["start", "--port", ""], (), set()),
        (["start", "gpu8", "p", ""], (), set()),
        (["start", "--"], (), {"--port", "--yes"}),
        (["start", "--", ""], ("host",), set()),
        (["compare", "gpu8", "a", "b", "c", ""], ("profile",), set()),
        (["server", ""], ("host",), set()),
        (["server", "gpu8", ""], (), {"corpus"}),
        (["server", "gpu8", "corpus", ""], (), {"list"}),
    ],
)
def test_what_may_come_next(words, kinds, fixed):
    found = wanted(SHAPE, words)
    assert (found.kinds, set(found.words)) == (kinds, fixed)


def test_the_value_of_an_option_after_an_equals_sign():
    found = wanted(SHAPE, ["--workspace=/srv"])
    assert (found.kinds, found.before, found.typed) == (("dir",), "--workspace=", "/srv")


@pytest.mark.parametrize("line", [["-C", "/ws"], ["--workspace", "/ws"], ["--workspace=/ws"]])
def test_the_workspace_that_the_line_names(line):
    assert wanted(SHAPE, [*line, "start", ""]).chosen == "/ws"


def test_words_that_bash_broke_are_one_again():
    assert joined(["check", "--on", "=", "gpu", ""]) == ["check", "--on=gpu", ""]
    assert joined(["lab", "slow-link", ":", "delay"]) == ["lab", "slow-link:delay"]
    assert joined(["--on", "="]) == ["--on="]


@given(
    st.lists(st.text(max_size=8) | st.sampled_from(["start", "-C", "--", "--port", "=", "server"]))
)
def test_no_line_is_too_odd(words):
    found = wanted(SHAPE, joined(words))
    assert all(isinstance(kind, str) for kind in found.kinds)
