"""The cheap load reports: /v1/loads (0.5.8 and later) and /get_load before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from specctl.domain.errors import ServerAnswerError
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import ServerSample
from specctl.facts.log_meter import sum_known, weighted_accept_length
from specctl.facts.numbers import fraction_of, list_of, mapping_of, text_of, whole_of


@dataclass(frozen=True, slots=True)
class RankLoad:
    """One data-parallel rank."""

    rank: int
    timestamp_s: float | None
    """When the scheduler last published it, every 15 decode iterations by default."""

    running: int | None
    waiting: int | None
    token_usage: float | None
    tokens_per_s: float | None
    accept_length: float | None
    accept_rate: float | None
    max_running: int | None
    token_capacity: int | None


@dataclass(frozen=True, slots=True)
class Loads:
    """What a server says of its load."""

    source: str
    """`/v1/loads` or `/get_load`."""

    version: str | None
    ranks: tuple[RankLoad, ...]


def parse_loads(text: str) -> Loads:
    """Read the text of an answer; raises ServerAnswerError when it is none."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"the load report is not JSON: {error}"[:200]
        raise ServerAnswerError(message, hint="Ask /metrics or /server_info instead.") from None
    return read_loads(payload)


def read_loads(payload: Any) -> Loads:
    """Read an answer of any of the three shapes; raises ServerAnswerError when it is none."""
    if isinstance(payload, dict) and isinstance(payload.get("loads"), list):
        ranks = tuple(_rank(mapping_of(item), place) for place, item in _placed(payload["loads"]))
        return Loads("/v1/loads", text_of(payload.get("version")), ranks)
    if isinstance(payload, dict) and whole_of(payload.get("load")) is not None:
        return Loads("/get_load", None, (_rank({"num_running_reqs": payload["load"]}, 0),))
    if isinstance(payload, list) and payload and all(isinstance(item, dict) for item in payload):
        return Loads("/get_load", None, tuple(_old_rank(i, place) for place, i in _placed(payload)))
    message = "the answer is no load report"
    raise ServerAnswerError(message, hint="Ask /metrics or /server_info instead.")


def _placed(items: list[Any]) -> list[tuple[int, Any]]:
    return list(enumerate(list_of(items)))


def _rank(item: dict[str, Any], place: int) -> RankLoad:
    speculative = mapping_of(item.get("speculative"))
    rank = whole_of(item.get("dp_rank"))
    return RankLoad(
        rank=place if rank is None else rank,
        timestamp_s=fraction_of(item.get("timestamp")),
        running=whole_of(item.get("num_running_reqs")),
        waiting=whole_of(item.get("num_waiting_reqs")),
        token_usage=fraction_of(item.get("token_usage")),
        tokens_per_s=fraction_of(item.get("gen_throughput")),
        accept_length=_length(speculative.get("accept_length")),
        accept_rate=fraction_of(speculative.get("accept_rate")),
        max_running=whole_of(item.get("max_running_requests")),
        token_capacity=whole_of(mapping_of(item.get("memory")).get("token_capacity")),
    )


def _old_rank(item: dict[str, Any], place: int) -> RankLoad:
    """`num_reqs` counts the waiting ones too."""
    every, waiting = whole_of(item.get("num_reqs")), whole_of(item.get("num_waiting_reqs"))
    running = None if every is None else max(0, every - (waiting or 0))
    return _rank({**item, "num_running_reqs": running}, place)


def _length(value: Any) -> float | None:
    """0 stands for no report yet; a verify step emits at least one token."""
    length = fraction_of(value)
    return length if length is not None and length >= 1 else None


def loads_sample(
    loads: Loads,
    previous: Loads | None,
    *,
    time_s: float,
    is_speculating: bool | None = None,
) -> ServerSample:
    """A sample of the server; rates are stale once no rank has published since `previous`."""
    ranks = loads.ranks
    running = sum_known(rank.running for rank in ranks)
    is_idle = running == 0
    is_old = not is_idle and previous is not None and _stamps(loads) == _stamps(previous) != ()
    missing = _missing(loads, is_idle=is_idle, is_old=is_old, is_speculating=is_speculating)
    length = None if "accept_length" in missing else _mean_length(ranks)
    rate = None if "tokens_per_s" in missing else _rate(ranks, is_idle=is_idle)
    return ServerSample(
        time_s,
        loads.source,
        tokens_per_s=rate,
        accept_length=length,
        accept_length_scope=None if length is None else "interval",
        running_requests=_whole(running),
        queued_requests=_whole(sum_known(rank.waiting for rank in ranks)),
        token_usage=max((r.token_usage for r in ranks if r.token_usage is not None), default=None),
        is_idle=is_idle,
        has_moved=_has_moved(loads, previous),
        missing=missing,
    )


def _missing(
    loads: Loads,
    *,
    is_idle: bool,
    is_old: bool,
    is_speculating: bool | None,
) -> dict[str, Missing]:
    missing: dict[str, Missing] = {}
    if loads.source != "/v1/loads":
        no_rate = Missing(Why.NOT_SUPPORTED, f"{loads.source} has no throughput")
        return dict.fromkeys(("tokens_per_s", "accept_length", "token_usage"), no_rate)
    if is_old:
        missing["tokens_per_s"] = Missing(Why.STALE, "no rank has published since the last look")
    if is_speculating is False:
        missing["accept_length"] = Missing(Why.NOT_SPECULATING)
    elif _mean_length(loads.ranks) is None:
        missing["accept_length"] = Missing(Why.NO_WINDOW)
    elif is_old or is_idle:
        missing["accept_length"] = Missing(Why.STALE, "no request runs, or nothing new published")
    return missing


def _rate(ranks: tuple[RankLoad, ...], *, is_idle: bool) -> float | None:
    return 0.0 if is_idle else sum_known(rank.tokens_per_s for rank in ranks)


def _mean_length(ranks: tuple[RankLoad, ...]) -> float | None:
    return weighted_accept_length(
        [(r.accept_length, r.tokens_per_s) for r in ranks if r.accept_length is not None]
    )


def _has_moved(loads: Loads, previous: Loads | None) -> bool | None:
    if previous is None or not _stamps(loads) or not _stamps(previous):
        return None
    return _stamps(loads) != _stamps(previous)


def _stamps(loads: Loads) -> tuple[float, ...]:
    return tuple(rank.timestamp_s for rank in loads.ranks if rank.timestamp_s is not None)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
