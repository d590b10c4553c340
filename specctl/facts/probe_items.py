"""What the agent's probe measured of one request, turned into a RequestResult."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from specctl.domain.kept_output import pack_output
from specctl.domain.probe import RequestResult
from specctl.domain.text import clean
from specctl.domain.workload import explained_cached_tokens
from specctl.facts.generate import read_meta_info
from specctl.facts.numbers import fraction_of, list_of, mapping_of, text_of, whole_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.workload import Rendered

_REASONING = ("reasoning_content", "reasoning")
_TEXTS = (*_REASONING, "content")


def read_item(
    item: Mapping[str, Any], sent: Rendered, *, index: int, earlier: Sequence[Rendered] = ()
) -> RequestResult:
    """One item of the agent's `probe` stream; `earlier` are the prompts sent before it."""
    payload = _payload(item)
    error = text_of(item.get("error")) or _find_error(item, payload)
    meta = _meta(payload)
    counts = read_meta_info(meta)
    text = _text(item, payload)
    times, tokens = _chunks(item)
    prompt_tokens = counts.prompt_tokens
    return RequestResult(
        index=index,
        category=sent.prompt.category,
        prompt_tokens=prompt_tokens,
        completion_tokens=counts.completion_tokens,
        cached_tokens=counts.cached_tokens,
        verify_steps=counts.verify_steps,
        correct_drafts=counts.correct_drafts,
        proposed_drafts=counts.proposed_drafts,
        histogram=counts.histogram,
        server_latency_s=counts.server_latency_s,
        client_latency_s=fraction_of(item.get("latency_s")) or 0.0,
        ttft_s=times[0] if times else None,
        chunk_gaps_s=tuple(b - a for a, b in pairwise(times)) if tokens else (),
        chunk_tokens=tokens,
        finish=counts.finish,
        error=clean(error) if error else None,
        text_sha256=None if text is None else hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        server_ttft_s=fraction_of(meta.get("first_token_latency")),
        began_s=fraction_of(item.get("began_s")) or 0.0,
        explained_cached_tokens=explained_cached_tokens(sent, earlier, prompt_tokens or 0),
        is_repetition_asked=sent.prompt.is_repetition_asked,
        first_answer_s=fraction_of(item.get("first_answer_s")),
        is_reasoning_only=_is_reasoning_only(item, payload),
        retractions=counts.retractions,
        output=pack_output(_ids(payload), text),
    )


def _payload(item: Mapping[str, Any]) -> dict[str, Any]:
    if "final" in item:
        return mapping_of(item["final"])
    try:
        return mapping_of(json.loads(item.get("body") or "null"))
    except (ValueError, RecursionError):
        return {}


def _find_error(item: Mapping[str, Any], payload: Mapping[str, Any]) -> str | None:
    """Faults of an answer that came with status 200."""
    if payload.get("error"):
        return "error in answer"
    meta = _meta(payload)
    if not meta:
        return "malformed" if "body" in item else "truncated"
    counts = read_meta_info(meta)
    if counts.finish == "abort":
        return "aborted"
    if not counts.completion_tokens:
        return "no output"
    return None


def _meta(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The counters, in the form of /generate's `meta_info` whichever path was asked."""
    if "meta_info" in payload:
        return mapping_of(payload["meta_info"])
    usage = mapping_of(payload.get("usage"))
    if not usage:
        return {}
    details = mapping_of(mapping_of(payload.get("sglext")).get("spec_tokens_details"))
    cached = mapping_of(usage.get("prompt_tokens_details")).get("cached_tokens")
    return {
        **details,
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": cached,
        "finish_reason": payload.get("finish_reason") or _choice(payload).get("finish_reason"),
    }


def _choice(payload: Mapping[str, Any]) -> dict[str, Any]:
    choices = list_of(payload.get("choices"))
    return mapping_of(choices[0]) if choices else {}


def _text(item: Mapping[str, Any], payload: Mapping[str, Any]) -> str | None:
    """Everything generated, reasoning included; None where the answer does not hold it whole."""
    if text_of(item.get("text")):
        return text_of(item["text"])
    if isinstance(payload.get("text"), str):
        return text_of(payload["text"])
    message = mapping_of(_choice(payload).get("message"))
    parts = [part for name in _TEXTS if (part := text_of(message.get(name)))]
    return "".join(parts) or None


def _ids(payload: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Of /generate; None where the server does not give every one."""
    listed = list_of(payload.get("output_ids"))
    ids = [count for one in listed if (count := whole_of(one)) is not None]
    return tuple(ids) if ids and len(ids) == len(listed) else None


def _is_reasoning_only(item: Mapping[str, Any], payload: Mapping[str, Any]) -> bool:
    """Of a chat answer: a native one does not tell reasoning from the rest."""
    if "chunks" in item:
        is_chat = "usage" in payload or "finish_reason" in payload
        return is_chat and bool(text_of(item.get("text"))) and item.get("first_answer_s") is None
    message = mapping_of(_choice(payload).get("message"))
    has_answer = bool(message.get("content") or message.get("tool_calls"))
    return not has_answer and any(text_of(message.get(name)) for name in _REASONING)


def _chunks(item: Mapping[str, Any]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """(arrival times, tokens of each chunk); tokens are empty where a chunk does not tell."""
    chunks = [chunk for chunk in list_of(item.get("chunks")) if len(list_of(chunk)) > 1]
    times = tuple(fraction_of(chunk[0]) or 0.0 for chunk in chunks)
    tokens = tuple(count for chunk in chunks if (count := whole_of(chunk[1])) is not None)
    return times, tokens if len(tokens) == len(times) else ()
