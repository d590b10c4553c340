"""check: every form of its output, its statuses, and the build it is asked about."""

from __future__ import annotations

import json

import pytest

from tests.cli.writing import write
from tests.schemas import assert_valid


def test_check_in_every_format(run, workspace):
    write(workspace, "profiles/a", 'model = "m"\n[speculation]\nalgorithm = "NGRAM"\nnum_step = 3')
    write(workspace, "profiles/b", 'model = "m"\nzebra = 1\n[arguments]\nfrobnicate = "100%"')
    text = run("check")
    assert text.status == 2
    assert text.out == (
        "profiles/a.toml\n"
        "   4  error    speculation.num_step: SGLang spells its flags in lower case with dashes\n"
        "               → nearest: num-steps\n"
        "\n"
        "profiles/b.toml\n"
        "   2  error    zebra: no key zebra in a profile file\n"
        "   4  warning  arguments.frobnicate: SGLang 0.5.23 has no such flag\n"
    )
    assert text.err == (
        "specctl: 2 errors, 1 warning, against SGLang 0.5.23, the newest one known; "
        "--on HOST asks a host's own\n"
    )
    as_json = json.loads(run("check", "--format", "json").out)
    assert_valid(as_json)
    assert (as_json["schema"], as_json["errors"], as_json["warnings"]) == ("specctl/check/1", 2, 1)
    assert as_json["problems"][0] == {
        "level": "error", "file": "profiles/a.toml", "line": 4, "key": "speculation.num_step",
        "message": "SGLang spells its flags in lower case with dashes", "nearest": "num-steps",
        "fix": "", "rule": "file", "versions": "", "source": None, "profile": None,
    }  # fmt: skip
    assert run("check", "--format", "github").out.splitlines()[0] == (
        "::error file=profiles/a.toml,line=4,title=speculation.num_step::"
        "SGLang spells its flags in lower case with dashes. Nearest: num-steps"
    )


def test_check_says_what_the_server_would_make_of_a_profile(run, workspace):
    write(workspace, "profiles/base", 'model = "m"\n[arguments]\nenable-mixed-chunk = true\n')
    text = 'extends = "base"\n[speculation]\nalgorithm = "NGRAM"\neagle-topk = 4\n'
    write(workspace, "profiles/a", text)
    ran = run("check", "a")
    assert ran.status == 1
    assert [line for line in ran.out.splitlines() if "rewrite" in line] == [
        "   4  rewrite  speculation.eagle-topk: "
        "the server will change 4 to ngram-max-bfs-breadth: 10",
        "   3  rewrite  arguments.enable-mixed-chunk: the server will turn it off for NGRAM (a)",
    ]
    github = run("check", "a", "--format", "github").out.splitlines()
    assert [line.partition(" ")[0] for line in github].count("::warning") == 2
    as_json = json.loads(run("check", "a", "--format", "json").out)
    assert_valid(as_json)
    assert (as_json["rewrites"], as_json["build"]["is_assumed"]) == (2, True)


def test_check_takes_one_build(run, workspace):
    ran = run("check", "--on", "gpu", "--tree", str(workspace))
    assert ran.status == 2
    assert "--on and --tree name two builds" in ran.err


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('model = "m"', 0),
        ('model = "m"\n[arguments]\nfrobnicate = 1', 1),
        ('model = "m"\n[arguments]\nnnodes = 2', 2),
        ('model = "hf_abcdefghijklmnopqrstuvwxyz"', 2),
    ],
)
def test_check_has_three_statuses(run, workspace, text, status):
    write(workspace, "profiles/a", text)
    write(workspace, "profiles/other", "broken =")
    assert run("check", "a").status == status
    assert run("check").status == 2


TREE_TEXT = """
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str)
        parser.add_argument("--port", type=int)
        parser.add_argument("--page-size", type=int)
"""


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "clone" / "python" / "sglang"
    (folder / "srt").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "version.py").write_text('__version__ = "0.4.1"\n')
    (folder / "srt/server_args.py").write_text(TREE_TEXT)
    return folder


def test_check_against_a_tree_of_this_machine(run, workspace, package):
    text = 'model = "m"\n[arguments]\npage-size = "many"\n[speculation]\nalgorithm = "EAGLE"\n'
    write(workspace, "profiles/a", text)
    ran = run("check", "a", "--tree", str(package))
    assert ran.status == 2
    assert "   3  error    arguments.page-size: 'many' is not a whole number" in ran.out
    assert "srt/server_args.py:7" in ran.out
    assert "SGLang 0.4.1 has no --speculative-algorithm" in ran.out
    assert ran.err.strip().endswith(f"against SGLang 0.4.1 at {package}")
    as_json = json.loads(run("check", "a", "--tree", str(package), "--format", "json").out)
    assert_valid(as_json)
    assert as_json["build"]["path"] == str(package)
    assert {p["rule"]: p["source"] for p in as_json["problems"]}["value-of-wrong-kind"] == {
        "file": "srt/server_args.py", "line": 7, "says": "",
    }  # fmt: skip
