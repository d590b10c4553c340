"""Profiles checked against a tree and models that really lie on a host, through the agent."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.workspace import Workspace
from specctl.domain.errors import RefusedError
from specctl.domain.host import Host
from specctl.domain.lint.finding import Severity
from specctl.domain.plan import Level
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Profile, Speculation
from specctl.services import linting
from specctl.services.fleet import close_host, open_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.lint_surroundings import look_around

if TYPE_CHECKING:
    from pathlib import Path

SERVER_ARGS = """
import argparse
import dataclasses

@dataclasses.dataclass
class ServerArgs:
    model_path: str = None
    device: str = None
    speculative_algorithm: str = None
    speculative_num_steps: int = None
    speculative_eagle_topk: int = None
    speculative_num_draft_tokens: int = None
    speculative_draft_model_path: str = None

    def _handle(self):
        assert (
            self.speculative_eagle_topk is None
            and self.speculative_num_draft_tokens is None
        )
        logger.warning("speculative_num_draft_tokens is adjusted to speculative_num_steps + 1")

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", type=str, required=True)
        parser.add_argument("--device", type=str, default=ServerArgs.device)
        parser.add_argument("--port", type=int, default=30000)
        parser.add_argument("--speculative-algorithm", type=str, choices=["EAGLE", "NGRAM"])
        parser.add_argument("--speculative-num-steps", type=int)
        parser.add_argument("--speculative-eagle-topk", type=int)
        parser.add_argument("--speculative-num-draft-tokens", type=int)
        parser.add_argument("--speculative-draft-model-path", type=str)
"""
SPEC_INFO = """
from enum import Enum, auto

class SpeculativeAlgorithm(Enum):
    NONE = auto()
    EAGLE = auto()
    NGRAM = auto()
"""
CHAIN = {"num-steps": 3, "eagle-topk": 1, "num-draft-tokens": 9}


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory):
    """An interpreter whose SGLang says what a small one would."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    files = {
        "__init__.py": "", "version.py": '__version__ = "0.5.5"\n',
        "launch_server.py": "import time\ntime.sleep(600)\n",
        "srt/server_args.py": SERVER_ARGS, "srt/speculative/spec_info.py": SPEC_INFO,
    }  # fmt: skip
    for name, text in files.items():
        file = packages / "sglang" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    metadata = packages / "sglang-0.5.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.5\n")
    return home / "bin/python"


@pytest.fixture
def models(tmp_path):
    for name, config in {
        "target": {"architectures": ["LlamaForCausalLM"], "vocab_size": 2048},
        "head": {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 512},
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(config))
    return tmp_path


@pytest.fixture
async def small(tmp_path, interpreter):
    host = Host(
        "here", transport="local", python=str(interpreter), gpus=(),
        state_dir=str(tmp_path / "state"), file="remotes/here.toml",
    )  # fmt: skip
    opened = await open_host(host)
    yield opened
    await close_host(opened)


def eagle(models: Path, draft: str, **arguments) -> Profile:
    speculation = {**CHAIN, "draft-model-path": str(models / draft), **arguments}
    return Profile(
        "p", str(models / "target"), arguments={"device": "cpu"},
        speculation=Speculation("EAGLE", speculation), file="profiles/p.toml",
    )  # fmt: skip


async def test_the_build_and_the_models_of_the_host_are_asked(small, models):
    linted = await linting.lint_on(small, eagle(models, "head"))
    found = {f.rule: f for f in linted.findings}
    rewrite = found["eagle-chain-tokens"]
    assert (rewrite.severity, str(rewrite.place)) == (
        Severity.REWRITE, "srt/server_args.py:20",
    )  # fmt: skip
    assert "is adjusted to" in rewrite.source_line
    assert found["eagle3-draft-under-eagle"].severity is Severity.HINT
    assert linted.resolved["speculative-num-draft-tokens"] == 4


async def test_flags_are_those_of_the_host(small, models):
    linted = await linting.lint_on(small, eagle(models, "head", **{"ngram-capacity": 5}))
    unknown = next(f for f in linted.findings if f.rule == "unknown-flag")
    assert unknown.severity is Severity.ERROR
    assert unknown.message.startswith("SGLang 0.5.5 has no --speculative-ngram-capacity")


async def test_a_draft_that_is_not_there_is_noticed(small, models):
    around = await look_around(small, eagle(models, "nowhere"))
    assert around.draft_config is None
    assert around.draft_trouble is not None
    assert "is not there" in around.draft_trouble
    assert around.target_config is not None
    assert around.target_config.architecture == "LlamaForCausalLM"
    assert around.memory_bytes is not None
    assert around.memory_bytes > 1 << 28
    assert isinstance(around.has_amx, bool)


