"""`specctl checkpoint` against a real sshd, as a user runs it."""

from __future__ import annotations

import json

import pytest

from specctl.services.host_files import MOST_BYTES
from tests.checkpoints import DRAFT_VOCABULARY, Directories
from tests.schemas import assert_valid
from tests.ssh.operator_side import OperatorSide


@pytest.fixture
def operator(lab):
    return OperatorSide(lab)


async def test_a_draft_is_checked_over_ssh_without_its_weights(lab, operator, tmp_path):
    await lab.server("gpu")
    operator.write_host("gpu")
    models = Directories(tmp_path / "models")
    target, draft, older = models.target(), models.draft(), models.draft("older")
    ran = operator.run("checkpoint", "gpu", target, draft, "--against", older, "--json")
    assert ran.status == 0, ran.err
    assert_valid(ran.json)
    assert ran.json["severity"] == "pass"
    assert ran.json["bytes_read"] <= MOST_BYTES
    assert ran.json["table_bytes"] == 2 * 8 * DRAFT_VOCABULARY
    assert ran.json["agreement"]["positions"] == DRAFT_VOCABULARY
    text = operator.run("checkpoint", "gpu", target, draft, "--algorithm", "EAGLE")
    assert text.status == 2
    assert "accept length exactly 1.00" in text.out
    assert '→ Set algorithm = "EAGLE3"' in text.out
    assert "no weights" in text.out.splitlines()[-1]


async def test_transcripts_and_profiles_of_the_operators_side(lab, operator, tmp_path):
    await lab.server("gpu")
    operator.write_host("gpu")
    models = Directories(tmp_path / "models")
    target, draft = models.target(), models.draft()
    profile = (
        f'model = "{target}"\n[speculation]\nalgorithm = "EAGLE3"\ndraft-model-path = "{draft}"\n'
    )
    (operator.workspace / "profiles/tiny.toml").write_text(profile)
    said = tmp_path / "said.jsonl"
    said.write_text(json.dumps([1, 2, 40, 0]) + "\n")
    ran = operator.run(
        "checkpoint", "gpu", "--profile", "tiny", "--transcripts", str(said), "--json"
    )
    assert ran.status == 0, ran.err
    assert ran.json["coverage"]["covered"] == 4
    assert ran.json["is_algorithm_asked"]
    said.write_text("nothing\n")
    operator.run("checkpoint", "gpu", target, draft, "--transcripts", str(said)).must_fail(
        2, "holds no token ids", hint="A line is"
    )
    operator.run("checkpoint", "gpu").must_fail(2, "name a target", hint="checkpoint --help")
