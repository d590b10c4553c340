"""What a streamed answer shows: when its events came, and how many tokens each brought."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

_TOKENS_NAME = b'"completion_tokens"'
_TOKENS = re.compile(rb'"completion_tokens"\s*:\s*(\d+)')
_DATA = b"data: "
_NATIVE = b'data: {"text":'
"""How nearly every piece of a native stream begins."""

_ANSWER_FIELDS = ("content", "tool_calls", "text")
_TEXT_FIELDS = (*_ANSWER_FIELDS, "reasoning_content", "reasoning")
MAX_EVENT_BYTES = 8 * 1024 * 1024


class EventReader:
    """Cuts server-sent events out of bytes in whatever pieces they come."""

    def __init__(self) -> None:
        self._held = b""
        self._skips_newline = False

    @property
    def is_between(self) -> bool:
        """An event begins with what comes next."""
        return not self._held and not self._skips_newline

    def feed(self, data: bytes) -> List[bytes]:
        """The `data` payloads of the events that `data` completes."""
        if self._skips_newline and data.startswith(b"\n"):
            data = data[1:]
        self._skips_newline = data.endswith(b"\r") or (self._skips_newline and not data)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        held = self._held + data
        events = held.split(b"\n\n")
        self._held = events.pop()
        if len(self._held) > MAX_EVENT_BYTES:
            raise ValueError("an event over 8 MiB")
        return [payload for payload in map(_payload, events) if payload]

    def end(self) -> List[bytes]:
        """The payload of a last event that no blank line follows."""
        payload = _payload(self._held)
        return [payload] if payload else []


def _is_one_event(data: bytes) -> bool:
    """`data` is the one line of an event and what ends it."""
    return data.endswith(b"\n\n") and data.find(b"\n") == len(data) - 2 and b"\r" not in data


def _payload(event: bytes) -> bytes:
    if event.startswith(b"data:") and b"\n" not in event:
        return event[5:].strip()
    lines = [line[5:].lstrip() for line in event.split(b"\n") if line.startswith(b"data:")]
    return b"\n".join(lines)


class StreamRecord:
    """The events of one streamed answer, native (`/generate`) or OpenAI-like (`choices`).

    Native events repeat the whole text, so only their token counter is read as they pass and only
    the last one is parsed; OpenAI-like events carry pieces, so each is parsed.
    """

    def __init__(self) -> None:
        self.chunks: List[List[Any]] = []
        """[time on the caller's clock, tokens that came with it or None]."""

        self.answered_at: Optional[float] = None
        """When the answer itself began, after any reasoning; None in a native stream."""

        self.error: Optional[str] = None
        self.final: Optional[Dict[str, Any]] = None
        self.text: List[str] = []
        self.has_ended = False
        self._events = EventReader()
        self._tokens = 0
        self._last: Optional[bytes] = None

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes that arrived at `now`."""
        if data.startswith(_NATIVE) and self._events.is_between and _is_one_event(data):
            self._take_native(data[len(_DATA) : -2], now)
            return
        for payload in self._events.feed(data):
            self._take(payload, now)

    def end(self, now: float) -> None:
        """The answer is over: read what the last event says."""
        for payload in self._events.end():
            self._take(payload, now)
        if self.final is None and self._last is not None:
            self.final = _parse(self._last)
            if self.final is None:
                self.error = self.error or "an event that is not JSON"

    def finish_reason(self) -> Any:
        """What the server said the end was, or None."""
        final = self.final or {}
        return (final.get("meta_info") or final).get("finish_reason")

    def _take(self, payload: bytes, now: float) -> None:
        if payload == b"[DONE]":
            self.has_ended = True
            return
        if b'"error"' in payload[:64] and self._take_error(payload):
            return
        if b'"meta_info"' in payload or b'"choices"' not in payload:
            self._take_native(payload, now)
        else:
            self._take_choices(payload, now)

    def _take_error(self, payload: bytes) -> bool:
        error = (_parse(payload) or {}).get("error")
        if not error:
            return False
        words = error.get("message", error) if isinstance(error, dict) else error
        self.error = self.error or str(words)[:300]
        return True

    def _take_native(self, payload: bytes, now: float) -> None:
        self._last = payload
        tokens = self._count(payload)
        if tokens:
            self.chunks.append([now, tokens])

    def _take_choices(self, payload: bytes, now: float) -> None:
        event = _parse(payload)
        if event is None:
            self.error = self.error or "an event that is not JSON"
            return
        final = self.final = dict(self.final or {})
        if event.get("usage"):
            final["usage"] = event["usage"]
        if event.get("sglext"):
            final["sglext"] = event["sglext"]
        tokens = self._count(payload)
        pieces: List[str] = []
        for choice in event.get("choices") or ():
            if choice.get("finish_reason"):
                final["finish_reason"] = choice["finish_reason"]
            delta = choice.get("delta") or choice
            pieces += _pieces(delta)
            if self.answered_at is None and any(delta.get(name) for name in _ANSWER_FIELDS):
                self.answered_at = now
        if pieces:
            self.chunks.append([now, tokens])
            self.text += pieces

    def _count(self, payload: bytes) -> Optional[int]:
        found = _TOKENS.match(payload, payload.rfind(_TOKENS_NAME))
        if not found:
            return None
        total = int(found.group(1))
        new, self._tokens = total - self._tokens, max(total, self._tokens)
        return new if new > 0 else 0


def _pieces(delta: Dict[str, Any]) -> List[str]:
    """Everything generated that a delta carries: text, reasoning and tool calls alike."""
    pieces = []
    for field in _TEXT_FIELDS:
        value = delta.get(field)
        if value:
            pieces.append(value if isinstance(value, str) else json.dumps(value))
    return pieces


def _parse(payload: bytes) -> Optional[Dict[str, Any]]:
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
