"""A number too long for `int`, or in digits of another script, is a text like any other."""

from __future__ import annotations

import time

import pytest

from specctl.domain.versions import read_version
from specctl.facts.checkpoint_files import read_tokens
from specctl.facts.hub_cache import read_hub
from specctl.facts.lint_source import read_known
from specctl.facts.listing import group_servers
from specctl.facts.log import read_lines
from specctl.facts.milestones import MilestoneTracker
from specctl.facts.preflight import read_ports
from specctl.facts.processes import read_processes
from specctl.facts.smi_table import read_table
from specctl.facts.topology import read_topology
from specctl.facts.vocabularies import read_counts
from tests.unit.facts.test_smi import DATA

LONG = "9" * 5000
ODD = [LONG, "\u00b2"]
SPEC = "srt/speculative/spec_info.py"


@pytest.mark.parametrize("odd", ODD, ids=["long", "squared"])
def test_it_names_no_token_port_node_or_version(odd):
    tokens = {odd: {"content": "<a>"}, "7": {"content": "<b>"}}
    assert read_tokens({}, None, {}, {"added_tokens_decoder": tokens}, "").specials == {7: "<b>"}
    assert read_counts({"counts": {odd: 1, "7": 2}})[0] == {7: 2}
    assert read_ports({odd: None, "7": None}) == {7: None}
    assert read_topology(f"\tGPU0\tNUMA Affinity\nGPU0\t X \t{odd}\n").numa == (None,)
    assert read_version(f"0.5.{odd}") is None
    index = '"total_size": ' + odd
    assert read_hub("a/b", "/hub", {"entries": []}, index=index).total_bytes is None


def test_it_names_no_visible_gpu():
    argv = ["python", "-m", "sglang.launch_server", "--model-path", "m"]
    row = {"pid": 7, "start_ticks": 1, "argv": argv, "environment": {"CUDA_VISIBLE_DEVICES": LONG}}
    (server,) = group_servers(read_processes({"boot_id": "b", "processes": [row]}))
    assert server.gpus is None


def test_a_table_of_long_numbers_has_no_memory_and_no_processes():
    text = (DATA / "smi-01-rtx5080-default-with-process.txt").read_text()
    (gpu,) = read_table(text.replace("14134MiB", LONG + "MiB")).gpus
    assert gpu.memory_used_bytes is None
    assert gpu.reason("memory_used_bytes").detail.startswith("not a number")
    (gpu,) = read_table(text.replace("214109", LONG)).gpus
    assert gpu.processes == ()


@pytest.mark.parametrize(
    "text",
    [
        "[TP" + LONG + "] Load weight begin.",
        "Capturing batches: 5%| | 3/" + LONG + " [00:01<00:02, 1it/s]",
        "Capturing batches: 5%| | 3/7 [00:01<" + LONG + ", 1it/s]",
        "Capturing batches: 5%| | 3/7 [00:01<" + "1:" * 300 + "1, 1it/s]",
    ],
    ids=["rank", "total", "left", "days"],
)
def test_a_line_of_a_log_with_one_is_read(text):
    tracker = MilestoneTracker(None)
    (line,) = read_lines((text,))
    tracker.feed(line)
    assert line.ranks == {}
    assert tracker.progress is None or (tracker.progress.remaining_s or 0) < 1e13


@pytest.mark.parametrize("unit", ["9", "0%|", "0%| 9/9", "0%|9"])
def test_the_bars_of_a_long_line_are_looked_for_in_one_pass(unit):
    begun = time.process_time()
    read_lines((("100%|" + unit * 65_536)[:65_536],))
    assert time.process_time() - begun < 3


@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "True"], ids=["long", "true"])
def test_defaults_of_the_source_may_be_any_number(value):
    text = f"""
def auto_choose_speculative_params(self):
    if arch in ["LlamaForCausalLM", {value}]:
        return (5, {value}, 6)
    return (1, 2, 3)
"""
    found = read_known({"srt/server_args.py": text}).automatic
    number = 1 if value == "True" else int(value, 0)
    assert found == {"LlamaForCausalLM": (5, number, 6), "": (1, 2, 3)}
