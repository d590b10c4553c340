"""What a host says of its tree is checked before anything is made of it."""

from __future__ import annotations

import pytest
from hypothesis import given

from specctl.domain.source import Place, TreeFile
from specctl.facts.source import answers
from specctl.facts.source.finding import find_line
from specctl.facts.source.placing import placed
from specctl.facts.source.plugins import read_plugged
from specctl.facts.source.versions import fallback_version, read_version
from specctl.facts.source.wanted import is_sent
from tests.unit.facts.making import json_of, made
from tests.unit.facts.source.small import WHOLE, tree

STAMP = "ab" * 16


def place(**fields):
    return answers.read_place({"path": "/x/sglang", "stamp": STAMP, "how": "editable", **fields})


@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../b", "", "a\x1b[2Jb", "x" * 2000, 3]
)
def test_a_name_that_leads_out_or_cannot_be_shown_is_none(name):
    assert not answers.is_name(name)
    assert answers.read_texts({name: "text"}) == {}
    assert answers.read_files([name], [[1, STAMP, 1]]) == {}


def test_files_are_listed_with_what_is_known_of_them():
    rows = [[3, STAMP, 2], [5, None, None], [7, "nonsense", 1], "no row"]
    assert answers.read_files(["a", "b", "c", "d"], rows) == {
        "a": TreeFile(3, STAMP, 2), "b": TreeFile(5, None), "c": TreeFile(7, None, 1),
    }  # fmt: skip


def test_the_tree_hash_follows_every_name_digest_and_size():
    files = {"a": TreeFile(3, STAMP, 2), "b": TreeFile(5, None)}
    found = answers.hash_of(files)
    assert answers.is_digest(found)
    assert found == answers.hash_of(dict(reversed(files.items())))
    for name, file in (
        ("c", TreeFile(3, STAMP)),
        ("a", TreeFile(3, "cd" * 16)),
        ("b", TreeFile(6, None)),
    ):
        assert answers.hash_of({**files, name: file}) != found


KEYS = ("path", "stamp", "checkout", "metadata", "found", "sglang", "texts")


@given(made(json_of(KEYS)))
def test_whatever_a_host_answers_is_read(value):
    answers.read_place(value)
    answers.read_names(value)
    answers.read_files(["a"], value)
    answers.read_plugins(value)
    answers.read_limits(value)
    if isinstance(value, dict):
        answers.read_installs(value, None, "/usr/bin/python3")


def row(path, how="PATH", version="0.5.9"):
    package = {"path": f"{path}/sglang", "version": version, "how": "installed"}
    return {"path": path, "how": how, "version": "3.11", "sglang": package}


def active(rows, python=None, executable="/usr/bin/python3"):
    found = answers.read_installs({"found": rows}, python, executable)
    return [one.python for one in found if one.is_active]


def test_the_active_install_is_the_named_the_only_or_that_of_python3():
    assert active([row("/a"), row("/b", "named")], python="/b") == ["/b"]
    assert active([row("/a")], python="/b") == []
    assert active([row("/a"), {"path": "/c", "sglang": None}]) == ["/a"]
    assert active([row("/a"), row("/usr/bin/python3")]) == ["/usr/bin/python3"]
    assert active([row("/a"), row("/b")]) == []


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"_version.py": "__version__ = version = '0.5.23'\n"}, "0.5.23"),
        ({"version.py": '__version__ = "0.4.2"\n'}, "0.4.2"),
        (
            {"version.py": 'try:\n    from x import y\nexcept E:\n    __version__ = "0.0.0.dev0"'},
            None,
        ),
        ({"version.py": '__version__ = "0.0.0.dev0"\n'}, None),
        ({"_version.py": "__version__ = '1'\n", "version.py": "__version__ = '2'\n"}, "1"),
        ({}, None),
    ],
)
def test_a_version_is_told_by_the_files(files, version):
    assert read_version(files) == version


@pytest.mark.parametrize(
    ("metadata", "described", "version"),
    [
        (("sglang-0.5.9.dist-info",), "v0.5.8", "0.5.9"),
        ((), "v0.5.8", "0.5.8"),
        ((), "v0.5.8-12-gabc1234", "0.5.8+12.gabc1234"),
        (("other-1.dist-info",), "nonsense", None),
    ],
)
def test_else_by_the_metadata_and_git(metadata, described, version):
    assert fallback_version(metadata, described) == version


def test_a_place_gives_the_tree_its_version_commit_and_reasons():
    files = {name: text for name, text in WHOLE.items() if name != "version.py"}
    checkout = {"commit": "ab" * 20, "is_dirty": True, "described": "v0.5.9-2-gabc1234"}
    found = placed(tree(files), place(checkout=checkout), ())
    assert (found.version, found.commit) == ("0.5.9+2.gabc1234", "ab" * 20 + "-dirty")
    assert found.is_editable
    why = {"commit": None, "is_dirty": None, "why": "git is not installed"}
    found = placed(tree(files), place(checkout=why), ())
    assert (found.version, found.commit) == (None, None)
    assert "no file of the tree tells it" in str(found.missing["version"])
    assert "git is not installed" in str(found.missing["commit"])


PLUGIN = """
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

def load():
    @SpeculativeAlgorithm.register("lookahead", supports_overlap=True)
    def make(server_args):
        return Worker

    SpeculativeAlgorithm.register(name_of())(make)
"""


def test_algorithms_of_plugins_are_read_and_what_is_worked_out_is_said():
    (plugin,) = answers.read_plugins(
        [
            {
                "distribution": "mine-1.0",
                "name": "mine",
                "value": "mine:load",
                "texts": {"mine.py": PLUGIN},
            }
        ]
    )
    (algorithm,), (problem,) = read_plugged([plugin])
    assert (algorithm.name, algorithm.plugin, algorithm.worker) == ("LOOKAHEAD", "mine-1.0", None)
    assert algorithm.place == Place("mine-1.0/mine.py", 5)
    assert problem.place == Place("mine-1.0/mine.py", 9)
    found = placed(tree(WHOLE), place(), (plugin,))
    assert [a.name for a in found.algorithms][-1] == "LOOKAHEAD"
    assert found.plugins == ("mine-1.0: mine = mine:load",)


def test_lines_are_found():
    texts = {"a.py": "one\ntwo\nthree two\n", "b/c.py": "\nfour"}
    assert find_line(texts, "a.py", "two") == Place("a.py", 2)
    assert find_line(texts, "a.py", "five") is None
    assert find_line(texts, "z.py", "one") is None
    assert find_line(texts, "b/c.py", "four") == Place("b/c.py", 2)


def test_what_is_sent_is_what_is_read():
    assert all(is_sent(name) for name in WHOLE)
    assert is_sent("srt/models/llama_eagle3.py")
    assert not is_sent("srt/models/llama.json")
    assert not is_sent("srt/layers/x.py")
