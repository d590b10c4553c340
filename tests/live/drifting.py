"""A real server against its profile, its record and the tree it runs from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.schemas import assert_valid

if TYPE_CHECKING:
    from tests.live.conftest import Operator


def write_profile(operator: Operator) -> None:
    """An n-gram profile with a top-k, which the engine does not take from it."""
    profile = operator.folder / "ws/profiles/tiny-topk.toml"
    profile.write_text('extends = "tiny-ngram"\n[speculation]\neagle-topk = 4\n')


def check_drift(operator: Operator) -> None:
    """What the running server made of that profile, and what changed since."""
    profile = operator.folder / "ws/profiles/tiny-topk.toml"
    name = operator.server()["name"]
    (record,) = (operator.folder / "state/launches").glob("*/launch.json")
    kept = json.loads(record.read_text())
    assert kept["version"] == "0.5.23"
    assert len(kept["tree_hash"]) == 32

    ran = operator.ok("drift", f"gpu/{name}", "--json")
    assert_valid(ran.json)
    (server,) = ran.json["servers"]
    assert server["missing"] == {}
    assert server["build"]["changed_files"] == 0
    rows = {(row["key"], row["cause"]): row for row in server["rows"]}
    assert set(rows) == {("speculative-eagle-topk", "engine")}
    row = rows["speculative-eagle-topk", "engine"]
    assert row["running"] == "4"
    assert row["resolved"] != "4"
    assert "breadth" in row["words"]

    profile.write_text(
        'extends = "tiny-ngram"\n[arguments]\nlog-level = "debug"\n'
        "[speculation]\nnum-draft-tokens = 4\n"
    )
    changed = operator.run("drift", f"gpu/{name}", "--json")
    assert changed.status == 5
    causes = {row["key"]: row["cause"] for row in changed.json["servers"][0]["rows"]}
    assert causes["log-level"] == causes["speculative-num-draft-tokens"] == "profile"
