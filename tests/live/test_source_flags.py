"""What is read of the real build's source, against what its own parser says."""

from __future__ import annotations

import json
import subprocess

import pytest

from specctl.adapters.source_cache import SourceCache
from specctl.services.inspection import open_tree_here
from tests.live.conftest import ENVIRONMENT, PYTHON

pytestmark = pytest.mark.live

ASK = """
import argparse, json
from sglang.srt.server_args import ServerArgs
parser = argparse.ArgumentParser()
ServerArgs.add_cli_args(parser)
plain = (str, int, float, bool, type(None))
print(json.dumps([
    {
        "names": action.option_strings, "field": action.dest, "is_required": action.required,
        "nargs": action.nargs, "type": getattr(action.type, "__name__", None),
        "default": action.default if isinstance(action.default, plain) else repr(action.default),
        "choices": None if action.choices is None else sorted(map(str, action.choices)),
    }
    for action in parser._actions if action.dest != "help"
]))
"""
CONVERTERS = {"loads": "json", "json_list_type": "json", None: "str"}


async def test_every_flag_is_read_as_the_parser_has_it(tmp_path):
    done = subprocess.run([PYTHON, "-c", ASK], capture_output=True, text=True, check=True)
    actions = json.loads(done.stdout.strip().splitlines()[-1])
    tree = (await open_tree_here(ENVIRONMENT, cache=SourceCache(tmp_path))).tree
    assert tree.problems == ()
    assert len(tree.flags) == len(actions) > 500
    for action in actions:
        flag = tree.flag(action["names"][0])
        assert flag is not None, action
        found = {
            "names": sorted(flag.names),
            "field": flag.field_name,
            "is_required": flag.is_required,
            "takes_none": flag.is_switch,
            "nargs": flag.nargs,
            "default": flag.default,
            "choices": None if flag.choices is None else sorted(flag.choices),
        }
        assert found == {
            "names": sorted(action["names"]),
            "field": action["field"],
            "is_required": action["is_required"],
            "takes_none": action["nargs"] == 0,
            "nargs": None if action["nargs"] in {None, 0} else str(action["nargs"]),
            "default": action["default"],
            "choices": action["choices"],
        }
        if not flag.is_switch:
            assert flag.type == CONVERTERS.get(action["type"], action["type"])
