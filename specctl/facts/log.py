"""The log of a server: bytes to lines, and what its decode and prefill lines report.

Reports are read by key, never by position: between SGLang 0.4.1 and 0.5.23 the separator, the
order and the set of keys changed in every few releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.text import clean
from specctl.facts.key_blocks import KeyBlocks
from specctl.facts.log_lines import LineKind, LogLine, read_line, split_glued
from specctl.facts.numbers import fraction_of, whole_of
from specctl.facts.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_LINE_BYTES = 64 * 1024
CUT = " …(cut)"
_BREAK = re.compile(rb"[\r\n]")


class LogReader:
    """Turns chunks of a log, cut anywhere, into lines; keeps at most one line in memory."""

    def __init__(self, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._rest = bytearray()
        self._is_cut = False
        self._blocks = KeyBlocks()
        self.decode_lines = 0
        """Lines seen that hold the words of a decode report."""

        self.not_understood = 0
        """Of those, the ones that no number could be read from."""

    def feed(self, chunk: bytes) -> list[LogLine]:
        """The lines completed by `chunk`; a carriage return ends one drawing of a progress bar."""
        lines: list[LogLine] = []
        start = 0
        for place in _BREAK.finditer(chunk):
            self._keep(chunk[start : place.start()])
            lines.extend(self._end())
            start = place.end()
        self._keep(chunk[start:])
        return lines

    def finish(self) -> list[LogLine]:
        """The last line, when the log ended without a line break."""
        return self._end()

    def _keep(self, part: bytes) -> None:
        room = self._max - len(self._rest)
        self._is_cut = self._is_cut or len(part) > room
        self._rest += part[: max(room, 0)]

    def _end(self) -> list[LogLine]:
        text = self._rest.decode("utf-8", "replace") + (CUT if self._is_cut else "")
        self._rest.clear()
        self._is_cut = False
        lines = [line for line in read_lines((text,), self._blocks) if line.shown.strip()]
        for line in lines:
            self._count(line)
        return lines

    def _count(self, line: LogLine) -> None:
        if "Decode batch" in line.text:
            self.decode_lines += 1
            self.not_understood += read_decode(line.text) is None


def read_lines(texts: Iterable[str], blocks: KeyBlocks | None = None) -> list[LogLine]:
    """Whole lines, made safe, redacted, and taken apart where several writers share one.

    `blocks` is what earlier lines of the same log said of a key that they are in the middle of.
    """
    blocks = blocks or KeyBlocks()
    return [read_line(part) for text in texts for part in split_glued(_safe(text, blocks))]


def _safe(text: str, blocks: KeyBlocks) -> str:
    """Redacted twice: an escape sequence can hide a secret's name, and removing one can cut it."""
    redacted = redact_text(text)
    shown = clean(redacted)
    return blocks.mask(shown if shown == redacted else redact_text(shown))


@dataclass(frozen=True, slots=True)
class DecodeLine:
    """What one decode report says; None = that key was not in the line, or was cut off."""

    running: int | None = None
    queued: int | None = None
    tokens: int | None = None
    """In the KV pool."""

    token_usage: float | None = None
    """Share of the KV pool in use, 0-1."""

    tokens_per_s: float | None = None
    """Mean since the report before, idle time included."""

    accept_length: float | None = None
    """Drafts and bonus token per verify step, as in every version."""

    accept_rate: float | None = None
    """Defined differently before 0.5.6 and before 0.5.11: see `facts.accept_rate`."""

    uses_graph: bool | None = None
    iteration: int | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    """Every key of the line as written, the unknown ones too."""


@dataclass(frozen=True, slots=True)
class PrefillLine:
    """What one prefill report says."""

    new_requests: int | None = None
    new_tokens: int | None = None
    cached_tokens: int | None = None
    running: int | None = None
    """Requests that were already decoding."""

    queued: int | None = None
    input_tokens_per_s: float | None = None


_DECODE = re.compile(r"Decode batch(?: \[(?P<iteration>\d+)\])?[.,]?\s*(?P<pairs>.*)")
_PREFILL = re.compile(r"Prefill batch(?: \[\d+\])?[.,]?\s*(?P<pairs>.*)")
_GRAPH_KEYS = ("cuda graph", "cpu graph", "npu graph", "xpu graph", "graph")
_USAGE_KEYS = ("token usage", "full token usage", "gpu token usage")
_TOKEN_KEYS = ("#token", "#full token", "#gpu token", "#full")


def read_decode(text: str) -> DecodeLine | None:
    """A decode report, or None when the message is none or nothing in it can be read."""
    match = _DECODE.search(text)
    if match is None:
        return None
    values = _pairs(match["pairs"])
    line = DecodeLine(
        running=whole_of(values.get("#running-req")),
        queued=whole_of(values.get("#queue-req")),
        tokens=whole_of(_first(values, _TOKEN_KEYS)),
        token_usage=fraction_of(_first(values, _USAGE_KEYS)),
        tokens_per_s=fraction_of(values.get("gen throughput (token/s)")),
        accept_length=fraction_of(values.get("accept len")),
        accept_rate=fraction_of(values.get("accept rate")),
        uses_graph=_FLAGS.get(_first(values, _GRAPH_KEYS) or ""),
        iteration=whole_of(match["iteration"]),
        values=values,
    )
    return None if line.running is None and line.tokens_per_s is None else line


def read_prefill(text: str) -> PrefillLine | None:
    """A prefill report, or None when the message is none."""
    match = _PREFILL.search(text)
    if match is None:
        return None
    values = _pairs(match["pairs"])
    return PrefillLine(
        new_requests=whole_of(values.get("#new-seq")),
        new_tokens=whole_of(values.get("#new-token")),
        cached_tokens=whole_of(values.get("#cached-token")),
        running=whole_of(values.get("#running-req")),
        queued=whole_of(values.get("#queue-req")),
        input_tokens_per_s=fraction_of(values.get("input throughput (token/s)")),
    )


_FLAGS = {"True": True, "False": False}


def _pairs(text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in text.split(", "):
        key, colon, value = part.strip().rstrip(",").partition(": ")
        if colon and value:
            values[key] = value.strip()
    return values


def _first(values: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((values[key] for key in keys if key in values), None)


def is_decode(line: LogLine) -> bool:
    """Whether a line is a decode report that can be read."""
    return line.kind is LineKind.DECODE and read_decode(line.text) is not None
