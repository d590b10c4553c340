"""Keys in PEM whose last line says by itself nothing of what it is."""

from __future__ import annotations

import pytest

from specctl.facts.key_blocks import redact_lines
from specctl.facts.log import LogReader, read_lines
from specctl.facts.redact import MASK, redact_text

BEGIN, END = "-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"
BODY = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"
LAST = "QyNTUxOQAAACB7kF9aXw12"
SHORT = "Qy12"
CLOSED = f"{BEGIN}{MASK}"


def test_by_itself_the_last_line_says_nothing() -> None:
    assert redact_text(LAST) == LAST


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([BEGIN, BODY, LAST, END, "ready"], [CLOSED, MASK, MASK, END, "ready"]),
        ([BEGIN, SHORT, END, SHORT], [CLOSED, MASK, END, SHORT]),
        ([BEGIN, "Proc-Type: 4,ENCRYPTED", "", BODY, LAST],
         [CLOSED, "Proc-Type: 4,ENCRYPTED", "", MASK, MASK]),
        ([BODY, LAST, "the server is ready"], [MASK, MASK, "the server is ready"]),
        ([BODY, "Killed", LAST], [MASK, "Killed", LAST]),
        ([BODY, "Terminated"], [MASK, "Terminated"]),
        ([LAST, "hf_token=***", LAST], [LAST, "hf_token=***", LAST]),
        ([f"{BEGIN} {BODY} {END}", LAST], [f"{BEGIN}{MASK}{END}", LAST]),
    ],
    ids=range(8),
)  # fmt: skip
def test_lines_of_a_key(lines: list[str], shown: list[str]) -> None:
    assert list(redact_lines(lines)) == shown
    assert [line.shown for line in read_lines(lines)] == [line for line in shown if line]


def test_a_key_in_a_log_that_comes_in_chunks() -> None:
    reader, log = LogReader(), f"{BEGIN}\n{BODY}\n{LAST}\n{END}\nready\n".encode()
    found = [line for place in range(len(log)) for line in reader.feed(log[place : place + 1])]
    assert [line.shown for line in found] == [CLOSED, MASK, MASK, END, "ready"]
