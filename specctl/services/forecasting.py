"""Transcripts as token ids, and step costs from the ledger: what a forecast is made of."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.errors import UsageError
from specctl.domain.forecast.advice import CostTable
from specctl.domain.forecast.corpora import Document
from specctl.domain.forecast.forecasting import forecast
from specctl.domain.forecast.transcripts import Transcript
from specctl.domain.training import exact_label
from specctl.services.inspection import find_installs
from specctl.services.rendering import render_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from specctl.domain.forecast.answer import Forecast
    from specctl.domain.forecast.forecasting import Question
    from specctl.domain.profile import Profile
    from specctl.domain.run_figures import RunFigures
    from specctl.facts.exchanges import Exchange
    from specctl.services.connection import Connection

TIMEOUT_S = 300.0
MOST_TEXT_BYTES = 16 << 20
AS_IDS = "ids as they are"
SELDOM = (200_000, 3, 3)
"""Thresholds of the garbage collector: a trie is many small objects, and no garbage while it is
replayed on. With the usual ones the time per token doubles from 10,000 to 50,000 tokens."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Transcripts and documents as ids, and where those come from."""

    transcripts: tuple[Transcript, ...]
    documents: tuple[Document, ...]
    words: str = AS_IDS
    tokenizer_sha256: str | None = None
    template_sha256: str | None = None
    """None where no conversation was rendered."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What is to be tokenised."""

    name: str
    """Of the file of transcripts."""

    exchanges: Sequence[Exchange]
    documents: Sequence[tuple[str, str | tuple[int, ...]]] = ()
    """(name, text or ids) of an external corpus."""

    @property
    def need_a_tokenizer(self) -> bool:
        """Something is text."""
        has_text = any(isinstance(content, str) for _, content in self.documents)
        return has_text or any(one.is_text for one in self.exchanges)


def as_ids(texts: Texts) -> Tokens:
    """Without a host; raises UsageError for what would have to be tokenised."""
    if texts.need_a_tokenizer:
        raise UsageError(
            f"{texts.name} and the corpora hold texts: which tokens they are depends on the model",
            hint="Add --on HOST: its own tokenizer and chat template are asked.",
        )
    return _joined(texts, iter(()), AS_IDS)


async def tokenise(connection: Connection, profile: Profile, texts: Texts) -> Tokens:
    """By the tokenizer and chat template that the profile's server would use on this host."""
    if not texts.need_a_tokenizer:
        return as_ids(texts)
    items = [_item(one) for one in texts.exchanges if one.is_text]
    items += [{"output": text} for _, text in texts.documents if isinstance(text, str)]
    size = sum(len(str(item).encode("utf-8", "replace")) for item in items)
    if size > MOST_TEXT_BYTES:
        raise UsageError(
            f"{texts.name} and the corpora hold {size >> 20} MiB of text",
            hint=f"At most {MOST_TEXT_BYTES >> 20} MiB are tokenised: take the first lines.",
        )
    arguments = {key.replace("-", "_"): value for key, value in profile.arguments.items()}
    request = render_request({"model_path": profile.model, **arguments}, connection.host, ())
    python = (connection.host.python or connection.hello.executable,)
    request = {**request, "items": items}
    answer = await run_oneshot(
        connection.session, python, "tokenize_texts", request, timeout_s=TIMEOUT_S
    )
    tokenizer, template = answer["tokenizer_sha256"], answer.get("template_sha256")
    words = f"by the tokenizer {tokenizer[:12]} of {connection.host.name}"
    words += f" and chat template {template[:12]}" if template else ""
    found = _joined(texts, iter(answer["items"]), words)
    return replace(found, tokenizer_sha256=tokenizer, template_sha256=template)


def _item(one: Exchange) -> dict[str, Any]:
    if one.messages:
        talk = [{"role": role, "content": content} for role, content in one.messages]
        return {"messages": talk, "output": one.output}
    return {"prompt": one.prompt, "output": one.output}


def _joined(texts: Texts, tokenised: Iterator[Mapping[str, Any]], words: str) -> Tokens:
    transcripts, documents = [], []
    for one in texts.exchanges:
        prompt, output = one.prompt_ids, one.output_ids
        if one.is_text:
            ids = next(tokenised)
            prompt, output = tuple(ids["prompt_ids"]), tuple(ids["output_ids"])
        transcripts.append(Transcript(prompt, output, one.category, f"{texts.name}:{one.line}"))
    for name, content in texts.documents:
        tokens = content if isinstance(content, tuple) else tuple(next(tokenised)["output_ids"])
        documents.append(Document(name, tokens))
    return Tokens(tuple(transcripts), tuple(documents), words)


def work_out(question: Question, tell: Callable[[str], None]) -> Forecast:
    """The forecast; `tell` is told what begins. Raises UsageError when every answer is a loop."""
    with seldom_collected():
        return forecast(question, tell)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Python looks for garbage less often in the block."""
    usual = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


async def read_version_of(connection: Connection) -> str | None:
    """Of the SGLang that would be launched on a host; None when nothing there says."""
    installs = await find_installs(connection)
    return next((one.version for one in installs if one.is_active), None)


def cost_table(
    runs: Sequence[RunFigures], concurrency: int
) -> tuple[CostTable | None, float | None, tuple[str, ...]]:
    """(costs, time of a plain step, notes) from runs; raises UsageError where they say nothing.

    The step of an arm with a draft model holds the time of drafting, so that only arms that draft
    with NGRAM tell what verifying so many tokens costs.
    """
    base, steps, notes = [], {}, []
    names = ", ".join(run.run for run in runs)
    labels = {exact_label(run.trained_on) for run in runs}
    if len(labels) > 1:
        raise UsageError(
            f"{names}: these runs are of different training sets: {', '.join(sorted(labels))}",
            hint="Name runs that were all cold, or all warm after the same set.",
        )
    for run in runs:
        for arm in run.arms:
            if arm.concurrency != concurrency or arm.step_s is None:
                continue
            if arm.algorithm is None:
                base.append(arm.step_s)
            elif arm.algorithm == "NGRAM" and arm.draft_tokens is not None:
                steps[arm.draft_tokens] = arm.step_s
            elif arm.algorithm != "NGRAM":
                notes.append(
                    f"{arm.profile} of run {run.run} drafts with {arm.algorithm}: its step holds "
                    "the time of a draft model and says nothing of n-gram drafts"
                )
    if not base:
        raise UsageError(
            f"{names}: no plain step was measured at concurrency {concurrency}",
            hint="Name a trial against a baseline without speculation.",
        )
    base_s = sum(base) / len(base)
    table = CostTable(base_s, steps, f"measured in {names}") if steps else None
    return table, base_s, tuple(dict.fromkeys(notes))
