"""What a check of a profile says, against what SGLang 0.5.23 itself makes of its arguments."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specctl.domain.command import server_argv
from specctl.domain.lint.case import Surroundings
from specctl.domain.lint.engine import Linted, lint, lint_argv
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rules import RULES
from specctl.facts.checkpoint_files import read_config
from specctl.facts.lint_source import build_of
from specctl.services.inspection import open_tree_here
from tests.live.conftest import ENVIRONMENT, MODELS, PYTHON, ROOT
from tests.live.generated import Maker, write_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.lint.build import Build
    from specctl.domain.profile import Profile

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

SCRIPT = ROOT / "tests" / "sglang_cpu" / "resolve.py"
PROFILES = 600
SEED = 7
VARIABLES = {
    "SGLANG_USE_CPU_ENGINE": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
    "TORCHDYNAMO_DISABLE": "1",
}  # fmt: skip
LINES = (
    "--config=/nonexistent.yaml",
    "--config /a.yaml --config /b.yaml",
    "-x 1",
    "extra",
    "--enable-metrics=true",
    "--speculative-algorithm NGRAM --speculative-adaptive true",
    "--speculative-algorithm --speculative-num-draft-tokens 4",
    "--speculative-algorithm NGRAM --speculative-num-draft-tokens 8 "
    "--speculative-num-draft-tokens 6",
    "--Speculative-Algorithm NGRAM",
    "--speculative-algorithm NGRAM --speculative-ngram-max-b 4",
)
LATE = frozenset(rule.id for rule in RULES if rule.is_late)
SWITCHES = frozenset({
    "speculative_adaptive", "speculative_use_rejection_sampling", "enable_mixed_chunk",
    "disable_overlap_schedule",
})  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """One profile, what lint said, and what the server's own resolution said."""

    profile: Profile
    linted: Linted
    real: dict[str, Any]

    @property
    def errors(self) -> tuple[str, ...]:
        """The rules that foresee a refusal by the resolution itself."""
        errors = (f for f in self.linted.findings if f.severity is Severity.ERROR)
        return tuple(finding.rule for finding in errors if finding.rule not in LATE)

    @property
    def is_refused(self) -> bool:
        return self.real["error"] is not None

    def __str__(self) -> str:
        words = " ".join(server_argv(self.profile, python=(), port=0)[4:-2])
        return f"{words} {dict(self.profile.environment)}\n  lint {self.errors}\n  {self.real}"


def _config(path: Path) -> Any:
    file = path / "config.json"
    return read_config(json.loads(file.read_text())) if file.exists() else None


def _around(profile: Profile, files: Path) -> Surroundings:
    given = profile.speculation.arguments if profile.speculation else {}
    named = given.get("draft-model-path")
    draft = None if named is None else MODELS / str(named).rpartition("/")[2]
    texts = {str(file): file.read_text() for file in files.iterdir()}
    gone = frozenset(str(files / name) for name in ("gone.json", "gone.yaml"))
    return Surroundings(
        device="cpu",
        has_amx="amx_tile" in Path("/proc/cpuinfo").read_text(),
        target_config=_config(MODELS / "target"),
        draft_config=None if draft is None else _config(draft),
        draft_trouble="not there" if draft is not None and not draft.exists() else None,
        files=texts,
        missing_files=gone,
    )


