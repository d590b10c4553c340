"""The stand-in of each release answers as the captured server of that release did."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.dialects import VERSIONS
from tests.contract.exceptions import EXCEPTIONS
from tests.contract.questions import ARGUMENTS, NGRAM, QUESTIONS, Question
from tests.contract.shapes import differences
from tests.contract.standin import StandIn, lay_host

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
def servers(
    pythons: Callable[[str], Path], story: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], StandIn]]:
    """The running stand-in of a release, with the arguments of the captured server."""
    running: dict[str, StandIn] = {}

    def find(version: str) -> StandIn:
        if version not in running:
            host = lay_host(tmp_path_factory.mktemp("host"), story)
            arguments = ARGUMENTS + (NGRAM if version == "0.5.23" else ())
            running[version] = server = StandIn(version, pythons(version), host, arguments)
            server.start()
            ask_while_it_starts(server)
        return running[version]

    yield find
    for server in running.values():
        server.end()


def ask_while_it_starts(server: StandIn) -> None:
    """As whoever captured the real ones did."""
    until = time.monotonic() + 20
    status = 0
    while status != 200:
        assert time.monotonic() < until, server.log()[-1500:]
        with contextlib.suppress(OSError):
            status = server.ask("GET", "/health").status
        time.sleep(0.02)


ASKED = [(q, v) for v in VERSIONS for q in QUESTIONS if q.name in captured(v)]
"""Every question that the real release of that version answered."""


@pytest.mark.parametrize(("question", "version"), ASKED, ids=str)
def test_answer(question: Question, version: str, servers: Callable[[str], StandIn]) -> None:
    found = compare(captured(version)[question.name], question.put(servers(version)))
    known = EXCEPTIONS.get((version, question.name), {})
    assert [one for one in found if one not in known] == []
    assert [one for one in known if one not in found] == []
