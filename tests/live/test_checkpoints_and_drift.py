"""Drafts judged with real SGLang's classes and tokenizer, and a real server against its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.domain.checkpoint.kinds import FITTING, kind_of
from specctl.services.inspection import read_tree_here
from tests.live.conftest import ENVIRONMENT, MODELS
from tests.schemas import assert_valid

if TYPE_CHECKING:
    from tests.live.conftest import Operator

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def test_texts_are_tokenised_as_the_server_does_and_classes_are_found(operator: Operator):
    said = operator.folder / "said.jsonl"
    said.write_text('{"text": "The server answers."}\n[1, 2, 3]\n')
    ran = operator.ok(
        "checkpoint", "gpu", str(MODELS / "target"), str(MODELS / "draft"),
        "--transcripts", str(said), "--json",
    )  # fmt: skip
    assert_valid(ran.json)
    findings = {finding["key"]: finding for finding in ran.json["findings"]}
    assert {finding["severity"] for finding in findings.values()} == {"pass"}
    assert ran.json["algorithm"] == "STANDALONE"
    assert "srt/models/llama.py:" in findings["build"]["words"]
    assert "by the host's tokenizers" in findings["transcript"]["words"]
    assert ran.json["coverage"]["tokens"] > 6
    eagle = operator.ok(
        "checkpoint", "gpu", str(MODELS / "target"), str(MODELS / "eagle"), "--json"
    )
    found = {finding["key"]: finding["words"] for finding in eagle.json["findings"]}
    assert "LlamaForCausalLMEagle (srt/models/llama_eagle.py:" in found["build"]
    assert found["fc-width"] == "fc is 192 × 384: 2 × 192 in"
    assert eagle.json["bytes_read"] < 10_000


async def test_every_draft_class_of_the_real_build_is_of_a_kind_its_algorithm_takes():
    tree = await read_tree_here(ENVIRONMENT)
    strange = [
        (algorithm.name, name)
        for algorithm in tree.algorithms
        for name in algorithm.draft_architectures
        if kind_of(name) not in FITTING.get(algorithm.name, ())
    ]
    assert strange == []
    assert sum(len(algorithm.draft_architectures) for algorithm in tree.algorithms) > 40
