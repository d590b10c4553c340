"""Launch commands of every kind to profiles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.adapters.importing import draft_from_any
from specctl.adapters.toml_writing import to_toml
from specctl.domain.command import server_argv, shell_join
from specctl.domain.errors import UsageError
from specctl.domain.importing import draft_from_argv
from specctl.domain.inheritance import Document
from specctl.domain.profile import Profile, Speculation
from specctl.domain.resolve import resolve
from tests.data import data_text

BARE = "python3 -m sglang.launch_server --model-path m "


def draft(name):
    return draft_from_any(data_text(f"launch/{name}.txt"))


def test_compose():
    found = draft("compose-eagle-json-item")
    assert found.values == {
        "model": "/models/target-a",
        "arguments": {
            "tp-size": 2,
            "model-loader-extra-config": {"enable_multithread_load": True, "num_threads": 4},
        },
        "speculation": {
            "algorithm": "EAGLE3", "draft-model-path": "/models/draft-a", "num-steps": 3,
            "eagle-topk": 1, "num-draft-tokens": 4,
        },
        "env": {
            "NVIDIA_VISIBLE_DEVICES": "0,1", "SGLANG_ENABLE_SPEC_V2": "1",
            "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        },
        "placement": {"port": 5000},
    }  # fmt: skip
    assert "ports: 18080:5000" in found.comments


def test_docker_run():
    found = draft("docker-run-quoted-gpus")
    assert found.values["arguments"] == {
        "tp-size": 2, "json-model-override-args": {"rope_scaling": {"factor": 2.0}},
    }  # fmt: skip
    assert found.values["speculation"] == {
        "algorithm": "NEXTN", "num-steps": 2, "eagle-topk": 1, "num-draft-tokens": 3,
    }  # fmt: skip
    assert found.values["env"] == {
        "HF_TOKEN": "secret:hf-token", "NCCL_P2P_LEVEL": "SYS", "SERVED_NAME": "chat model",
    }  # fmt: skip
    assert found.values["placement"] == {"gpus": [0, 1]}
    assert list(found.secrets) == ["hf-token"]
    assert "volume /srv/my models:/models:ro" in found.comments
    assert "port published as 127.0.0.1:30001:30000 outside the container" in found.comments


def test_variables_in_front_and_placeholders():
    found = draft("env-prefix-serve-placeholders")
    assert found.values["env"] == {"SGLANG_A": "0", "SGLANG_B": "x y"}
    assert found.values["arguments"] == {
        "nnodes": 2, "node-rank": "<rank>", "dist-init-addr": "<head>:20000",
    }  # fmt: skip
    assert found.values["speculation"]["algorithm"] == "EAGLE"
    assert "--node-rank: <rank> has yet to be filled in" in found.remarks


def test_bash_variables():
    found = draft("bash-variables-append-tee")
    assert found.values["model"] == "/srv/models/target-d"
    assert found.values["speculation"] == {
        "algorithm": "STANDALONE", "draft-model-path": "/srv/models/draft-d", "num-steps": 5,
        "eagle-topk": 1, "num-draft-tokens": 6,
    }  # fmt: skip
    assert found.values["env"] == {"CUDA_VISIBLE_DEVICES": "4,5"}
    assert found.values["placement"] == {"port": 30010}
    arguments = found.values["arguments"]
    assert (arguments["tp-size"], arguments["disable-radix-cache"]) == (2, True)
    assert arguments["host"] == "<hostname -I | awk '{print $1}'>"
    assert "line 13: tee run.log" in found.comments


def test_systemd():
    found = draft("systemd-ngram")
    assert found.values["arguments"] == {"served-model-name": "chat f"}
    assert found.values["speculation"] == {"algorithm": "NGRAM", "num-draft-tokens": 16}
    assert found.values["env"] == {
        "CUDA_HOME": "/opt/cuda", "PATH": "/opt/cuda/bin:/usr/bin:/bin", "SGLANG_X": "1",
    }  # fmt: skip
    assert "EnvironmentFile /etc/default/chat is not read: add what it sets" in found.comments


def test_a22_flags_of_earlier_versions_are_kept_as_written():
    found = draft_from_any(
        BARE + "--speculative-algorithm NGRAM --speculative-ngram-min-match-window-size 1 "
        "--speculative-ngram-max-match-window-size 12 --speculative-ngram-branch-length 18 "
        "--enable-beta-spec --cuda-graph-max-bs 64"
    )
    assert found.values["speculation"] == {
        "algorithm": "NGRAM", "ngram-min-match-window-size": 1,
        "ngram-max-match-window-size": 12, "ngram-branch-length": 18,
    }  # fmt: skip
    assert found.values["arguments"] == {"enable-beta-spec": True, "cuda-graph-max-bs": 64}


def test_a22_flags_of_another_engine_are_kept_and_named():
    found = draft_from_any(BARE + "--speculative-model '[ngram]' --num-speculative-tokens 3")
    assert found.values["arguments"] == {
        "speculative-model": "[ngram]", "num-speculative-tokens": 3,
    }  # fmt: skip
    assert any("--num-speculative-tokens" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (BARE + "--api-key hush-hush", "hush-hush"),
        (BARE + "--api-key=hush-hush", "hush-hush"),
        ("HF_TOKEN=hush-hush " + BARE, "hush-hush"),
        ("export X=sk-abcdefghijklmnopqrst\n" + BARE, "sk-abcdefghijklmnopqrst"),
        ("curl -H 'Authorization: Bearer hush-hush' u\n" + BARE, "hush-hush"),
        ("docker run -e ADMIN_TOKEN=hush-hush image " + BARE, "hush-hush"),
    ],
)
def test_a_secret_is_nowhere_in_the_draft(text, secret):
    found = draft_from_any(text)
    assert secret not in to_toml(found.values, comments=found.comments)
    assert secret not in " ".join([*found.remarks, *found.secrets, *found.secrets.values()])


@pytest.mark.parametrize(
    "prefix",
    [
        "exec ", "nohup ", "env A=1 ", "numactl --cpunodebind=0 ", "cd /srv && ", "sudo -u x ",
        "docker run --gpus all image ", "bash -c '", "set -e; ",
    ],
)  # fmt: skip
def test_what_stands_in_front_is_seen_through(prefix):
    text = prefix + BARE + ("'" if prefix.endswith("'") else "")
    assert draft_from_any(text).values["model"] == "m"


def test_an_image_that_is_the_server_takes_options_only():
    found = draft_from_any("docker run image --model-path m --tp 2")
    assert found.values["model"] == "m"
    assert found.values["arguments"] == {"tp-size": 2}


def test_a_manifest_of_kubernetes():
    text = """
