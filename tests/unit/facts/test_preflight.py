from __future__ import annotations

import pytest

from specctl.domain.preflight import HubState, SurvivalReading
from specctl.facts import preflight
from specctl.facts.hub_cache import cache_dir, is_path, read_hub, repository_dir
from specctl.facts.preflight import read_faults
from tests.unit.facts.captures import case

REPOSITORY = "moonshotai/Kimi-K2.5"
COMMIT = "abc123"


def entries(*names, kind="file", blobs=("aa", "bb"), size=10):
    rows = [["refs", "directory", 0, 0], ["refs/main", "file", 40, 0]]
    rows += [[f"blobs/{name}", "file", size, 0] for name in blobs]
    return {"entries": rows + [[f"snapshots/{COMMIT}/{name}", kind, size, 0] for name in names]}


SHARDS = tuple(f"model-{n:05d}-of-00003.safetensors" for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("walk", "state"),
    [
        (None, HubState.ABSENT),
        (entries(), HubState.ABSENT),
        (entries("config.json", "model.safetensors"), HubState.COMPLETE),
        (entries("config.json", *SHARDS), HubState.COMPLETE),
        (entries("config.json", *SHARDS[:2]), HubState.PARTIAL),
        (entries("config.json", "tokenizer.json"), HubState.PARTIAL),
        (entries("model.safetensors"), HubState.PARTIAL),
        (entries("config.json", *SHARDS, blobs=("aa", "bb.incomplete")), HubState.PARTIAL),
        (entries("config.json", "model.safetensors", kind="link"), HubState.PARTIAL),
        (entries(blobs=("aa.incomplete",)), HubState.PARTIAL),
    ],
)
def test_how_much_of_a_repository_is_there(walk, state):
    assert read_hub(REPOSITORY, "/hub", walk, commit=COMMIT).hub is state


def test_sizes_and_unfinished_files():
    walk = entries("config.json", blobs=("aa", "bb.incomplete"), size=100)
    index = '{"metadata": {"total_size": 600}, "weight_map": {'
    model = read_hub(REPOSITORY, "/hub", walk, commit=COMMIT, index=index)
    assert (model.have_bytes, model.total_bytes) == (200, 600)
    assert model.unfinished == ("blobs/bb.incomplete",)


def test_a_cache_that_cannot_be_read_is_unknown():
    model = read_hub(REPOSITORY, "/hub", None, detail="Permission denied")
    assert (model.hub, model.detail) == (HubState.UNKNOWN, "Permission denied")


def test_another_revision_is_not_this_one():
    walk = entries("config.json", "model.safetensors")
    assert read_hub(REPOSITORY, "/hub", walk, commit="other").hub is HubState.ABSENT


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/srv/m", True),
        ("~/m", True),
        ("./m", True),
        ("a/b/c", True),
        ("gpt2", False),
        (REPOSITORY, False),
    ],
)
def test_paths_and_repositories(name, path):
    assert is_path(name) is path


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({}, "~/.cache/huggingface/hub"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/huggingface/hub"),
        ({"HF_HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/h/hub"),
        ({"HF_HUB_CACHE": "/x", "HF_HOME": "/h"}, "/x"),
    ],
)
def test_where_the_cache_is(environment, place):
    assert cache_dir(environment) == place
    assert repository_dir(place, REPOSITORY) == f"{place}/models--moonshotai--Kimi-K2.5"


@pytest.mark.parametrize(
    ("namespace", "enter", "comparable"),
    [
        ("pid:[4026531836]", (), True),
        ("pid:[4026531836]", ("docker",), False),
        ("pid:[4026532999]", (), False),
        (None, (), False),
    ],
)
def test_whose_pids_a_driver_names(namespace, enter, comparable):
    assert preflight.are_pids_comparable(namespace, enter) is comparable


def test_ports_and_their_holders():
    answer = {"30000": None, "30001": {"owner_pid": 7, "uid": 0, "address": "127.0.0.1"}, "x": 1}
    found = preflight.read_ports(answer)
    assert found[30000] is None
    assert str(found[30001]) == "pid 7 (uid 0)"
    assert set(found) == {30000, 30001}


@pytest.mark.parametrize(
    ("reading", "survival"),
    [
        (None, SurvivalReading()),
        ({"systemd": False}, SurvivalReading(kills_processes=False, removes_ipc=False)),
        (
            {
                "systemd": True,
                "settings": {"KillUserProcesses": {"value": "yes"}, "RemoveIPC": {"value": "no"}},
                "linger": False,
                "user_manager": True,
                "loginctl": None,
            },
            SurvivalReading(True, False, True, False),
        ),
        (
            {
                "systemd": True,
                "settings": {"KillUserProcesses": {"value": "no"}},
                "linger": None,
                "user_manager": None,
                "loginctl": {"KillUserProcesses": "yes", "Linger": "yes"},
            },
            SurvivalReading(True, True, None, None),
        ),
    ],
)
def test_c11_what_ends_processes_at_logout(reading, survival):
    assert preflight.read_survival(reading) == survival


def test_b10_fault_lines_come_from_the_kernel_log():
    lines = [line for line in case("B10").splitlines() if "NVRM" in line]
    assert read_faults({"lines": [f"{lines[0]}\x1b[0m", 7], "why": None}) == (lines[0],)
    assert read_faults({"lines": None, "why": "Operation not permitted"}) is None
    assert read_faults({"error": "timed out"}) is None


def test_c12_first_usable_state_directory_and_what_failed_before():
    rows = [
        {"path": "/home/op/.local", "usable": False, "call": "mkdir", "error": "denied (EACCES)"},
        {"path": "/var/tmp/specctl-1000", "usable": True},
        {"path": "/dev/shm/x", "usable": True},
    ]
    path, failures = preflight.read_state_dir(rows)
    assert path == "/var/tmp/specctl-1000"
    assert failures == ("/home/op/.local: mkdir: denied (EACCES)",)
    assert preflight.read_state_dir(rows[:1])[0] is None


def test_hostile_lock_files_are_only_words():
    lock = preflight.read_lock("gpu-0", {"who": "\x1b[31mroot\x07", "since_s": "x", "pid": -1})
    assert "\x1b" not in str(lock)
    assert (lock.since_s, lock.pid) == (None, None)
    assert preflight.read_lock("gpu-0", "garbage").who == "somebody"


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"argv": ["sglang::scheduler_TP0"], "title": "sglang::schedul"}, "sglang::scheduler_TP0"),
        ({"argv": ["python", "-m", "x"], "title": "python"}, "python"),
        ({"argv": [], "title": "python"}, "python"),
    ],
)
def test_what_a_process_calls_itself(row, title):
    assert preflight.title_of(row) == title
