"""Profiles to command lines and back."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.arguments import read_options, render
from specctl.domain.command import (
    parse_argv,
    server_argv,
    server_environment,
    server_secrets,
    shell_join,
    shell_lines,
)
from specctl.domain.host import Host
from specctl.domain.profile import Placement, Profile, Speculation, Value

E06_ROUND_TRIP = [
    "--json-model-override-args", '{"a": "b c"}', "it's", "$HOME", "a!b", "back\\slash",
    "new\nline", "", "-x", "模型",
]  # fmt: skip


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("enable-metrics", True, ["--enable-metrics"]),
        ("enable-metrics", False, []),
        ("lora-strict-loading", False, ["--no-lora-strict-loading"]),
        ("lora-strict-loading", True, ["--lora-strict-loading"]),
        ("tp-size", 8, ["--tp-size", "8"]),
        ("mem-fraction-static", 0.88, ["--mem-fraction-static", "0.88"]),
        ("cuda-graph-bs-decode", (1, 2, 4), ["--cuda-graph-bs-decode", "1", "2", "4"]),
        ("lora-paths", (), []),
        ("served-model-name", "chat model", ["--served-model-name", "chat model"]),
        ("chat-template", "--odd", ["--chat-template=--odd"]),
        ("chat-template", "-odd", ["--chat-template=-odd"]),
        ("chat-template", "- not a flag", ["--chat-template", "- not a flag"]),
        ("served-model-name", "", ["--served-model-name", ""]),
        ("random-seed", -1, ["--random-seed", "-1"]),
        (
            "json-model-override-args",
            {"rope_scaling": {"factor": 2.0}, "ids": (1, 2), "on": True},
            ["--json-model-override-args", '{"rope_scaling":{"factor":2.0},"ids":[1,2],"on":true}'],
        ),
    ],
)
def test_a_value_becomes_words_once(flag, value, words):
    assert list(render(flag, value)) == words


def test_e06_no_layer_of_quotes_enters_the_argv():
    value: dict[str, Value] = {"method": "qwen3_next_mtp", "num_speculative_tokens": 2}
    (_, text) = render("speculative-config", value)
    assert json.loads(text) == value
    assert text == '{"method":"qwen3_next_mtp","num_speculative_tokens":2}'


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_e06_every_word_survives_a_real_shell(shell):
    program = "import sys, json; print(json.dumps(sys.argv[1:]))"
    line = shell_join(
        [sys.executable, "-c", program, *E06_ROUND_TRIP, "=zsh", "~", "A=b", "#", "*"]
    )
    done = subprocess.run([shell, "-c", line], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [*E06_ROUND_TRIP, "=zsh", "~", "A=b", "#", "*"]


def test_a_program_that_looks_like_an_assignment_stays_a_program():
    assert shell_join(["A=b", "A=b"]) == "'A=b' A=b"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_shell_join_is_undone_by_shlex(argv):
    assert shlex.split(shell_join(argv)) == argv


@given(st.text(st.characters(exclude_characters="\0")))
def test_any_text_reaches_argparse_as_it_is(text):
    parser = argparse.ArgumentParser()
    parser.add_argument("--chat-template")
    assert parser.parse_args(list(render("chat-template", text))).chat_template == text


def test_server_argv_has_the_model_first_and_the_port_last():
    profile = Profile(
        name="p",
        model="/models/a b",
        arguments={"tp-size": 2, "enable-metrics": True},
        speculation=Speculation("EAGLE3", {"num-steps": 3, "adaptive": True}),
        secrets={"argument:api-key": "serving"},
    )
    assert server_argv(profile, python=["py"], port=31000) == (
        "py", "-m", "sglang.launch_server", "--model-path", "/models/a b", "--tp-size", "2",
        "--enable-metrics", "--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "3",
        "--speculative-adaptive", "--port", "31000",
    )  # fmt: skip


def test_shell_lines_can_be_pasted(tmp_path):
    shown = tmp_path / "launch_server.py"
    shown.write_text("import json, os, sys; print(json.dumps([os.environ['A'], *sys.argv[1:]]))")
    argv = [sys.executable, str(shown), "--model-path", "a b", "--json", '{"x": "it\'s"}']
    text = shell_lines(argv, {"A": "x y"})
    assert text.count("\n") == 3
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["x y", *argv[2:]]


def test_the_profile_environment_wins_over_the_host():
    host = Host("h", environment={"A": "host", "B": "host"}, hf_home="/hf", gpus=(0, 1))
    profile = Profile("p", "m", environment={"A": "profile"})
    assert server_environment(profile, host) == {
        "A": "profile", "B": "host", "HF_HOME": "/hf", "CUDA_VISIBLE_DEVICES": "0,1",
    }  # fmt: skip
    placed = Profile("p", "m", placement=Placement(gpus=(3,)))
    assert server_environment(placed, host)["CUDA_VISIBLE_DEVICES"] == "3"


def test_a_plain_variable_of_the_profile_replaces_the_secret_of_the_host():
    host = Host("h", secrets={"env:HF_TOKEN": "hf", "env:OTHER": "other"})
    profile = Profile("p", "m", environment={"HF_TOKEN": ""}, secrets={"argument:api-key": "k"})
    assert server_secrets(profile, host) == {"env:OTHER": "other", "argument:api-key": "k"}


PREFIX = ["python3", "-m", "sglang.launch_server"]


def test_e02_the_last_port_of_the_argv_counts():
    arguments = parse_argv([*PREFIX, "--model-path", "m", "--port", "30000", "--port", "40052"])
    assert arguments.port == 40052


@pytest.mark.parametrize(
    ("words", "port"),
    [
        ([], 30000),
        (["--port=40052"], 40052),
        (["--po", "40052"], 40052),
        (["--port", "1_000"], 1000),
        (["--port", "8.0"], None),
        (["--port", "<port>"], None),
        (["--port"], None),
        (["--config", "server.yaml"], None),
        (["--config", "server.yaml", "--port", "1234"], 1234),
        (["--config=server.yaml"], 30000),
        (["--model-path", "--port"], None),
    ],
)
def test_e02_the_port_is_read_as_argparse_reads_it(words, port):
    assert parse_argv([*PREFIX, *words]).port == port


@pytest.mark.parametrize(
    ("argv", "command", "model"),
    [
        ([*PREFIX, "--model", "m"], tuple(PREFIX), "m"),
        (["/v/bin/python", "-I", "-m", "sglang.launch_server", "--model=m"], None, "m"),
        (["sglang", "serve", "m", "--tp", "2"], ("sglang", "serve"), "m"),
        (["/v/bin/sglang", "serve", "--model-path", "m"], ("/v/bin/sglang", "serve"), "m"),
        (["python", "/x/sglang/launch_server.py", "--model-path", "m"], None, "m"),
    ],
)
def test_every_way_to_start_a_server_is_known(argv, command, model):
    arguments = parse_argv(argv)
    assert arguments.model == model
    assert command is None or arguments.command == command


def test_aliases_prefixes_and_lists():
    arguments = parse_argv(
        [
            *PREFIX, "--tensor-parallel-size", "4", "--dp", "2", "--speculative-algo", "NGRAM",
            "--enable-metrics", "--cuda-graph-bs-decode", "1", "2", "--host", "0.0.0.0",
            "--nnodes=2",
            "--node-rank", "1",
        ]
    )  # fmt: skip
    assert (arguments.tp_size, arguments.dp_size, arguments.algorithm) == (4, 2, "NGRAM")
    assert arguments.address == "0.0.0.0"
    assert (arguments.is_multi_node, arguments.node_rank) == (True, 1)
    option = arguments.option("cuda-graph-bs-decode")
    assert option is not None
    assert option.values == ("1", "2")
    assert arguments.has("enable-metrics")
    assert all(option.is_clear for option in arguments.options)
    assert not arguments.stray


@pytest.mark.parametrize("written", ["--speculative-draft-mod", "--speculative-adapt", "--page"])
def test_an_ambiguous_beginning_is_not_guessed(written):
    (option,) = (o for o in parse_argv([*PREFIX, written, "x"]).options if not o.is_clear)
    assert len(option.meant) > 1
    assert option.flag == written.removeprefix("--")


def test_an_unknown_flag_keeps_its_values():
    options, stray = read_options(["--num-speculative-tokens", "3", "--enable-metrics", "lost"])
    assert [(o.flag, o.values) for o in options] == [
        ("num-speculative-tokens", ("3",)), ("enable-metrics", ()),
    ]  # fmt: skip
    assert stray == ("lost",)
