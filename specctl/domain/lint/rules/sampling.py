"""How drafts are accepted: rejection sampling, block verification, thresholds, windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.lint.rules.eagle import is_family
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

REJECTION = "speculative-use-rejection-sampling"
BLOCK = "speculative-use-block-verification"
SINGLE, ACC = "speculative-accept-threshold-single", "speculative-accept-threshold-acc"
WINDOW, SINK = "speculative-draft-window-size", "speculative-draft-sink-size"


def _blocks_of(case: Case) -> Iterator[Hit]:
    named = {"EAGLE", "EAGLE3", "DFLASH", "DSPARK"}
    if case.is_on(BLOCK) and case.algorithm not in named:
        who = case.algorithm or "a server without an algorithm"
        yield Hit(BLOCK, f"{who} has no block verification", "leave it out")


def _blocks_on(case: Case) -> Iterator[Hit]:
    named = {"EAGLE", "EAGLE3", "DFLASH", "DSPARK"}
    if case.is_on(BLOCK) and case.algorithm in named and case.device != "cuda":
        yield Hit(BLOCK, f"needs device cuda, not {case.device}", "leave it out")


def _blocks_reject(case: Case) -> Iterator[Hit]:
    is_eagle = case.algorithm in {"EAGLE", "EAGLE3"}
    if case.is_on(BLOCK) and is_eagle and not case.is_on(REJECTION) and case.device == "cuda":
        message = "turns rejection sampling on, whose errors then name the other flag"
        yield Hit(BLOCK, message, "", {REJECTION: True})


def _rejects(case: Case) -> bool:
    return is_family(case) and case.is_on(REJECTION)


def _key(case: Case) -> str:
    return REJECTION if case.is_given(REJECTION) else BLOCK


def _reject_standalone(case: Case) -> Iterator[Hit]:
    if _rejects(case) and case.algorithm == "STANDALONE":
        yield Hit(_key(case), "STANDALONE has no rejection sampling", "leave it out")


def _reject_topk(case: Case) -> Iterator[Hit]:
    is_eagle = case.algorithm in {"EAGLE", "EAGLE3"}
    is_settled = case.topk is not None or case.steps is not None
    if _rejects(case) and is_eagle and is_settled and case.topk != 1:
        shown = "not given" if case.topk is None else f"{case.topk}"
        yield Hit(_key(case), f"needs eagle-topk 1; it is {shown}", "write eagle-topk = 1")


def _reject_thresholds(case: Case) -> Iterator[Hit]:
    if not _rejects(case) or case.algorithm == "STANDALONE":
        return
    for flag in (SINGLE, ACC):
        if case.values.get(flag) not in {1.0, None}:
            yield Hit(flag, "rejection sampling ignores thresholds, so both must be 1.0",
                      "leave it out, or leave rejection sampling out")  # fmt: skip


def _reject_vocabulary(case: Case) -> Iterator[Hit]:
    draft = case.around.draft_config.draft_vocab_size if case.around.draft_config else None
    target = case.around.target_config.vocab_size if case.around.target_config else None
    if _rejects(case) and draft and target and draft != target:
        message = f"the draft proposes {draft} of {target} tokens, and it needs all of them"
        yield Hit(_key(case), message, "leave it out")


def _reject_ignored(case: Case) -> Iterator[Hit]:
    """Kept True and never used outside the EAGLE family."""
    name = case.algorithm
    if case.is_on(REJECTION) and not is_family(case) and name != "UNO":
        yield Hit(REJECTION, f"has no effect with {name or 'no algorithm'}", "leave it out")


def _thresholds(case: Case) -> Iterator[Hit]:
    for flag in (SINGLE, ACC):
        value = case.values.get(flag)
        if isinstance(value, int | float) and case.is_given(flag) and not 0 < value <= 1:
            message = f"{value} is accepted and means nothing: thresholds are between 0 and 1"
            yield Hit(flag, message, "write a value above 0 and up to 1")


def _inexact(case: Case) -> Iterator[Hit]:
    for flag in (SINGLE, ACC):
        value = case.values.get(flag)
        if isinstance(value, int | float) and case.is_given(flag) and 0 < value < 1:
            message = "below 1 the output is no longer what the target alone would say"
            yield Hit(flag, message, "compare it with other exact settings only knowingly")


def _window(case: Case) -> Iterator[Hit]:
    size = case.number(WINDOW)
    if size is not None and size <= 0:
        yield Hit(WINDOW, f"must be at least 1, not {size}", "leave it out for no window")


def _window_unused(case: Case) -> Iterator[Hit]:
    size = case.number(WINDOW)
    if size is not None and case.algorithm not in {"EAGLE", "EAGLE3", "DFLASH"}:
        who = case.algorithm or "no algorithm"
        yield Hit(WINDOW, f"has no effect with {who}", "leave it out")


def _sink(case: Case) -> Iterator[Hit]:
    size = case.number(SINK)
    if size is None:
        return
    if size < 0:
        yield Hit(SINK, f"must not be negative, not {size}", "write 0 or more")
    elif case.number(WINDOW) is None:
        yield Hit(SINK, "needs draft-window-size beside it", "give draft-window-size")


def _draft_backend(case: Case) -> Iterator[Hit]:
    """Only these have a backend for drafting; the name is looked up late."""
    flag = "speculative-draft-attention-backend"
    name = case.text(flag)
    attention = case.build.tree.flag("--attention-backend") if case.build.tree else None
    if name is None or attention is None or attention.choices is None:
        return
    if name not in attention.choices:
        message = f"{name} is no attention backend, which is noticed while the draft loads"
        yield Hit(flag, message, f"one of {', '.join(attention.choices[:8])} …")


EARLY = (
    Rule("block-verification-algorithm", Severity.ERROR, _blocks_of,
         says("--speculative-use-block-verification only supports EAGLE"), Span("0.5.22"),
         is_live=True),
    Rule("block-verification-device", Severity.ERROR, _blocks_on,
         says("--speculative-use-block-verification only supports CUDA"), Span("0.5.22"),
         is_live=True),
    Rule("block-verification-rejects", Severity.HINT, _blocks_reject,
         Evidence(r"if \w+\.speculative_use_block_verification:"), Span("0.5.22")),
)  # fmt: skip
RULES = (
    Rule("rejection-standalone", Severity.ERROR, _reject_standalone,
         says("--speculative-use-rejection-sampling is only supported for"), Span("0.5.14"),
         is_live=True),
    Rule("rejection-topk", Severity.ERROR, _reject_topk,
         says("--speculative-use-rejection-sampling requires --speculative-eagle-topk=1"),
         Span("0.5.14"), is_live=True),
    Rule("rejection-thresholds", Severity.ERROR, _reject_thresholds,
         says("rejection sampling ignores the accept thresholds"), Span("0.5.14"), is_live=True),
    Rule("rejection-vocabulary", Severity.ERROR, _reject_vocabulary,
         says("target to share one vocab"),
         Span("0.5.14"), is_late=True),
    Rule("rejection-ignored", Severity.WARNING, _reject_ignored,
         says("only supported for EAGLE / EAGLE3 / NEXTN"), Span("0.5.14")),
    Rule("threshold-out-of-range", Severity.WARNING, _thresholds,
         says("Accept a draft token if its probability in the target model"), Span("0.4.3.post4")),
    Rule("threshold-inexact", Severity.HINT, _inexact,
         says("Accept a draft token if its probability in the target model"), Span("0.4.3.post4")),
    Rule("draft-window-positive", Severity.ERROR, _window,
         says("draft-window-size must be positive"), Span("0.5.12"), is_live=True),
    Rule("draft-window-unused", Severity.WARNING, _window_unused,
         Evidence(r"draft-window-size (?:has no effect|currently)"), Span("0.5.13.post1")),
    Rule("draft-sink-size", Severity.ERROR, _sink,
         says("--speculative-draft-sink-size requires"), Span("0.5.21"), is_live=True),
    Rule("draft-attention-backend", Severity.ERROR, _draft_backend,
         says("Attention backend for speculative decoding drafting"), Span("0.5.7"), is_late=True),
)  # fmt: skip
