"""One scheduler in virtual time: queue, batches, KV use, speculation and what each step costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.lab.admission import Chunk, Reserve, choose_chunks
from specctl.lab.corpora import Corpora
from specctl.lab.costs import Weather
from specctl.lab.hashing import seed_of
from specctl.lab.kv_cache import KvCache
from specctl.lab.live import Live, accept
from specctl.lab.outcomes import (
    Emission,
    PrefillBatch,
    StepKind,
    StepOutcome,
    StepParts,
    VerifyBatch,
)
from specctl.lab.requests import Account, Finish, FinishKind
from specctl.lab.speculating import Speculation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.costs import Costs
    from specctl.lab.drafters import Drafter
    from specctl.lab.requests import Request
    from specctl.lab.setting import Setting
    from specctl.lab.text_model import TextModel

ABORTED = "Abort in waiting queue", "Abort by user"
NO_ROOM = (
    "Out of memory even after retracting all other requests in the decode batch. "
    "Aborting the last request."
)


class Engine:
    """Requests in, tokens out.

    `step()` does one prefill or decode step at once and says how long it would have taken; who
    drives the engine waits that long before handing the emissions on. Nothing here sleeps, reads
    a clock or starts a thread; it is not to be used from two threads.

    Unlike the real scheduler it never runs a step for a request that has just ended, as overlapped
    scheduling does once per request.
    """

    def __init__(
        self,
        setting: Setting,
        costs: Costs,
        model: TextModel,
        drafter: Drafter | None = None,
        *,
        seed: int = 0,
        boot: int = 0,
    ) -> None:
        self.setting = setting
        self.costs = costs
        self.model = model
        self.now_s = 0.0
        """Seconds of work done and idled so far."""

        self._speculation = None if drafter is None else Speculation(setting, costs, drafter)
        self._weather = Weather(costs.noise, seed=seed, boot=boot)
        self._cache = KvCache(setting.max_total_tokens, caches_prefixes=setting.caches_prefixes)
        self._reserve = Reserve()
        self._accounts: dict[str, Account] = {}
        self._waiting: list[Live] = []
        self._running: list[Live] = []
        self._begun: Live | None = None
        self._ended: list[Emission] = []
        self._submitted = seed_of("requests", seed, boot)
        self._corpora = Corpora(setting, drafter)

    # ------------------------------------------------ requests
    def submit(self, request: Request) -> None:
        """Queue a request; ValueError if its rid is in use or it has no tokens."""
        if request.rid in self._accounts:
            raise ValueError(f"request {request.rid} is here already")
        if not request.tokens:
            raise ValueError("a request needs at least one token")
        self._submitted += 1
        seed = self._submitted if request.seed is None else request.seed
        answer = self.model.start(request.tokens, temperature=request.temperature, seed=seed)
        longest = min(self.setting.context_length, self.setting.max_total_tokens) - 1
        room = max(1, longest - len(request.tokens) - 1)
        account = Account(prompt_tokens=len(request.tokens), submitted_s=self.now_s)
        self._accounts[request.rid] = account
        self._waiting.append(Live(request, account, answer, min(request.max_new_tokens, room)))

    def abort(self, rid: str) -> bool:
        """End a request, queued or running; its last emission comes with the next step."""
        live = next((live for live in self._everyone() if live.request.rid == rid), None)
        if live is None:
            return False
        message = ABORTED[live not in self._waiting]
        self._end(live)
        self._ended.append(Emission(rid, (), Finish(FinishKind.ABORT, message=message)))
        return True

    def abort_all(self) -> tuple[str, ...]:
        """End all of them; their rids."""
        rids = tuple(live.request.rid for live in self._everyone())
        for rid in rids:
            self.abort(rid)
        return rids

    def flush(self) -> bool:
        """Empty the prefix cache and the online trie; False (nothing done) while requests live."""
        if self._everyone():
            return False
        self._cache.flush()
        if self._speculation is not None:
            self._speculation.drafter.flush()
        return True

    def account(self, rid: str) -> Account:
        """The counters of a request, until it is forgotten; KeyError for an unknown one."""
        return self._accounts[rid]

    def forget(self, rid: str) -> None:
        """Drop the account of a finished request."""
        self._accounts.pop(rid, None)

    # ------------------------------------------------ looking
    @property
    def running(self) -> tuple[str, ...]:
        """The rids that hold KV slots, in the order they were taken in."""
        begun = [] if self._begun is None else [self._begun]
        return tuple(live.request.rid for live in (*self._running, *begun))

    @property
    def waiting(self) -> tuple[str, ...]:
        """The rids that are queued, first come first."""
        return tuple(live.request.rid for live in self._waiting)

    @property
    def has_work(self) -> bool:
        """Whether `step()` would do anything."""
        return bool(self._ended or self._everyone())

    @property
    def used_tokens(self) -> int:
        """KV slots held by running requests; what only the prefix cache holds is free."""
        return self._cache.used

    # ------------------------------------------------ external corpora (NGRAM)
    @property
    def corpora(self) -> Mapping[str, int]:
        """Tokens by corpus id, separators included."""
        return self._corpora.counts

    def add_corpus(self, corpus_id: str, documents: Sequence[Sequence[int]]) -> int:
        """Load documents and return the token count, separators included.

        Raises CorpusRefusedError: no NGRAM, id in use, no tokens, or over the token limit.
        """
        return self._corpora.add(corpus_id, documents)

    def remove_corpus(self, corpus_id: str) -> bool:
        """Whether there was one."""
        return self._corpora.remove(corpus_id)

    # ------------------------------------------------ working
    def idle(self, seconds: float) -> None:
        """Let time pass without work (the noise drifts on)."""
        self.now_s += seconds

    def step(self) -> StepOutcome:
        """Do the next piece of work; IDLE with duration 0 when there is none."""
        ended, self._ended = self._ended, []
        chunks = choose_chunks(
            self.setting,
            self._cache,
            self._reserve,
            begun=self._begun,
            waiting=self._waiting,
            running=self._running,
        )
        if chunks:
            return self._prefill(chunks, ended)
        if self._running:
            return self._decode(ended)
        self._reserve.reset()
        return self._outcome(StepKind.IDLE, 0, StepParts(0.0), ended)

    def _prefill(self, chunks: list[Chunk], ended: list[Emission]) -> StepOutcome:
        tokens = sum(chunk.tokens for chunk in chunks)
        has_draft_model = self._speculation is not None and self._speculation.drafter.has_model
        parts = self.costs.prefill(tokens, has_draft_model=has_draft_model)
        new = sum(chunk.live.lease is None for chunk in chunks)
        for chunk in chunks:
            self._compute(chunk)
        parts = self._pass(parts)
        emissions = [self._emit(chunk.live, chunk.live.answer.take(1)) for chunk in chunks
                     if chunk.is_last]  # fmt: skip
        pending = 0 if self._begun is None else self._begun.length - self._begun.computed
        pending += sum(live.length for live in self._waiting)
        batch = PrefillBatch(
            new_sequences=new,
            new_tokens=tokens,
            cached_tokens=sum(chunk.cached for chunk in chunks),
            pending_tokens=pending,
        )
        return self._outcome(
            StepKind.PREFILL, len(chunks), parts, [*ended, *emissions], prefill=batch
        )

    def _compute(self, chunk: Chunk) -> None:
        """Take the slots of a chunk, and let others use its prompt once it is complete."""
        live = chunk.live
        if live.lease is None:
            self._waiting.remove(live)
            live.lease = self._cache.open(live.text)
            live.computed = live.lease.shared
            live.account.cached_tokens = max(live.account.cached_tokens, live.lease.shared)
            if live.account.started_s is None:
                live.account.started_s = self.now_s
        self._cache.grow(live.lease, chunk.tokens)
        live.computed += chunk.tokens
        self._begun = None if chunk.is_last else live
        if chunk.is_last:
            self._cache.share(live.lease, live.text)
            self._running.append(live)

    def _decode(self, ended: list[Emission]) -> StepOutcome:
        width = 1 if self._speculation is None else self.setting.num_draft_tokens
        retracted, aborted = self._make_room(width)
        batch = list(self._running)
        if not batch:
            return self._outcome(StepKind.IDLE, 0, StepParts(0.0), [*ended, *aborted])
        if self._speculation is None:
            parts, verify = self.costs.decode(len(batch)), None
            taken = [live.answer.take(1) for live in batch]
        else:
            parts = self._speculation.cost(len(batch))
            taken, verify = self._speculation.verify(batch)
        parts = self._pass(parts)
        emissions = [self._emit(live, new) for live, new in zip(batch, taken, strict=True)]
        if not retracted:
            self._reserve.relax()
        return self._outcome(
            StepKind.DECODE,
            len(batch),
            parts,
            [*ended, *aborted, *emissions],
            verify=verify,
            decoded=sum(len(emission.tokens) for emission in emissions),
            retracted=retracted,
        )

    def _make_room(self, width: int) -> tuple[tuple[str, ...], list[Emission]]:
        """Send the requests with the least output back until all others can go on."""
        retracted: list[Live] = []
        while len(self._running) > 1 and self._cache.available < width * len(self._running):
            weakest = min(
                self._running, key=lambda live: (len(live.output), -len(live.request.tokens))
            )
            self._release(weakest, keeps_prefix=False)
            weakest.account.retractions += 1
            weakest.computed = 0
            retracted.append(weakest)
        self._waiting += retracted
        if retracted:
            self._reserve.tighten(self._running)
        if self._running and self._cache.available < width:
            last = self._running[0]
            finish = Finish(FinishKind.ABORT, message=NO_ROOM)
            self._end(last)
            return _rids(retracted), [Emission(last.request.rid, (), finish)]
        return _rids(retracted), []

    def _emit(self, live: Live, tokens: Sequence[int]) -> Emission:
        """Put tokens out; what of them is after the end is dropped."""
        if live.account.first_token_s is None:
            live.account.first_token_s = self.now_s
        count, finish = accept(live, tokens, self.model.tokenizer)
        new = tuple(live.output[len(live.output) - count :]) if count else ()
        if finish is not None:
            self._end(live)
        elif live.lease is not None:
            self._cache.grow(live.lease, live.length - live.computed - 1)
            live.computed = live.length - 1
        return Emission(live.request.rid, new, finish)

    def _end(self, live: Live) -> None:
        live.account.finished_s = self.now_s
        if live in self._waiting:
            self._waiting.remove(live)
        self._release(live, keeps_prefix=True)

    def _release(self, live: Live, *, keeps_prefix: bool) -> None:
        if self._begun is live:
            self._begun = None
        if live in self._running:
            self._running.remove(live)
        if live.lease is not None:
            kept = live.text[: live.computed] if keeps_prefix else None
            self._cache.close(live.lease, kept)
            live.lease = None
        if self._speculation is not None:
            self._speculation.drafter.forget(live.request.rid)

    def _pass(self, parts: StepParts) -> StepParts:
        parts = self._weather.blow(parts, self.now_s)
        self.now_s += parts.total_s
        return parts

    def _everyone(self) -> list[Live]:
        begun = [] if self._begun is None else [self._begun]
        return [*self._running, *begun, *self._waiting]

    def _outcome(
        self,
        kind: StepKind,
        batch_size: int,
        parts: StepParts,
        emissions: Sequence[Emission],
        *,
        prefill: PrefillBatch | None = None,
        verify: VerifyBatch | None = None,
        decoded: int = 0,
        retracted: tuple[str, ...] = (),
    ) -> StepOutcome:
        return StepOutcome(
            kind=kind,
            duration_s=parts.total_s,
            batch_size=batch_size,
            parts=parts,
            emissions=tuple(emissions),
            prefill=prefill,
            verify=verify,
            decoded_tokens=decoded,
            retracted=retracted,
            running=len(self._running),
            waiting=len(self._waiting),
            used_tokens=self._cache.used,
            sequence_tokens=sum(live.length for live in self._running),
        )


def _rids(lives: Sequence[Live]) -> tuple[str, ...]:
    return tuple(live.request.rid for live in lives)