def _put(asked: Sequence[tuple[list[str], dict[str, str]]]) -> list[dict[str, Any]]:
    """What the server's own resolution says of command lines and environments, in one process."""
    lines = [json.dumps({"argv": argv, "env": environment}) for argv, environment in asked]
    done = subprocess.run(
        [PYTHON, SCRIPT], input="\n".join(lines) + "\n", capture_output=True, text=True,
        check=False, timeout=800, env={**os.environ, **VARIABLES},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture(scope="module")
async def build() -> Build:
    if not PYTHON.exists():
        pytest.fail("real SGLang is not built: run `make sglang-cpu`")
    opened = await open_tree_here(ENVIRONMENT)
    return build_of(opened.tree, opened.texts)


@pytest.fixture(scope="module")
def profiles(files: Path) -> list[Profile]:
    return list(Maker(MODELS, files, random.Random(SEED)).profiles(PROFILES))


@pytest.fixture(scope="module")
def words() -> list[list[str]]:
    """What no profile can say, as command lines."""
    model = ["--model-path", str(MODELS / "target"), "--device", "cpu"]
    return [[*model, *line.split()] for line in LINES]


@pytest.fixture(scope="module")
def answers(profiles: list[Profile], words: list[list[str]]) -> list[dict[str, Any]]:
    """What SGLang says of the profiles, and then of the lines."""
    made = [
        (list(server_argv(one, python=(), port=30_000)[2:]), dict(one.environment))
        for one in profiles
    ]
    said = _put([*made, *((line, {}) for line in words)])
    assert len(said) == len(profiles) + len(words)
    return said


@pytest.fixture(scope="module")
def compared(
    build: Build, files: Path, profiles: list[Profile], answers: list[dict[str, Any]]
) -> list[Compared]:
    return [
        Compared(profile, lint(profile, build, _around(profile, files)), answer)
        for profile, answer in zip(profiles, answers[: len(profiles)], strict=True)
    ]


def test_what_is_accepted_is_accepted_and_what_is_refused_is_refused(compared, capsys):
    wrong = [str(one) for one in compared if bool(one.errors) is not one.is_refused]
    refused = sum(one.is_refused for one in compared)
    with capsys.disabled():
        print(
            f"\n{len(compared)} profiles: {refused} refused and {len(compared) - refused} accepted "
            f"by SGLang, {len(wrong)} judged otherwise by lint"
        )
    assert wrong == []


def test_values_are_rewritten_as_foreseen(compared):
    wrong = []
    for one in compared:
        if one.is_refused or "config" in one.profile.arguments:
            continue
        for name, real in one.real["values"].items():
            foreseen = one.linted.resolved.get(name.replace("_", "-"))
            foreseen = bool(foreseen) if name in SWITCHES else foreseen
            if foreseen != real:
                wrong.append(f"{name}: {foreseen!r}, not {real!r}: {one}")
    assert wrong == []


@pytest.fixture(scope="module")
def lines(
    build: Build, words: list[list[str]], answers: list[dict[str, Any]]
) -> list[tuple[list[str], Linted, dict[str, Any]]]:
    """What no profile can say, as its command line is made here."""
    around = Surroundings(device="cpu", has_amx=False)
    judged = [lint_argv(line, build, around) for line in words]
    return list(zip(words, judged, answers[-len(words) :], strict=True))


def test_lines_that_no_profile_makes_are_judged_alike(lines):
    for words, linted, real in lines:
        assert linted.is_refused is (real["error"] is not None), (words, linted.findings, real)


def test_every_rule_that_the_cpu_reaches_has_spoken(compared, lines, capsys):
    judged = [*(one.linted for one in compared), *(linted for _, linted, _ in lines)]
    spoken = Counter(f.rule for linted in judged for f in linted.findings)
    reachable = {rule.id for rule in RULES if rule.is_live}
    with capsys.disabled():
        print(f"\n{len(reachable & spoken.keys())} of {len(reachable)} live rules have spoken")
    assert reachable - spoken.keys() == set()


async def test_check_and_start_ask_the_build_of_the_host(operator):
    """Over ssh, as an operator does it."""
    text = 'extends = "tiny-baseline"\n[speculation]\nalgorithm = "NGRAM"\neagle-topk = 4\n'
    (operator.folder / "ws/profiles/rewritten.toml").write_text(text)
    bad = text + "ngram-max-bfs-breadth = 0\n"
    (operator.folder / "ws/profiles/bad.toml").write_text(bad)
    rewritten = operator.run("check", "rewritten", "--on", "gpu")
    assert rewritten.status == 1, rewritten.out
    assert "   4  rewrite  speculation.eagle-topk: the server will change 4 to" in rewritten.out
    assert "srt/arg_groups/speculative_hook.py:" in rewritten.out
    assert operator.run("check", "bad", "--on", "gpu").status == 2
    refused = operator.run("start", "gpu", "bad", "--yes")
    assert refused.status == 1
    assert "speculation.ngram-max-bfs-breadth: must be at least 1" in refused.err
    assert operator.ok("check", "tiny-ngram", "--on", "gpu").err.startswith("specctl: no errors")
