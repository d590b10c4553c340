"""Command lines that the real 0.5.23 resolved, rewrote or refused: the stand-in does the same."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from specctl.lab.server.arguments import parse_arguments
from specctl.lab.server.resolution import Machine, resolve

ROWS = Path(__file__).parents[1] / "data/lint/oracle-0.5.23.jsonl"
ARCHITECTURES = {
    "$TARGET": "LlamaForCausalLM", "$DSV3": "DeepseekV3ForCausalLM",
    "$GLM4MOE": "Glm4MoeForCausalLM", "$QWEN3": "Qwen3ForCausalLM", "$DRAFT": "LlamaForCausalLM",
    "$EAGLE": "LlamaForCausalLMEagle", "$EAGLE3": "LlamaForCausalLMEagle3",
}  # fmt: skip
FILES = {
    "adaptive.json": '{"1": {"candidate_steps": [1, 2, 4]}}',
    "adaptive_nobs.json": '{"ema_alpha": 0.5}',
    "adaptive_empty.json": '{"1": {"candidate_steps": []}}',
    "c_ok.yaml": "speculative-algorithm: NGRAM\nspeculative-num-draft-tokens: 8\n",
    "c_us.yaml": "speculative_algorithm: NGRAM\n",
    "corpus.jsonl": '"text"\n',
}
GPUS = {"cpu": None, "sm90": "NVIDIA H100 80GB HBM3", "sm100": "NVIDIA B200"}
NOT_SIMULATED = ("DFLASH", "DSPARK", "UNO", "FROZEN_KV_MTP", "$GEMMA4DRAFT", "pdmux", "mxfp4")
"""The lab has no workers for these, and says so when they are started."""

OTHERWISE = {
    "oth.layernorm_sp": "a list of models that a feature of no interest here is limited to",
    "oth.nvfp4_ngram": "the kernels of one GPU kind; the page rule refuses the same command line",
}


@dataclass(frozen=True)
class Outcome:
    """How a command line fared."""

    kind: str
    words: str = ""
    resolved: dict[str, Any] | None = None


def rows() -> list[dict[str, Any]]:
    found = [json.loads(line) for line in ROWS.read_text().splitlines()]
    return [row for row in found if not any(n in str(row["argv"]) for n in NOT_SIMULATED)]


def lay_files(folder: Path) -> None:
    (folder / "lora").mkdir()
    for name, architecture in ARCHITECTURES.items():
        path = folder / name.removeprefix("$")
        path.mkdir()
        (path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    for name, text in FILES.items():
        (folder / name).write_text(text)


def put(row: dict[str, Any], folder: Path) -> Outcome:
    """What the stand-in makes of a row, its paths written as the row writes them."""

    def here(word: str) -> str:
        return word.replace("$FILES", str(folder)).replace("$", f"{folder}/")

    def there(value: Any) -> Any:
        return str(value).replace(f"{folder}/", "$") if isinstance(value, str) else value

    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            parsed = parse_arguments("0.5.23", [here(word) for word in row["argv"]])
        machine = Machine(GPUS[row["device"]], 80 << 30, row["env"])
        shown = resolve("0.5.23", parsed, machine, lambda _text: None).shown
    except SystemExit as end:
        return Outcome(f"argparse error rc {end.code}", printed.getvalue().splitlines()[-1])
    except Exception as error:  # noqa: BLE001  whatever it is is compared
        words = str(error)
        kind = "bare" if isinstance(error, AssertionError) and not words else "exception"
        return Outcome(f"{kind} {type(error).__name__}", str(there(words)))
    return Outcome("ok", resolved={name: there(value) for name, value in shown.items()})


def is_same_message(real: str, ours: str) -> bool:
    """Long ones are kept without their beginning, or told shorter here."""
    return ours[:60] == real[:60] or real in ours or ours.rstrip(".") in real


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    lay_files(folder)
    return folder


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row["id"]))
def test_command_line(row: dict[str, Any], files: Path) -> None:
    ours = put(row, files)
    if row["id"] in OTHERWISE:
        assert (ours.kind, ours.words) != (row["outcome"], row["message"])
        return
    assert ours.kind == row["outcome"], ours.words
    if ours.resolved is None:
        real = row["message"].replace("$FILES/", "$")
        assert is_same_message(real, ours.words), f"{real}\n{ours.words}"
        return
    got = {name: ours.resolved[name] for name in row["resolved"]}
    assert got == row["resolved"]


def test_usage_is_the_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, but for a list that real SGLang prints in any order."""
    log = ROWS.parents[1] / "captures/logs/fail-unknown-arg-0.5.23.log"
    lines = log.read_text().splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("usage:"))
    end = next(p for p, line in enumerate(lines) if line.startswith("sglang serve: error"))
    monkeypatch.setenv("COLUMNS", "80")
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as ended:
        parse_arguments("0.5.23", ["--model-path", "x", "--no-such-flag", "3"])
    assert ended.value.code == 2
    ours = printed.getvalue().splitlines()
    assert ours[-1] == lines[end] == "sglang serve: error: unrecognized arguments: --no-such-flag 3"
    assert [one for one in zip(ours, lines[begin:end], strict=False) if one[0] != one[1]] == [
        one for one in zip(ours, lines[begin:end], strict=False) if "--sampling-backend" in one[0]
    ]
    assert len(ours) - 1 == end - begin
