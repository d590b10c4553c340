"""What a running server can be told: flush, abort, thresholds, n-gram corpora."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import RefusedError, ServerAnswerError, UsageError
from specctl.domain.text import clean, shorten
from specctl.facts.capabilities import ways
from specctl.services.mutating import mutating
from specctl.services.stop import client_of, with_requests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.clock import Clock
    from specctl.adapters.sglang import Answer, SglangClient
    from specctl.domain.profile import Corpus
    from specctl.domain.server import Server
    from specctl.services.connection import Connection
    from specctl.services.measured_server import Keys

CORPUS_S = 600.0
"""A load runs at some 700,000 tokens per second; one at a time."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a draft is accepted without being the target's own choice; None leaves one as it is."""

    single: float | None = None
    """0-1: of one token."""

    accumulated: float | None = None
    """0-1: of the tokens so far."""

    def body(self) -> dict[str, float]:
        """As /set_internal_state names them."""
        named = {
            "speculative_accept_threshold_single": self.single,
            "speculative_accept_threshold_acc": self.accumulated,
        }
        return {name: value for name, value in named.items() if value is not None}


@mutating("flush")
async def flush(connection: Connection, server: Server, keys: Keys, clock: Clock) -> str:
    """Empty the prefix cache and the n-gram trie of a server of ours that runs nothing."""
    name = f"{connection.host.name}/{server.name}"
    if not server.is_ours:
        raise RefusedError(
            f"{name} was neither started nor adopted with specctl; its cache is not flushed",
            hint=f"specctl adopt {connection.host.name} PID",
        )
    known = await with_requests(connection, server, clock, keys)
    running = known.evidence.running_requests
    if running:
        raise RefusedError(
            f"{name} is running {running} requests; its cache is not flushed",
            hint="Wait until they have finished.",
        )
    await _tell(connection, server, keys, "flush")
    return f"{name}: prefix cache and n-gram trie flushed; external corpora stay"


@mutating("abort")
async def abort(connection: Connection, server: Server, keys: Keys) -> str:
    """End every request of a server of ours."""
    if not server.is_ours:
        raise RefusedError(
            f"{connection.host.name}/{server.name} is not under specctl's care",
            hint=f"specctl adopt {connection.host.name} PID",
        )
    await _tell(connection, server, keys, "abort", {"abort_all": True})
    return f"{connection.host.name}/{server.name}: requests aborted"


@mutating("thresholds")
async def set_thresholds(
    connection: Connection, server: Server, keys: Keys, thresholds: Thresholds
) -> str:
    """Change the accept thresholds; the lifetime accept length begins afresh."""
    body = thresholds.body()
    if not body:
        raise UsageError("no threshold is given", hint="--single 0.9, --accumulated 0.8")
    wrong = [value for value in body.values() if not 0 <= value <= 1]
    if wrong:
        raise UsageError(f"{wrong[0]:g} is no threshold", hint="Thresholds lie between 0 and 1.")
    answer = await _tell(connection, server, keys, "thresholds", {"server_args": body})
    if not _was_taken(answer):
        raise ServerAnswerError(
            f"{connection.host.name}/{server.name} did not take the thresholds",
            hint="Only a server that speculates with a draft model has them.",
        )
    shown = ", ".join(
        f"{key.removeprefix('speculative_')} {value:g}" for key, value in body.items()
    )
    return f"{connection.host.name}/{server.name}: {shown}; accept length counts afresh"


@mutating("corpus add")
async def add_corpus(connection: Connection, server: Server, keys: Keys, corpus: Corpus) -> str:
    """Load an n-gram corpus from a file of the host: JSON strings, one a line."""
    async with client_of(connection, server, keys) as client:
        return await _add(client, corpus, server.version)


@mutating("corpus remove")
async def remove_corpus(connection: Connection, server: Server, keys: Keys, name: str) -> str:
    """Take an n-gram corpus out."""
    await _tell(connection, server, keys, "corpus_remove", {"corpus_id": name})
    return f"{connection.host.name}/{server.name}: corpus {name} removed"


async def list_corpora(connection: Connection, server: Server, keys: Keys) -> dict[str, int | None]:
    """The n-gram corpora of a server and their tokens."""
    answer = await _tell(connection, server, keys, "corpus_list")
    counts = answer.get("corpus_token_counts")
    if not isinstance(counts, dict):
        return {}
    return {clean(str(k)): v if isinstance(v, int) else None for k, v in counts.items()}


async def load_corpora(
    client: SglangClient, corpora: Sequence[Corpus], version: str | None
) -> tuple[str, ...]:
    """Load a profile's corpora one after the other; each comes back with its outcome in words."""
    words = []
    for corpus in corpora:
        try:
            words.append(await _add(client, corpus, version))
        except ServerAnswerError as error:
            words.append(f"corpus {corpus.name} was not loaded: {error.message}")
    return tuple(words)


async def _add(client: SglangClient, corpus: Corpus, version: str | None) -> str:
    body = {"corpus_id": corpus.name, "file_path": corpus.path}
    answer = await _send(client, "corpus_add", version, body, timeout_s=CORPUS_S)
    tokens = answer.get("loaded_token_count")
    count = f", {tokens:,} tokens" if isinstance(tokens, int) else ""
    return f"corpus {corpus.name} loaded{count}"


async def _tell(
    connection: Connection,
    server: Server,
    keys: Keys,
    what: str,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    if server.port is None:
        raise UsageError(
            f"{connection.host.name}/{server.name}: its port is not known",
            hint="specctl status shows what is known of it.",
        )
    async with client_of(connection, server, keys) as client:
        return await _send(client, what, server.version, body)


async def _send(
    client: SglangClient,
    what: str,
    version: str | None,
    body: Mapping[str, Any] | None = None,
    *,
    timeout_s: float = 30,
) -> dict[str, Any]:
    """Ask in the way this version has; an answer that says it failed is an error."""
    found = ways(what, version)
    if not found:
        raise ServerAnswerError(
            f"SGLang {version} has no {what.replace('_', ' ')}",
            hint="specctl status shows versions.",
        )
    way = found[0]
    if way.method == "GET":
        answer = await client.get(way.path, timeout_s=timeout_s, admin=True)
    else:
        answer = await client.post(way.path, body or {}, timeout_s=timeout_s, admin=True)
    return _read(answer)


def _read(answer: Answer) -> dict[str, Any]:
    """JSON where it is JSON; `success: false`, with any status, is a refusal in its own words."""
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and value.get("success") is False:
        words = shorten(clean(str(value.get("message", "it gave no reason"))), 200)
        raise ServerAnswerError(f"{answer.path}: {words}", status=answer.status)
    answer.require_ok()
    if value is None:
        return {"text": shorten(clean(answer.text), 200)}
    return value if isinstance(value, dict) else {"value": value}


def _was_taken(answer: Mapping[str, Any]) -> bool:
    """0.5.23 answers a list with one flag per rank, earlier versions `updated`."""
    value = answer.get("updated", answer.get("value"))
    flags = value if isinstance(value, list) else [value]
    return all(flag is not False for flag in flags)
