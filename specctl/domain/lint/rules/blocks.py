"""DFLASH and DSPARK, which draft a block at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

STEPS, TOPK, TOKENS = (
    "speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens",
)  # fmt: skip
DRAFT, WINDOW = "speculative-draft-model-path", "speculative-draft-window-size"
DFLASH_BLOCK, DSPARK_BLOCK = "speculative-dflash-block-size", "speculative-dspark-block-size"
ALGORITHM = "speculative-algorithm"
_DFLASH_TOKENS, _DSPARK_GAMMA = 16, 7


def _is(case: Case, *names: str) -> bool:
    return case.algorithm in names


def _dflash_draft(case: Case) -> Iterator[Hit]:
    if _is(case, "DFLASH") and case.text(DRAFT) is None:
        yield Hit(ALGORITHM, "DFLASH needs draft-model-path", "give draft-model-path")


def _dspark_draft(case: Case) -> Iterator[Hit]:
    """The target may bring a draft along, in a subfolder; only its files tell."""
    if _is(case, "DSPARK") and case.text(DRAFT) is None:
        message = "DSPARK needs draft-model-path, unless the target has a draft in dspark/"
        yield Hit(ALGORITHM, message, "give draft-model-path")


def _ones(case: Case) -> Iterator[Hit]:
    if not _is(case, "DFLASH", "DSPARK"):
        return
    for flag in (STEPS, TOPK):
        value = case.number(flag)
        if case.is_given(flag) and value != 1:
            message = f"the server will change {value} to 1 for {case.algorithm}"
            yield Hit(flag, message, "leave it out", {flag: 1})
        case.values[flag] = 1


def _block_size(case: Case) -> Iterator[Hit]:
    block, tokens = case.number(DFLASH_BLOCK), case.draft_tokens
    if not _is(case, "DFLASH") or block is None:
        return
    if block <= 0:
        yield Hit(DFLASH_BLOCK, f"must be at least 1, not {block}", "leave it out")
    elif tokens is not None and tokens != block:
        message = f"{block} is not num-draft-tokens {tokens}: they are the same thing"
        yield Hit(DFLASH_BLOCK, message, "give one of them")
    else:
        case.values[TOKENS] = block


def _dflash_tokens(case: Case) -> Iterator[Hit]:
    if not _is(case, "DFLASH") or case.draft_tokens is not None:
        return
    known = _block_of(case)
    count = known or _DFLASH_TOKENS
    if known is None and case.around.draft_config is None:
        yield Hit(ALGORITHM, "the server takes num-draft-tokens from the draft's block_size", "")
        return
    message = f"the server takes num-draft-tokens {count}"
    yield Hit(ALGORITHM, message, "write it to keep it", {TOKENS: count})


def _block_of(case: Case) -> int | None:
    config = case.around.draft_config
    return config.block_size if config is not None else None


def _window(case: Case) -> Iterator[Hit]:
    size, tokens = case.number(WINDOW), case.draft_tokens
    if _is(case, "DFLASH") and size is not None and tokens is not None and 0 < size < tokens:
        yield Hit(WINDOW, f"{size} is below num-draft-tokens {tokens}", f"write {tokens} or more")


def _dflash_pipeline(case: Case) -> Iterator[Hit]:
    if _is(case, "DFLASH") and (case.number("pp-size") or 1) != 1:
        yield Hit("pp-size", "DFLASH takes pp-size 1 only", "leave it out")


def _dflash_groups(case: Case) -> Iterator[Hit]:
    groups = case.attention_groups
    if not _is(case, "DFLASH") or groups < 2:  # noqa: PLR2004
        return
    key = "attn-dp-size" if case.is_given("attn-dp-size") else "enable-dp-attention"
    if not case.build.is_at_least("0.5.23"):
        if case.device != "npu":
            yield Hit(key, "DFLASH does not go with DP attention", "leave it out")
    elif not case.is_on("enable-dp-lm-head"):
        message = "DFLASH with DP attention needs enable-dp-lm-head"
        yield Hit(key, message, "give enable-dp-lm-head = true")


def _dspark_groups(case: Case) -> Iterator[Hit]:
    if not _is(case, "DSPARK") or case.attention_groups < 2:  # noqa: PLR2004
        return
    if not case.is_on("enable-dp-lm-head"):
        key = "attn-dp-size" if case.is_given("attn-dp-size") else "enable-dp-attention"
        message = "DSPARK with DP attention needs enable-dp-lm-head"
        yield Hit(key, message, "give enable-dp-lm-head = true")


def _dspark_pipeline(case: Case) -> Iterator[Hit]:
    is_prefill = case.text("disaggregation-mode") == "prefill"
    if _is(case, "DSPARK") and (case.number("pp-size") or 1) != 1 and not is_prefill:
        yield Hit(
            "pp-size", "DSPARK takes pp-size 1 only, except on a prefill server", "leave it out"
        )


def _dspark_tokens(case: Case) -> Iterator[Hit]:
    if not _is(case, "DSPARK"):
        return
    own, tokens = case.number(DSPARK_BLOCK), case.draft_tokens
    if own is not None and own <= 0:
        yield Hit(DSPARK_BLOCK, f"must be at least 1, not {own}", "leave it out")
        return
    gamma = own if own is not None else _block_of(case)
    if gamma is not None and tokens is not None and tokens != gamma + 1:
        source = "dspark-block-size" if own is not None else "the draft's block_size"
        message = f"{tokens} is not {source} + 1 = {gamma + 1}"
        yield Hit(TOKENS, message, f"leave it out, or write {gamma + 1}")
    elif gamma is not None:
        case.values[TOKENS] = gamma + 1
    elif tokens is not None and tokens < 2:  # noqa: PLR2004
        yield Hit(TOKENS, f"must be at least 2, not {tokens}", "write 2 or more")


def _dspark_automatic(case: Case) -> Iterator[Hit]:
    is_known = case.around.draft_config is not None
    if _is(case, "DSPARK") and case.draft_tokens is None and is_known:
        count = _DSPARK_GAMMA + 1
        message = f"the server takes num-draft-tokens {count}: the draft names no block_size"
        yield Hit(ALGORITHM, message, "give dspark-block-size", {TOKENS: count})


def _dspark_no_effect(case: Case) -> Iterator[Hit]:
    mode = case.variable("SGLANG_RAGGED_VERIFY_MODE") or "static"
    align = "speculative-dspark-align-verify-tokens-to-graph-tier"
    table = "speculative-dspark-sps-table-path"
    if not _is(case, "DSPARK"):
        return
    if case.is_on(align) and mode != "compact":
        message = f"has no effect with SGLANG_RAGGED_VERIFY_MODE={mode}"
        yield Hit(align, message, "set the variable to compact, or leave it out")
    if case.text(table) is not None and mode == "static":
        message = "has no effect with SGLANG_RAGGED_VERIFY_MODE=static"
        yield Hit(table, message, "set the variable to compact or cap-accept, or leave it out")


RULES = (
    Rule("dflash-pipeline", Severity.ERROR, _dflash_pipeline,
         says("Currently DFLASH speculative decoding only supports pp_size == 1"), Span("0.5.11")),
    Rule("dflash-dp-attention", Severity.ERROR, _dflash_groups,
         Evidence(r"DFLASH (?:speculative decoding does not support|with) dp"),
         Span("0.5.11")),
    Rule("dflash-draft", Severity.ERROR, _dflash_draft,
         says("DFLASH speculative decoding requires setting"), Span("0.5.11")),
    Rule("dspark-dp-attention", Severity.ERROR, _dspark_groups,
         says("DSpark with dp attention requires --enable-dp-lm-head"), Span("0.5.16")),
    Rule("dspark-pipeline", Severity.ERROR, _dspark_pipeline,
         Evidence(r"DSpark pipeline parallelism|DSpark.{0,60}pp_size == 1"), Span("0.5.16")),
    Rule("dspark-draft", Severity.WARNING, _dspark_draft,
         says("DSpark dense speculative decoding requires setting"), Span("0.5.16")),
    Rule("block-steps-and-topk", Severity.REWRITE, _ones,
         says("DFLASH only supports speculative_num_steps == 1"), Span("0.5.11")),
    Rule("dflash-block-size", Severity.ERROR, _block_size,
         says("For DFLASH they must match"), Span("0.5.11")),
    Rule("dflash-automatic", Severity.HINT, _dflash_tokens,
         says("speculative_num_draft_tokens is not set; defaulting to %d for DFLASH"),
         Span("0.5.11")),
    Rule("dflash-window", Severity.ERROR, _window,
         Evidence(r"window-size must be >="), Span("0.5.11")),
    Rule("dspark-draft-tokens", Severity.ERROR, _dspark_tokens,
         says("DSpark speculative_num_draft_tokens must equal gamma + 1"), Span("0.5.16")),
    Rule("dspark-automatic", Severity.HINT, _dspark_automatic,
         says("DSpark gamma is not set; defaulting to"), Span("0.5.16")),
    Rule("dspark-no-effect", Severity.WARNING, _dspark_no_effect,
         says("--speculative-dspark-align-verify-tokens-to-graph-tier only takes"), Span("0.5.16")),
)  # fmt: skip
