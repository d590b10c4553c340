"""A forecast beside what the NGRAM server of the installed SGLang did on the same answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from specctl.adapters.workloads import read_bundled
from specctl.adapters.workspace import Workspace, find_workspace
from specctl.domain.forecast.reading import read_settings
from specctl.domain.forecast.replay import add_up, replay
from specctl.domain.forecast.transcripts import Transcript

if TYPE_CHECKING:
    from tests.live.conftest import Operator

TOKENS = 96
WITHIN = 0.01


def post(operator: Operator, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the server answers, asked directly."""
    request = Request(
        f"http://127.0.0.1:{operator.port}{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=120) as answer:
        return dict(json.loads(answer.read()))


def generate(operator: Operator, ids: list[int]) -> dict[str, Any]:
    """One greedy answer with its token ids and counters."""
    parameters = {"temperature": 0, "max_new_tokens": TOKENS, "ignore_eos": True}
    return post(operator, "/generate", {"input_ids": ids, "sampling_params": parameters})


def workspace_of(operator: Operator) -> Workspace:
    return find_workspace(operator.folder / "ws", str(operator.folder / "ws"))


def check_forecast(operator: Operator) -> None:
    """The forecast is what the running n-gram server accepts."""
    operator.ok("server", f"gpu/{operator.server()['name']}", "flush", "--yes")
    texts = [one.text for one in read_bundled("tiny").prompts if one.text][:16]
    prompts = [post(operator, "/tokenize", {"prompt": text})["tokens"] for text in texts]
    answers = [generate(operator, ids) for ids in prompts]
    version = json.loads(operator.get("/server_info"))["version"]
    reading = read_settings(workspace_of(operator).profile("tiny-ngram"), version)
    transcripts = [
        Transcript(tuple(ids), tuple(one["output_ids"]))
        for ids, one in zip(prompts, answers, strict=True)
    ]
    found = add_up(
        replay(transcripts, reading.settings, is_one_step_stale=reading.is_one_step_stale)
    )
    steps = sum(one["meta_info"]["spec_verify_ct"] for one in answers)
    tokens = sum(one["meta_info"]["completion_tokens"] - 1 for one in answers)
    measured = tokens / steps
    assert measured > 1.2
    assert found.accept_length == pytest.approx(measured, rel=WITHIN)
