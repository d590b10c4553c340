"""The lab's server in parts: placement, configuration files, resolved sizes, the wire."""

from __future__ import annotations

import json
import socket
from argparse import Namespace
from typing import Any

import pytest

from specctl.lab.dialects import read_dialect_data
from specctl.lab.place import LabHost
from specctl.lab.server.arguments import human_readable_int, json_list_type, parse_arguments
from specctl.lab.server.config_file import merge_config
from specctl.lab.server.launch import Launch
from specctl.lab.server.pending import Pending, SchedulerLink
from specctl.lab.server.placing import choose_gpus, choose_instance
from specctl.lab.server.resolution import Arguments, Resolved
from specctl.lab.server.wire import Wire

ROWS: list[dict[str, Any]] = [
    {"index": index, "uuid": f"GPU-1ab0010{index}-0000", "memory_bytes": 80 << 30, "is_lost": False}
    for index in range(4)
]


def args(**more: Any) -> Namespace:
    values = {"device": "cuda", "tp_size": 1, "pp_size": 1, "base_gpu_id": 0, "gpu_id_step": 1}
    return Namespace(**{**values, **more})


# ---------------------------------------------------- placement
@pytest.mark.parametrize(
    ("more", "visible", "expected"),
    [
        ({}, None, (0,)),
        ({"tp_size": 4}, None, (0, 1, 2, 3)),
        ({"tp_size": 2, "base_gpu_id": 2}, None, (2, 3)),
        ({"tp_size": 2, "gpu_id_step": 2}, None, (0, 2)),
        ({"tp_size": 2}, "3,1", (3, 1)),
        ({}, "GPU-1ab00102-0000", (2,)),
        ({"device": "cpu", "tp_size": 4}, None, ()),
    ],
)
def test_gpus(more: dict[str, Any], visible: str | None, expected: tuple[int, ...]) -> None:
    assert choose_gpus(args(**more), ROWS, visible) == expected


@pytest.mark.parametrize("visible", ["0", "0,9,1", "nonsense"])
def test_too_few_gpus_are_visible(visible: str) -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        choose_gpus(args(tp_size=2), ROWS, visible)


def test_a_lost_gpu_is_not_there() -> None:
    rows = [{**row, "is_lost": row["index"] == 0} for row in ROWS]
    assert choose_gpus(args(), rows, None) == (1,)


def test_mig_instances() -> None:
    rows = [{**ROWS[0], "mig": [0, 2]}]
    scenario = {"scenario": "mig", "gpus": rows}
    second = "MIG-1ab00100-0000-0000-0000-000000000002"
    assert choose_gpus(args(), rows, second) == (0,)
    first_found = choose_instance(scenario, (0,), None)
    second_found = choose_instance(scenario, (0,), second)
    assert first_found is not None
    assert second_found is not None
    assert (first_found.position, second_found.position) == (0, 2)
    assert first_found.memory_bytes > second_found.memory_bytes
    assert choose_instance({"scenario": "mig", "gpus": ROWS}, (0,), None) is None


# ---------------------------------------------------- arguments
FLAGS = read_dialect_data("0.5.23", "flags")


def test_a_file_comes_before_the_command_line(tmp_path: Any) -> None:
    path = tmp_path / "flags.yaml"
    path.write_text(
        "# ours\napi-key: \"k: y\"\nport: 1\nenable-metrics: true\nenable-lora: false\n"
        "cuda-graph-bs-decode: [1, 2]\nchat-template: plain words # why\n"
    )  # fmt: skip
    found = merge_config(["--config", str(path), "--port", "2"], FLAGS)
    parsed = parse_arguments("0.5.23", ["--model-path", "x", "--config", str(path), "--port", "2"])
    assert found[-2:] == ["--port", "2"]
    assert (parsed.api_key, parsed.port, parsed.enable_metrics) == ("k: y", 2, True)
    assert parsed.enable_lora is False
    assert parsed.cuda_graph_bs_decode == [1, 2]
    assert parsed.chat_template == "plain words"


def test_the_one_word_form_is_ignored_in_silence(tmp_path: Any) -> None:
    path = tmp_path / "flags.yaml"
    path.write_text("port: 1\n")
    parsed = parse_arguments("0.5.23", ["--model-path", "x", f"--config={path}"])
    assert parsed.port == 30000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n- b\n", "dictionary at root level"),
        ("speculative-enable-w4a4-mxfp4-megamoe: true\n", "Unsupported action"),
    ],
)
def test_files_that_sglang_refuses(tmp_path: Any, text: str, words: str) -> None:
    path = tmp_path / "flags.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        merge_config(["--config", str(path)], FLAGS)


