"""The build, the memory and the plan of a start."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from specctl.domain.checkpoint.memory import memory_of
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Speculation
from specctl.services.checkpoint import CheckpointRequest, check_checkpoint
from specctl.services.fleet import close_host, open_host
from specctl.services.launch import plan_launch
from tests.checkpoints import (
    eagle3_config,
    eagle3_tensors,
    target_config,
)
from tests.unit.services.checkpoint.rows import ERROR, HINT, PASS, finding


async def test_memory_counts_what_is_loaded_split_over_the_gpus(models, check):
    checked = await check(models.target(), models.draft(), tp_size=2)
    found = memory_of(checked.pairing)
    assert found is not None
    tensors = eagle3_tensors()
    whole = sum(a.nbytes for n, a in tensors.items() if n.startswith("fc.") or "norm" in n)
    total = sum(a.nbytes for n, a in tensors.items() if n not in ("d2t", "t2d"))
    assert found.weight_bytes == total
    assert found.per_gpu_bytes == whole + (total - whole) // 2
    assert found.kv_bytes_per_token == 2 * 1 * 16 * 2
    assert found.shared == ("embed_tokens",)


@pytest.fixture
def build(python, tmp_path):
    """The stand-in's interpreter with models of its own: another tree beside the first."""
    home = tmp_path / "build"
    shutil.copytree(Path(python).parents[1], home, symlinks=True)
    folder = next(home.glob("lib/python*/site-packages")) / "sglang/srt/models"
    folder.mkdir(parents=True)
    (folder / "llama.py").write_text(
        "class LlamaForCausalLM:\n    def set_eagle3_layers_to_capture(self): ...\n"
    )
    (folder / "mistral.py").write_text("\n\nclass MistralForCausalLM(LlamaForCausalLM):\n")
    (folder / "llama_eagle3.py").write_text("class LlamaForCausalLMEagle3:\n    pass\n")
    return str(home / "bin/python")


async def test_the_build_has_the_classes_or_not(models, host, build):
    draft, target = models.draft(), models.target()
    opened = await open_host(replace(host, python=build))
    try:
        checked = await check_checkpoint(opened, CheckpointRequest(target, draft))
        row = finding(checked, "build")
        assert row.severity is PASS
        assert row.words.endswith(
            "has LlamaForCausalLMEagle3 (srt/models/llama_eagle3.py:1); LlamaForCausalLM hands its"
            " states over"
        )
        inherits = models.make("mistral", target_config(architectures=["MistralForCausalLM"]))
        row = finding(await check_checkpoint(opened, CheckpointRequest(inherits, draft)), "build")
        assert row.severity is HINT
        assert "srt/models/mistral.py:3 has no set_eagle3_layers_to_capture" in row.words
        config = eagle3_config(architectures=["Eagle3DeepseekV2ForCausalLM"])
        other = models.make("other", config, eagle3_tensors())
        row = finding(await check_checkpoint(opened, CheckpointRequest(target, other)), "build")
        assert row.severity is ERROR
        assert "has no model class Eagle3DeepseekV2ForCausalLM" in row.words
    finally:
        await close_host(opened)


async def test_a01_a_start_reads_the_configurations_and_refuses_before_the_load(
    models, connection, profile, secrets, clock
):
    wrong = replace(
        profile,
        model=models.target(),
        speculation=Speculation(
            "EAGLE",
            {
                "draft-model-path": models.draft(),
                "num-steps": 3,
                "eagle-topk": 1,
                "num-draft-tokens": 4,
            },
        ),
    )
    plan = await plan_launch(connection, wrong, StartOptions(), secrets=secrets, clock=clock)
    (said,) = [check for check in plan.refusals if "EAGLE-3" in check.words]
    assert "speculation.algorithm" in said.words
    assert wrong.speculation is not None
    right = replace(wrong, speculation=replace(wrong.speculation, algorithm="EAGLE3"))
    plan = await plan_launch(connection, right, StartOptions(), secrets=secrets, clock=clock)
    assert not [check for check in plan.refusals if "EAGLE-3" in check.words]
    assert "draft" in [check.name for check in plan.checks]
