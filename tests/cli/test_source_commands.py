"""`specctl inspect` and `specctl source` on trees of this machine."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from tests.schemas import assert_valid
from tests.unit.facts.source.small import ARGUMENTS, SPEC, WHOLE


@pytest.fixture
def package(tmp_path):
    root = tmp_path / "clone/python/sglang"
    for name, text in WHOLE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text))
    return root


@pytest.fixture
def inspect(run, package):
    """Run `specctl COMMAND … --tree` on the small tree."""

    def _run(command, *arguments):
        return run(command, *arguments, "--tree", str(package))

    return _run


def test_a_tree_needs_no_workspace_and_no_host(inspect, package, tmp_path):
    ran = inspect("inspect")
    assert ran.status == 0, ran.err
    assert "this machine  SGLang 0.5.9" in ran.out
    assert str(package) in ran.out
    rows = {line.split()[0]: line.split() for line in ran.out.splitlines() if "Worker" in line}
    assert rows["EAGLE"][1:4] == ["NEXTN", "eagle_worker.py", "EagleWorker"]
    assert set(rows) == {"EAGLE", "EAGLE3", "NGRAM"}
    assert not (tmp_path / "ws/.cache").exists()


def test_one_algorithm_with_its_files_rules_and_flags(inspect):
    ran = inspect("inspect", "nextn")
    assert ran.status == 0, ran.err
    assert "or      srt/speculative/layers_worker.py:LayersWorker" in ran.out
    assert "ASSERTS  1" in ran.out
    assert "if self.page_size > 1" in ran.out
    assert "--speculative-eagle-topk" in ran.out
    assert "srt/speculative/shared.py" in ran.out


def test_flags_and_files_of_all(inspect):
    ran = inspect("inspect", "--flags", "--files")
    row = next(line for line in ran.out.splitlines() if line.startswith("--speculative-algorithm"))
    assert row.split()[1:3] == ["str", "none"]
    assert "EAGLE, EAGLE3, NEXTN, NGRAM" in row
    assert "srt/speculative/cpp_ngram/corpus.py" in ran.out


def test_names_are_found_by_parts_and_patterns(inspect):
    assert inspect("inspect", "--find", "NGRAM").out.splitlines()[:2] == [
        "NGRAM", "srt/speculative/cpp_ngram/corpus.py",
    ]  # fmt: skip
    by_pattern = inspect("inspect", "--find", "*_worker.py").out.splitlines()
    assert by_pattern == [
        "srt/speculative/eagle_worker.py", "srt/speculative/layers_worker.py",
        "srt/speculative/ngram_worker.py",
    ]  # fmt: skip
    assert "nothing is called like zzz" in inspect("inspect", "--find", "zzz").out


def test_what_could_not_be_read_is_shown(inspect, package):
    (package / SPEC).write_text("class (:\n")
    ran = inspect("inspect")
    assert "COULD NOT BE READ" in ran.out
    assert f"▲ {SPEC}:1  not valid Python" in ran.out
    assert "Its algorithms could not be read." in ran.out
    (package / SPEC).write_text(f"x = {'-' * 100_000}1\n")
    assert f"{SPEC}  not readable as Python: nested too deeply" in inspect("inspect").out
    ran = inspect("inspect", "EAGLE")
    assert ran.status == 2
    assert "the algorithms of SGLang 0.5.9 could not be read" in ran.err
    ran = inspect("inspect", "--diff", str(package))
    assert f"not all of {package} could be read, it may have more" in ran.err


def test_a_build_without_speculation_says_so(inspect, package):
    for file in (package / "srt/speculative").rglob("*.py"):
        file.unlink()
    arguments = (package / "srt/server_args.py").read_text()
    (package / "srt/server_args.py").write_text(arguments.replace("speculative", "other"))
    ran = inspect("inspect")
    assert ran.status == 0
    assert "no speculative decoding at all" in ran.out
    assert json.loads(inspect("inspect", "--json").out)["has_speculation"] is False


def test_a_difference_to_a_changed_copy_with_the_text_of_one_file(inspect, package, tmp_path):
    copy = tmp_path / "other/sglang"
    copy.parent.mkdir()
    package.rename(copy)
    for name, text in WHOLE.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(dedent(text))
    file = copy / ARGUMENTS
    file.write_text(file.read_text().replace("2 * 4", "16").replace('"NEXTN", ', ""))
    ran = inspect("inspect", "--diff", str(copy.parent), "--file", ARGUMENTS)
    assert ran.status == 0, ran.err
    assert "~ --speculative-eagle-topk  default: 8 → 16" in ran.out
    assert "~ --speculative-algorithm  choices: NEXTN → none" in ran.out
    assert "ALGORITHMS  the same" in ran.out
    assert f"~ {ARGUMENTS}" in ran.out
    assert "-    speculative_eagle_topk: int = 2 * 4" in ran.out
    document = json.loads(inspect("inspect", "--diff", str(copy.parent), "--json").out)
    assert_valid(document)
    assert [c["name"] for c in document["files"]["changed"]] == [ARGUMENTS]
    none = inspect("inspect", "--diff", str(copy.parent), "--file", "srt/none.py")
    assert (none.status, "neither tree has srt/none.py" in none.err) == (2, True)


def test_files_and_lines_are_printed(inspect):
    assert inspect("source", "version.py").out == '__version__ = "0.5.9"\n'
    around = inspect("source", f"{SPEC}:5").out.splitlines()
    assert [row for row in around if row.startswith("▌")] == [
        f"▌     5  {dedent(WHOLE[SPEC]).splitlines()[4]}"
    ]
    document = json.loads(inspect("source", f"{SPEC}:5", "--json").out)
    assert_valid(document)
    assert (document["line"], document["first_line"]) == (5, 1)


def test_a_search_stops_where_it_is_told_to(inspect):
    ran = inspect("source", "--grep", "CLASS", "-i", "--max", "2")
    assert ran.status == 0
    assert len(ran.out.splitlines()) == 2
    assert "stopped after 2 matches" in ran.err
    assert inspect("source", "--grep", "no such words").out == ""


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        (("inspect",), "nothing is named", "specctl inspect HOST"),
        (("source", "x"), "name a file", "--help"),
        (("source",), "no host is named", "--tree"),
        (("inspect", "gpu9"), "no host called gpu9", ""),
        (("inspect", "--tree", "/nonexistent"), "no folder /nonexistent", "Name the package"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(run, arguments, words, hint):
    ran = run(*arguments)
    assert ran.status == 2
    assert words in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        (("inspect", "medusa"), "has no algorithm medusa", "It has EAGLE, EAGLE3, NGRAM"),
        (("inspect", "--diff", "9.9"), "9.9 is no host", "pip download"),
        (("source", "srt/none.py"), "srt/none.py cannot be read", "--find"),
        (("source", "../../x"), "is no file of the tree", "below the package"),
        (("source", f"{SPEC}:99999"), "lines", "specctl source"),
        (("source", "--grep", "("), "not a pattern", "re"),
    ],
)
def test_what_a_tree_does_not_have_is_said(inspect, arguments, words, hint):
    ran = inspect(*arguments)
    assert ran.status == 2, ran.out
    assert words in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_hostile_text_of_a_tree_does_not_reach_the_terminal(inspect, package):
    (package / "srt/evil.py").write_text("x = '\x1b[2J\x1b]0;owned\x07'\n")
    hostile = dedent(WHOLE[ARGUMENTS]).replace("No dp attention here.", "No \\x1b[31m dp attention")
    (package / ARGUMENTS).write_text(hostile)
    for ran in (
        inspect("source", "srt/evil.py"), inspect("source", "--grep", "x = "),
        inspect("inspect", "NGRAM"), inspect("inspect", "--json"),
    ):  # fmt: skip
        assert ran.status == 0, ran.err
        assert "\x1b" not in ran.out
        assert "\x07" not in ran.out
