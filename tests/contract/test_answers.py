"""The stand-in of each release answers as the captured server of that release did."""

from __future__ import annotations

import contextlib
import json
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.dialects import VERSIONS
from tests.contract.exceptions import EXCEPTIONS
from tests.contract.questions import ARGUMENTS, NGRAM, QUESTIONS
from tests.contract.shapes import differences
from tests.contract.standin import StandIn, lay_host

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWERS = Path(__file__).parents[1] / "data/contract"


def captured(version: str) -> dict[str, Any]:
    """The answers of the real server of that release."""
    answers: dict[str, Any] = json.loads((ANSWERS / f"{version}.json").read_text())
    return answers


def compare(expected: Any, got: Any) -> list[str]:
    """Differences of shapes; of lists of lines, what is missing and what is new."""
    if isinstance(expected, list) and all(isinstance(line, str) for line in expected):
        missing = [f"no {line}" for line in expected if line not in got]
        return missing + [f"{line} is new" for line in got if line not in expected]
    return differences(expected, got)


@pytest.fixture(scope="module")
def answers(
    pythons: Callable[[str], Path], story: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, Any]]:
    """What the stand-in of a release answers, with the arguments of the captured server.

    Every question is put, in their order: what the log says at the end comes of the others.
    """

    @cache
    def ask(version: str) -> dict[str, Any]:
        host = lay_host(tmp_path_factory.mktemp("host"), story)
        arguments = ARGUMENTS + (NGRAM if version == "0.5.23" else ())
        server = StandIn(version, pythons(version), host, arguments)
        try:
            server.start()
            ask_while_it_starts(server)
            return {q.name: q.put(server) for q in QUESTIONS if q.name in captured(version)}
        finally:
            server.end()

    return ask


def ask_while_it_starts(server: StandIn) -> None:
    """As whoever captured the real ones did."""
    until = time.monotonic() + 20
    status = 0
    while status != 200:
        assert time.monotonic() < until, server.log()[-1500:]
        with contextlib.suppress(OSError):
            status = server.ask("GET", "/health").status
        time.sleep(0.02)


ASKED = [(q.name, v) for v in VERSIONS for q in QUESTIONS if q.name in captured(v)]
"""Every question that the real release of that version answered."""


@pytest.mark.parametrize(("question", "version"), ASKED)
def test_answer(question: str, version: str, answers: Callable[[str], dict[str, Any]]) -> None:
    found = compare(captured(version)[question], answers(version)[question])
    known = EXCEPTIONS.get((version, question), {})
    assert [one for one in found if one not in known] == []
    assert [one for one in known if one not in found] == []