kind: Deployment
apiVersion: apps/v1
spec:
  template:
    spec:
      containers:
        - name: side
          command: [sleep, "1"]
        - name: chat
          image: lmsysorg/sglang:latest
          command: ["python3", "-m", "sglang.launch_server"]
          args: ["--model-path", "m", "--port", "30000"]
          env:
            - name: HF_TOKEN
              valueFrom: {secretKeyRef: {name: hf, key: token}}
            - {name: A, value: "yes"}
"""
    found = draft_from_any(text)
    assert found.values["model"] == "m"
    assert found.values["env"] == {"HF_TOKEN": "secret:hf-token", "A": "yes"}


@pytest.mark.parametrize("text", ["", "ls -l", "[Service]\nExecStart=/bin/true", "services: {}"])
def test_text_without_a_server_is_refused(text):
    with pytest.raises(UsageError, match=r"starts (an|no) SGLang server"):
        draft_from_any(text)


def test_broken_yaml_has_a_place():
    with pytest.raises(UsageError, match="line 3, column 1"):
        draft_from_any("services:\n  a: [\n")


def test_what_lies_elsewhere_is_said():
    found = draft_from_any("cd /srv\n" + BARE + "--config flags.yaml --config=other.yaml")
    assert found.values["arguments"] == {"config": "flags.yaml"}
    assert "--config flags.yaml: the flags in that file are not read" in found.remarks
    assert any(comment.startswith("--config=other.yaml") for comment in found.comments)
    assert "line 1: relative paths start from /srv" in found.comments


def test_the_last_of_two_counts_and_is_said():
    found = draft_from_argv(
        ["sglang", "serve", "m", "--tp", "2", "--tp-size", "4", "--no-lora-strict-loading"]
    )
    assert found.values["arguments"] == {"tp-size": 4, "lora-strict-loading": False}
    assert any("given twice" in remark for remark in found.remarks)


TEXTS = st.text(
    st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=20
).filter(lambda text: not text.startswith("secret:") and "<" not in text)
NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
TABLES = st.dictionaries(TEXTS, TEXTS | NUMBERS | st.booleans(), max_size=3)


@given(
    arguments=st.fixed_dictionaries(
        {},
        optional={
            "tp-size": st.integers(1, 64),
            "served-model-name": TEXTS,
            "mem-fraction-static": NUMBERS,
            "enable-metrics": st.just(value=True),
            "lora-strict-loading": st.booleans(),
            "json-model-override-args": TABLES,
            "cuda-graph-bs-decode": st.lists(st.integers(1, 9), min_size=2).map(tuple),
        },
    ),
    steps=st.integers(1, 9),
)
def test_a_command_line_comes_back_as_the_same_command_line(arguments, steps):
    speculation = Speculation("EAGLE3", {"num-steps": steps})
    profile = Profile("p", "m", arguments=arguments, speculation=speculation)
    argv = server_argv(profile, python=["python3"], port=1)
    values = draft_from_any(shell_join(argv)).values
    again, problems = resolve("p", {"p": Document("p", "p.toml", values)})
    assert not problems
    assert again is not None
    assert server_argv(again, python=["python3"], port=1) == argv
