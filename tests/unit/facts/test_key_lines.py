"""Lines of a key behind what each line of a log begins with, and lines that only look like one."""

from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specctl.facts.key_blocks import redact_lines
from specctl.facts.log import read_lines
from specctl.facts.redact import MASK, redact_text

BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
LINE = "CQnPvwC6MHAmnCLCLuOQJNh1la1xxnMb5XS6S48P07xUuRg4ptvbzNIEqTnPnde4"
LAST = "dBXwbp2J3jMVAcGXTTAJ4"
SHORT = "Qy12"
PREFIXES = [
    "2026-12-01T10:00:{n:02d}.{n:03d}Z stdout F ",
    "[2026-12-01 10:00:{n:02d} TP{n}] ",
    "Dec  1 10:00:{n:02d} gpu8 server[{n}]: ",
    "web-1  | ",
    "(server pid={n}) ",
    '{{"stream":"stdout","log":"',
    "    '",
]


def behind(prefix: str, lines: list[str], end: str = "") -> list[str]:
    return [prefix.format(n=n) + line + end for n, line in enumerate(lines)]


def end_of(prefix: str) -> str:
    return "\\n" + prefix[-1] if prefix[-1] in "'\"" else ""


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("first", [0, 1], ids=["whole", "without its first line"])
def test_lines_of_a_key_behind_a_prefix(prefix: str, first: int) -> None:
    lines = [BEGIN, LINE, LINE, LAST, END, "Killed", LAST]
    shown = [line.shown for line in read_lines(behind(prefix, lines, end_of(prefix))[first:])]
    masked = behind(prefix, ["", MASK, MASK, MASK, END, "Killed", LAST], end_of(prefix))
    assert shown[1 - first :] == masked[1:]


def test_a_key_that_was_seen_to_begin_has_a_last_line_however_short() -> None:
    for prefix in PREFIXES:
        lines = behind(prefix, [BEGIN, LINE, SHORT, END, SHORT], end_of(prefix))
        shown = list(redact_lines(lines))
        assert shown[2] == behind(prefix, ["", "", MASK], end_of(prefix))[2]
        assert shown[3:] == lines[3:]


def test_headers_of_a_key_behind_a_prefix() -> None:
    lines = behind(PREFIXES[0], [BEGIN, "Proc-Type: 4,ENCRYPTED", SHORT])
    assert list(redact_lines(lines))[1:] == [lines[1], lines[2].replace(SHORT, MASK)]


def test_what_stands_behind_another_prefix_is_of_no_key() -> None:
    lines = [f"a: {LINE}", f"b: {LAST}", f"a: {LAST}"]
    assert list(redact_lines(lines)) == [f"a: {MASK}", *lines[1:]]
    lines = ["login: password: ***", LAST, f"2: {LAST}"]
    assert list(redact_lines(lines)) == lines


def test_one_line_by_itself_and_in_the_words_of_another() -> None:
    assert redact_text(f"10:00:01 {LINE}") == f"10:00:01 {MASK}"
    assert redact_text(json.dumps({"log": f"{LINE}\n"})) == json.dumps({"log": f"{MASK}\n"})
    assert redact_text(f"a\nb {LINE}\nc") == f"a\nb {MASK}\nc"


@pytest.mark.parametrize(
    "word",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08",
        "checkpoints/Kimi2/FineTunes/RunWithLongName20251201/Epoch12/StepNumber4000",
        "SpeculativeDraftModelPathIsNotSetButTheAlgorithmIsEagle3AndTopKIs4Now",
        "ModelLayersSelfAttentionQueryKeyValueProjectionsAndTheirBiasesTogether",
        "1234567890123456789012345678901234567890123456789012345678901234",
        f"/models/{LINE}",
        f"SHA256:{LINE}",
        LINE + LINE,
        LINE[:59],
    ],
)
def test_words_that_are_no_line_of_a_key(word: str) -> None:
    for line in (f"10:00:01 {word}", f"'{word}'", f"{word} is read"):
        assert redact_text(line) == line


@given(
    st.from_regex(r"([abcxyzABZ0189 \[\]():|.,/_#-]{0,40}[ \]:|#,-])?", fullmatch=True),
    st.integers(0, 2**32),
    st.integers(1, 400),
    st.integers(20, 76),
)
@example(prefix="", seed=0, length=394, width=31)
def test_no_line_of_a_key_is_shown_behind_any_prefix(
    prefix: str, seed: int, length: int, width: int
) -> None:
    text = base64.b64encode(random.Random(seed).randbytes(length)).decode()
    body = [text[at : at + width] for at in range(0, len(text), width)]
    shown = list(redact_lines([prefix + line for line in [BEGIN, *body, END, "ready"]]))
    assert [line.strip() for line in shown[1:-2]] == [(prefix + MASK).strip()] * len(body)
    assert shown[-2:] == [prefix + END, prefix + "ready"]


# 60 letters and digits on end, with nothing else on their line, are taken for a line of a key
WORDS = st.one_of(
    st.sampled_from(["Decode batch,", "#running-req: 1,", "ready", "Killed", "INFO:", "|", "in"]),
    st.floats(0, 1e6).map("{:.2f}".format),
    st.integers(0, 2**70).map(str),
    st.text("0123456789abcdef", min_size=32, max_size=64),
    st.lists(st.sampled_from(["models", "Llama3", "8B", "run"]), max_size=8).map("/".join),
    st.lists(st.sampled_from(["Draft", "Model", "Runner", "Eagle3"]), max_size=9).map("".join),
)


@given(st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=6))
def test_ordinary_lines_are_shown_as_they_are(lines: list[str]) -> None:
    assert list(redact_lines(lines)) == lines
