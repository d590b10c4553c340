from __future__ import annotations

import sys

import pytest

from specctl.domain.errors import SpecctlError
from specctl.services import practice


@pytest.mark.parametrize(
    ("printed", "words", "hint"),
    [
        (
            "specctl: error: no compiler was found: cc\\nhint: Install gcc.",
            "the lab did not come up: no compiler was found: cc",
            "Install gcc.",
        ),
        ("Killed", "the lab did not come up: it ended with status 1", "specctl lab up says more."),
    ],
)
async def test_why_the_lab_did_not_come_up_is_what_its_command_said(
    monkeypatch, printed, words, hint
):
    code = f"import sys; sys.exit('{printed}')"
    monkeypatch.setattr(practice, "ARGV", (sys.executable, "-c", code))
    with pytest.raises(SpecctlError) as caught:
        await practice.bring_up_lab()
    assert (caught.value.message, caught.value.hint) == (words, hint)
