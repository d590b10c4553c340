"""UNO, which drafts with the target and a LoRA."""

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
ALGORITHM = "speculative-algorithm"
MOST_NODES, MOST_SLOTS = 128, 2048
_SINCE = Span("0.5.20")


def _is_uno(case: Case) -> bool:
    return case.algorithm == "UNO"


def _is_tree(case: Case) -> bool:
    return _is_uno(case) and (case.topk or 1) > 1


def _draft(case: Case) -> Iterator[Hit]:
    flag = "speculative-draft-model-path"
    if _is_uno(case) and case.text(flag) is not None:
        yield Hit(flag, "UNO drafts with the target and takes no draft model", "leave it out")


def _lora(case: Case) -> Iterator[Hit]:
    if _is_uno(case) and case.text("uno-lora-path") is None:
        yield Hit(ALGORITHM, "UNO needs uno-lora-path", "give uno-lora-path in [arguments]")


def _refused_with(case: Case) -> Iterator[Hit]:
    if not _is_uno(case):
        return
    for flag in ("enable-deterministic-inference", "enable-strict-thinking",
                 "enable-lora", "speculative-use-rejection-sampling"):  # fmt: skip
        if case.is_on(flag):
            yield Hit(flag, "UNO does not go with it", "leave it out")
    if case.values.get("lora-paths"):
        yield Hit("lora-paths", "UNO does not go with it", "leave it out")


def _width(case: Case) -> Iterator[Hit]:
    if _is_uno(case) and (case.draft_tokens is None or case.draft_tokens < 1):
        key = TOKENS if case.is_given(TOKENS) else ALGORITHM
        yield Hit(key, "UNO needs num-draft-tokens, at least 1", "give num-draft-tokens")


def _topk(case: Case) -> Iterator[Hit]:
    if _is_uno(case) and case.topk is not None and case.topk < 1:
        yield Hit(TOPK, f"must be at least 1, not {case.topk}", "write 1 or more")


def _tree_steps(case: Case) -> Iterator[Hit]:
    if _is_tree(case) and (case.steps is None or case.steps < 1):
        key = STEPS if case.is_given(STEPS) else TOPK
        yield Hit(key, "with eagle-topk above 1 UNO needs num-steps, at least 1", "give num-steps")


def _tree(case: Case) -> Iterator[Hit]:
    width, topk, steps = case.draft_tokens, case.topk, case.steps
    if not _is_tree(case) or width is None or topk is None or steps is None or steps < 1:
        return
    if width < steps + 1:
        yield Hit(TOKENS, f"{width} is below num-steps + 1 = {steps + 1}", f"at least {steps + 1}")
    elif width > MOST_NODES or width * topk > MOST_SLOTS:
        most = min(MOST_NODES, MOST_SLOTS // topk)
        yield Hit(TOKENS, f"{width} with eagle-topk {topk} is too wide", f"at most {most}")
    elif width - 1 > topk * (steps - 1) + 1:
        most = topk * (steps - 1) + 2
        yield Hit(TOKENS, f"{width} does not fit eagle-topk {topk} and num-steps {steps}",
                  f"at most {most}")  # fmt: skip


def _tree_with(case: Case) -> Iterator[Hit]:
    if not _is_tree(case):
        return
    for flag in ("enable-pdmux", "enable-two-batch-overlap"):
        if case.is_on(flag):
            yield Hit(flag, "a UNO tree does not go with it", "leave it out")
    for flag in ("speculative-accept-threshold-single", "speculative-accept-threshold-acc"):
        if case.values.get(flag) not in {1.0, None}:
            yield Hit(flag, "a UNO tree needs a threshold of 1.0", "leave it out")


def _linear(case: Case) -> Iterator[Hit]:
    if not _is_uno(case) or _is_tree(case):
        return
    steps = case.number(STEPS)
    if case.is_given(STEPS) and steps != 1:
        message = f"the server will change {steps} to 1, for eagle-topk is 1"
        yield Hit(STEPS, message, "leave it out", {STEPS: 1})
    case.values.update({STEPS: 1, TOPK: 1})


def _parallel(case: Case) -> Iterator[Hit]:
    if not _is_uno(case):
        return
    for flag in ("tp-size", "pp-size"):
        if (case.number(flag) or 1) != 1:
            yield Hit(flag, f"UNO runs on one GPU: {flag} must be 1", "leave it out")
    if case.attention_groups > 1:
        yield Hit("attn-dp-size", "UNO does not go with DP attention", "leave it out")


def _mixed(case: Case) -> Iterator[Hit]:
    if _is_uno(case) and case.is_on("enable-mixed-chunk"):
        yield Hit("enable-mixed-chunk", "the server will turn it off for UNO", "leave it out",
                  {"enable-mixed-chunk": False})  # fmt: skip


def _backend(case: Case) -> Iterator[Hit]:
    backends = case.backends
    if not _is_uno(case) or case.device != "cuda" or backends == ("fa3", "fa3"):
        return
    is_known = None not in backends
    key = "attention-backend" if case.is_given("attention-backend") else ALGORITHM
    shown = " and ".join(sorted({str(name) for name in backends})) if is_known else "others"
    severity = None if is_known else Severity.WARNING
    yield Hit(key, f"UNO needs attention-backend fa3 for prefill and decode, not {shown}",
              "give attention-backend = \"fa3\" (Hopper)", severity=severity)  # fmt: skip


RULES = (
    Rule("uno-draft", Severity.ERROR, _draft, says("UNO reuses the target model"), _SINCE),
    Rule("uno-lora", Severity.ERROR, _lora, says("UNO requires --uno-lora-path"), _SINCE),
    Rule("uno-refused-with", Severity.ERROR, _refused_with,
         says("UNO does not support"), _SINCE),
    Rule("uno-width", Severity.ERROR, _width,
         says("UNO requires --speculative-num-draft-tokens"), _SINCE),
    Rule("uno-topk", Severity.ERROR, _topk, Evidence(r"candidate_top_k"), _SINCE),
    Rule("uno-tree-steps", Severity.ERROR, _tree_steps,
         says("UNO tree mode requires --speculative-num-steps"), _SINCE),
    Rule("uno-tree", Severity.ERROR, _tree, says("UNO tree mode"), _SINCE),
    Rule("uno-tree-with", Severity.ERROR, _tree_with,
         says("UNO tree mode does not yet support"), _SINCE),
    Rule("uno-linear", Severity.REWRITE, _linear, says("UNO uses %s=1; overriding"), _SINCE),
    Rule("uno-parallel", Severity.ERROR, _parallel, says("UNO requires TP=PP=1"), _SINCE),
    Rule("uno-mixed-chunk", Severity.REWRITE, _mixed,
         says("Mixed chunked prefill is disabled for UNO"), _SINCE),
    Rule("uno-attention-backend", Severity.ERROR, _backend, says("UNO requires FA3"), _SINCE),
)  # fmt: skip
