from __future__ import annotations

import ast
import hashlib
import json
import zlib
from typing import Any

from specctl.adapters.bundle import (
    agent_bundle,
    agent_modules,
    holder_bundle,
    oneshot_bundle,
    pynvml_source,
)


def _content(payload: bytes) -> tuple[dict[str, Any], bytes]:
    header_line, _, rest = payload.partition(b"\n")
    header = json.loads(header_line)
    packed, after = rest[: header["size"]], rest[header["size"] :]
    assert hashlib.sha256(packed).hexdigest() == header["sha256"]
    return json.loads(zlib.decompress(packed)), after


def test_the_agent_travels_without_the_one_shots_and_parses_as_old_python():
    content, after = _content(agent_bundle(("python3",)).payload)
    assert content["main"] == "specctl_agent.main"
    assert "request" not in content
    assert not any(".oneshot" in name for name in content["modules"])
    assert {"specctl_agent", "specctl_agent.bootstrap", "specctl_agent.main"} <= set(
        content["modules"]
    )
    assert after == b""
    for name, source in content["modules"].items():
        ast.parse(source, name, feature_version=(3, 8))


def test_a_one_shot_carries_its_request_and_a_holder_is_given_it_after():
    content, _ = _content(oneshot_bundle(("python3",), "records", {"action": "é"}).payload)
    assert (content["main"], content["request"]) == (
        "specctl_agent.oneshot.records",
        {"action": "é"},
    )
    content, after = _content(holder_bundle(("python3",), "holder", {"a": 1}).payload)
    assert "request" not in content
    assert json.loads(after) == {"a": 1}


def test_every_bundle_has_a_marker_of_its_own_at_the_end_of_its_argv():
    first, second = (agent_bundle(("env", "python3")) for _ in range(2))
    assert first.argv[:4] == ("env", "python3", "-I", "-u")
    assert first.argv[-1] == first.marker != second.marker


def test_a_source_with_windows_line_ends_arrives_without():
    assert not any("\r" in source for source in agent_modules().values())


def test_nvidias_own_pynvml_is_found():
    source = pynvml_source()
    assert source is not None
    assert "def nvmlInit" in source
