"""What a request of a probe is told as: its whole answer, or the record of its stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .probe_http import BrokenAnswerError
from .probe_stream import StreamRecord

if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

MAX_BODY_BYTES = 384 * 1024
"""Of an answer that is handed on whole; an item has to fit one line of the protocol."""

MAX_ERROR_CHARACTERS = 500
OK = 200


class Answer:
    """Collects one answer."""

    def __init__(self, *, is_streamed: bool) -> None:
        self.record = StreamRecord() if is_streamed else None
        self.body: List[bytes] = []
        self.size = 0

    def take(self, status: Optional[int], data: bytes, now: float) -> None:
        """Take a piece of the body that came at `now`; raises BrokenAnswerError."""
        if self.record is not None and status == OK:
            try:
                self.record.feed(data, now)
            except ValueError as error:
                raise BrokenAnswerError("malformed", str(error)) from error
            return
        self.size += len(data)
        if self.size > MAX_BODY_BYTES:
            raise BrokenAnswerError("malformed", "an answer over 384 KiB")
        self.body.append(data)

    def whole(self, status: Optional[int], sent_at: float, ended_at: float) -> Dict[str, Any]:
        """The fields of an item whose answer came to its end."""
        text = b"".join(self.body).decode("utf-8", "replace")
        if status != OK:
            return {"error": "http %s" % status, "detail": text[:MAX_ERROR_CHARACTERS]}
        if self.record is None:
            return {"body": text}
        self.record.end(ended_at)
        found = _describe(self.record, sent_at)
        if self.record.error is not None:
            found.update(error="error in stream", detail=self.record.error)
        elif not (self.record.has_ended or self.record.finish_reason()):
            found.update(error="truncated", detail="the stream ended without [DONE] or a reason")
        return found

    def partial(self) -> Dict[str, Any]:
        """How far a stream came before it broke off."""
        return {} if self.record is None else {"chunks_before": len(self.record.chunks)}


def _describe(record: StreamRecord, sent_at: float) -> Dict[str, Any]:
    final = dict(record.final or {})
    final.pop("output_ids", None)
    chunks = [[round(at - sent_at, 6), tokens] for at, tokens in record.chunks]
    found: Dict[str, Any] = {"chunks": chunks, "final": final, "text": "".join(record.text)}
    if record.answered_at is not None:
        found["first_answer_s"] = round(record.answered_at - sent_at, 6)
    return found
