"""`meta_info`: the counters of one request, with the keys and in the order of each release."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specctl.lab.server.pending import Pending
    from specctl.lab.server.state import ServerState


def meta_info(
    state: ServerState, pending: Pending, tokens: int, *, is_first: bool, is_last: bool
) -> dict[str, Any]:
    """After `tokens` tokens; the final one has the counters of the whole request."""
    numbers = state.launch.numbers
    meta: dict[str, Any] = {
        "id": pending.rid,
        "finish_reason": finish_reason(pending) if is_last else None,
        "prompt_tokens": pending.prompt_tokens,
        "weight_version": state.launch.args.weight_version or "default",
    }
    if numbers > (0, 5, 2):
        meta |= _times_before(state, pending)
        meta["reasoning_tokens"] = 0
    meta["completion_tokens"] = tokens
    cached = _account(pending, "cached_tokens")
    meta["cached_tokens"] = cached
    if numbers > (0, 5, 10) and is_last:
        meta["weight_versions"] = [{"version": "default", "start": 0, "end": tokens}]
    if numbers > (0, 5, 2):
        meta["cached_tokens_details"] = {"device": cached, "host": 0}
        meta["dp_rank"] = None
    if is_last:
        meta["e2e_latency"] = (pending.finished_s or pending.received_s) - pending.received_s
        meta |= _speculation(state, pending, tokens)
    if numbers > (0, 5, 2) and state.launch.args.enable_metrics:
        meta |= _times_after(state, pending, tokens, is_first=is_first, is_last=is_last)
    return meta


def finish_reason(pending: Pending) -> dict[str, Any] | None:
    """As the answer shows it."""
    finish = pending.finish
    if finish is None:
        return None
    if finish["kind"] == "length":
        return {"type": "length", "length": finish["length"]}
    if finish["kind"] == "stop":
        return {"type": "stop", "matched": finish["matched"]}
    words = finish["message"] or "Abort in queue"
    return {"type": "abort", "message": words, "status_code": None, "err_type": None}


def _account(pending: Pending, name: str) -> int:
    return int(pending.account[name]) if pending.account else 0


def _times_before(state: ServerState, pending: Pending) -> dict[str, Any]:
    retractions = _account(pending, "retractions")
    waited = _wait_s(pending)
    first = pending.first_s or pending.received_s
    if state.launch.numbers <= (0, 5, 10):
        found = {"total_retractions": retractions}
        if state.launch.args.enable_metrics:
            found |= {
                "queue_time": waited,  # type: ignore[dict-item]
                "prefill_waiting_latency": None,  # type: ignore[dict-item]
                "prefill_launch_latency": None,  # type: ignore[dict-item]
            }
        return found
    return {
        "num_retractions": retractions,
        "storage_prefetch_wait": 0.0,
        "storage_staging_wait": 0.0,
        "forward_entry_time": pending.dispatched_s + waited,
        "prefill_finished_time": first,
        "queue_time": waited,
    }


def _wait_s(pending: Pending) -> float:
    account = pending.account
    if not account or account["started_s"] is None:
        return 0.0
    return max(0.0, float(account["started_s"]) - float(account["submitted_s"]))


def _times_after(
    state: ServerState, pending: Pending, tokens: int, *, is_first: bool, is_last: bool
) -> dict[str, Any]:
    now = time.time_ns() / 1e9
    if not is_last:
        return {"response_sent_to_client_ts": now} if is_first else {}
    first = pending.first_s or pending.received_s
    finished = pending.finished_s or now
    decoding = max(finished - first, 1e-9)
    meta = {"request_received_ts": pending.received_s}
    if state.launch.numbers > (0, 5, 10):
        meta["first_token_latency"] = first - pending.received_s
    meta["api_server_dispatch_finish_ts"] = pending.dispatched_s
    meta["request_finished_ts"] = finished
    if state.launch.numbers <= (0, 5, 10):
        meta["inference_time"] = finished - pending.dispatched_s
    meta["decode_throughput"] = max(0, tokens - 1) / decoding
    meta["response_sent_to_client_ts"] = now
    return meta


def _speculation(state: ServerState, pending: Pending, tokens: int) -> dict[str, Any]:
    """Absent where nothing speculates, and before the first verify step."""
    account = pending.account
    if not state.launch.algorithm or not account or not account["verify_steps"]:
        return {}
    steps, correct = account["verify_steps"], account["correct_drafts"]
    proposed, histogram = account["proposed_drafts"], account["histogram"]
    numbers = state.launch.numbers
    if numbers <= (0, 5, 2):
        return {"spec_verify_ct": steps}
    length = tokens / steps
    rate = correct / max(1, proposed)
    if numbers <= (0, 5, 10):
        return {
            "spec_accept_rate": rate,
            "spec_accept_length": length,
            "spec_accept_token_num": correct,
            "spec_draft_token_num": proposed,
            "spec_verify_ct": steps,
            "spec_accept_histogram": histogram,
        }
    return {
        "spec_accept_rate": rate,
        "spec_accept_length": length,
        "spec_num_correct_drafts": correct,
        "spec_num_proposed_drafts": proposed,
        "spec_verify_ct": steps,
        "spec_correct_drafts_histogram": histogram,
    }
