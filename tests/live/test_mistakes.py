"""Command lines that real SGLang refuses: the stand-in ends as it does."""

from __future__ import annotations

import pytest

from tests.contract.shapes import line_shape
from tests.contract.standin import StandIn, lay_host, lay_python
from tests.contract.story import STORY
from tests.live.conftest import MODELS, PYTHON, run_out

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
VERSION = "0.5.23"
COMMAND = ("-m", "sglang.launch_server")

MISTAKES = {
    "no such flag": ("--model-path", "MODEL", "--speculative-num-stepz", "3"),
    "no such algorithm": ("--model-path", "MODEL", "--speculative-algorithm", "EAGLE9"),
    "no such choice": ("--model-path", "MODEL", "--attention-backend", "none"),
    "no number": ("--model-path", "MODEL", "--port", "high"),
    "no model named": ("--port", "31000"),
    "no such model": ("--model-path", "/nowhere/model", "--device", "cpu"),
}
"""Command lines that end before anything is launched."""


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    folder = tmp_path_factory.mktemp("stand-in")
    return StandIn(VERSION, lay_python(folder / "venv", VERSION), lay_host(folder / "host", STORY))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_real_sglang_and_the_stand_in_alike(mistake: str, stand_in: StandIn):
    words = MISTAKES[mistake]
    real = run_out((PYTHON, *COMMAND), words, str(MODELS / "target"))
    lab = {"SPECCTL_LAB_HOST": str(stand_in.host.folder), "HOME": str(stand_in.host.home)}
    ended = run_out((stand_in.python, *COMMAND), words, stand_in.model, **lab)
    assert ended.status == real.status
    assert line_shape(ended.last_line) == line_shape(real.last_line)