def test_numbers_with_units_and_lists() -> None:
    assert [human_readable_int(text) for text in ("12", "4k", "1.5M")] == [12, 4000, 1_500_000]
    assert json_list_type("[1, 2]") == [1, 2]


# ---------------------------------------------------- sizes
def launch(tmp_path: Any, config: dict[str, Any], **more: Any) -> Launch:
    scenario = {"gpus": ROWS, "models": {"m": {"weight_bytes": 40 << 30}}, "seed": 1}
    (tmp_path / "scenario.json").write_text(json.dumps(scenario))
    values = {
        "model_path": "/models/m", "tp_size": 2, "pp_size": 1, "mem_fraction_static": 0.5, **more,
    }  # fmt: skip
    resolved = Resolved(Arguments(values), {}, config, None)
    return Launch("0.5.23", resolved, (), LabHost(tmp_path), (0, 1))


def test_the_kv_cache_is_what_memory_has_room_for(tmp_path: Any) -> None:
    config = {"num_hidden_layers": 10, "num_key_value_heads": 8, "num_attention_heads": 8,
              "hidden_size": 1024}  # fmt: skip
    found = launch(tmp_path, config)
    assert found.weight_bytes == 20 << 30
    assert found.kv_bytes_per_token == 10 * 8 * 128 * 2 * 2 // 2
    assert found.kv_tokens == ((40 - 20) << 30) // found.kv_bytes_per_token
    assert launch(tmp_path, config, max_total_tokens=5000).kv_tokens == 5000


def test_latent_attention_keeps_one_vector_a_layer(tmp_path: Any) -> None:
    text = {"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    assert launch(tmp_path, {"text_config": text}).kv_bytes_per_token == 61 * 576 * 2


def test_ranks_and_their_tags(tmp_path: Any) -> None:
    found = launch(tmp_path, {}, tp_size=2, pp_size=2)
    assert [found.tag(rank) for rank in range(4)] == [
        " PP0 TP0",
        " PP0 TP1",
        " PP1 TP0",
        " PP1 TP1",
    ]
    assert found.title(3) == "sglang::scheduler_PP1_TP1"
    assert launch(tmp_path, {}, tp_size=1).tag(0) == ""


# ---------------------------------------------------- the wire
def test_messages_arrive_whole_however_they_are_cut() -> None:
    here, there = socket.socketpair()
    wire = Wire(there)
    here.sendall(b'{"a": 1}\n{"b"')
    assert wire.receive(1) == [{"a": 1}]
    here.sendall(b': "\xc3\xa9"}\n')
    assert wire.receive(1) == [{"b": "é"}]
    assert wire.receive(0) == []
    here.close()
    assert wire.receive(1) == []
    assert wire.is_closed


def started(tmp_path: Any, **scenario: Any) -> Launch:
    tmp_path.mkdir()
    found = launch(tmp_path, {})
    told = {**json.loads((tmp_path / "scenario.json").read_text()), **scenario}
    (tmp_path / "scenario.json").write_text(json.dumps(told))
    return found


def test_a_server_loads_as_quickly_as_it_is_told_to(tmp_path: Any) -> None:
    usual = started(tmp_path / "a").duration_s("weights")
    quick = started(tmp_path / "b", load_factor=0.2, durations={"capture": 5.0})
    assert quick.duration_s("weights") == pytest.approx(0.2 * usual)
    assert quick.duration_s("capture") == pytest.approx(1.0)
    assert quick.duration_s("health_timeout") == started(tmp_path / "c").duration_s(
        "health_timeout"
    )


def test_a_servers_times_are_those_of_its_engine() -> None:
    """However late its process woke up."""
    link = SchedulerLink(lambda _: None)
    pending = Pending("r", 3, received_s=100.0, dispatched_s=100.5)
    link.pending["r"] = pending
    account = {"submitted_s": 7.0, "first_token_s": 7.25, "finished_s": 9.0}
    link.last_heard_s = 180.0
    link._take_emission("r", [1, 2], {"kind": "length", "length": 2}, account)
    assert pending.first_s == pytest.approx(100.75)
    assert pending.finished_s == pytest.approx(102.5)