async def test_small_files_that_arguments_name_are_read(small, models):
    (models / "a.json").write_text('{"1": {"candidate_steps": [2]}}')
    one = eagle(models, "head", **{"adaptive": True, "adaptive-config": str(models / "a.json")})
    around = await look_around(small, one)
    assert around.files == {str(models / "a.json"): '{"1": {"candidate_steps": [2]}}'}
    lost = eagle(models, "head", **{"adaptive-config": str(models / "b.json")})
    assert (await look_around(small, lost)).missing_files == {str(models / "b.json")}


@pytest.fixture
def plan(small, clock, secrets, port):
    async def make(profile, **options):
        placed = replace(profile, placement=replace(profile.placement, port=port))
        chosen = StartOptions(**options)
        return await plan_launch(small, placed, chosen, secrets=secrets, clock=clock)

    return make


async def test_errors_refuse_the_plan_and_rewrites_are_shown_in_it(
    small, models, plan, clock, secrets, store
):
    bad = eagle(models, "head")
    bad = replace(bad, speculation=Speculation("EAGLE", {"eagle-topk": 4}))
    made = await plan(bad)
    (refusal,) = [c for c in made.refusals if c.name == "profile"]
    assert "speculation.eagle-topk: needs num-steps" in refusal.words
    assert "srt/server_args.py:16" in refusal.words
    assert "--unchecked" in refusal.next_step
    with pytest.raises(RefusedError, match="needs num-steps"):
        await apply_launch(small, made, secrets=secrets, store=store, clock=clock)
    rewritten = await plan(eagle(models, "head"))
    words = [c.words for c in rewritten.warnings if c.name == "profile"]
    assert len(words) == 1
    assert "the server will change 9 to 4" in words[0]


async def test_unchecked_leaves_the_decision_to_a_person(models, plan):
    bad = replace(eagle(models, "head"), speculation=Speculation("EAGLE", {"eagle-topk": 4}))
    made = await plan(bad, unchecked=True)
    levels = {c.level for c in made.checks if c.name == "profile"}
    assert levels == {Level.WARN}


async def test_a_tree_that_cannot_be_read_holds_nothing_up(connection, profile, secrets, clock):
    made = await plan_launch(connection, profile, StartOptions(), secrets=secrets, clock=clock)
    said = [c for c in made.checks if c.name == "profile"]
    assert [c.level for c in said] == [Level.WARN]
    assert "the source of the build was not asked" in said[0].words
    assert not made.is_refused


@pytest.fixture
def workspace(tmp_path, models, interpreter):
    root = tmp_path / "ws"
    for folder in ("remotes", "profiles"):
        (root / folder).mkdir(parents=True)
    remote = f'transport = "local"\npython = "{interpreter}"\ngpus = []\n'
    (root / "remotes/here.toml").write_text(remote)
    (root / "remotes/other.toml").write_text('ssh = "other"\n')
    (root / "profiles/p.toml").write_text(
        f'model = "{models}/target"\n[arguments]\ndevice = "cpu"\nfrobnicate = 1\n'
        '[on.here.speculation]\nalgorithm = "EAGLE"\neagle-topk = 4\n'
        "[on.other.arguments]\ntp-size = 0\n"
    )
    return Workspace(root)


async def test_on_a_host_only_its_own_values_count(workspace, small):
    verdict = await linting.check_on(small, workspace, ("p",))
    assert verdict.host == "here"
    assert verdict.build.version == "0.5.5"
    assert [(f.line, f.rule) for f in verdict.findings if f.severity is Severity.ERROR] == [
        (4, "unknown-flag"), (7, "eagle-needs-steps"),
    ]  # fmt: skip


async def test_without_a_host_every_host_with_values_of_its_own_is_tried(workspace):
    verdict = linting.check_files(workspace, ("p",))
    found = [(f.line, f.rule, f.severity.value) for f in verdict.findings]
    assert (7, "eagle-needs-steps", "error") in found
    assert (4, "unknown-flag", "warning") in found
    assert any(line == 9 and rule == "file" for line, rule, _ in found)


async def test_a_tree_of_this_machine(workspace, interpreter):
    build = await linting.build_here(interpreter.parents[1])
    verdict = linting.check_files(workspace, ("p",), build)
    unknown = next(f for f in verdict.findings if f.rule == "unknown-flag")
    assert unknown.severity is Severity.ERROR
    assert await linting.build_here(interpreter.parents[1]) is build
