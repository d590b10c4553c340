"""What an action that ran once on a host says when it failed."""

from __future__ import annotations

import json
from typing import cast

import pytest

from specctl.adapters.oneshot import run_oneshot
from specctl.adapters.session import Finished, Session
from specctl.agent.bootstrap import explain
from specctl.agent.oneshot.launcher import LaunchError
from specctl.domain.errors import AgentError, RemoteFailedError


class Answering:
    """A session on which the action answers that it failed, or what is given."""

    host = "gpu8"

    def __init__(self, words="", answer=""):
        self._answer = answer or json.dumps({"error": {"kind": "error", "message": words}})

    async def run(self, argv, *, timeout_s, stdin):
        del timeout_s, stdin
        return Finished(tuple(argv), 0, f"noise\n{argv[-1]} {self._answer}\n".encode(), b"")


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("No space left on device: /srv/state", "Free some space"),
        ("nothing can be written to the lock gpu-0: the disk may be full", "Free some space"),
        ("/srv: write: EDQUOT Disk quota exceeded", "Free some space"),
        ("Read-only file system: /srv/state", "Name a state_dir that can be written to"),
        ("launch 5c0f exists already", ""),
    ],
)
async def test_what_to_do_about_a_disk_that_takes_nothing(words, step):
    with pytest.raises(RemoteFailedError) as caught:
        await run_oneshot(
            cast("Session", Answering(words)), ("python3",), "launcher", {}, timeout_s=1
        )
    assert caught.value.message == f"host gpu8: launcher: {words}"
    assert caught.value.hint.startswith(step)
    assert bool(caught.value.hint) == bool(step)
    assert "specctl doctor gpu8" in caught.value.hint or not step


@pytest.mark.parametrize("answer", ["{", "[]", "[" * 100_000])
async def test_a_damaged_answer_is_said_to_be_one(answer):
    session = cast("Session", Answering(answer=answer))
    with pytest.raises(AgentError, match="launcher gave a damaged answer"):
        await run_oneshot(session, ("python3",), "launcher", {}, timeout_s=1)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (LaunchError("nothing was started: lost"), "nothing was started: lost"),
        (OSError(28, "No space left on device", "/srv/x"), "No space left on device: /srv/x"),
        (OSError("python: not executable"), "OSError: python: not executable"),
        (ValueError("odd"), "ValueError: odd"),
        (KeyError(), "KeyError"),
        (LaunchError(), "LaunchError"),
    ],
)
def test_an_error_of_ours_needs_no_class_beside_it(error, words):
    assert explain(error) == words
