"""Steps, top-k and draft tokens of EAGLE, EAGLE3, NEXTN and STANDALONE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.case import EAGLE_FAMILY
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.build import Triple
    from specctl.domain.lint.case import Case

STEPS, TOPK, TOKENS = (
    "speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens",
)  # fmt: skip
ALGORITHM = "speculative-algorithm"
LEGAL = "give nothing, all three, or num-steps with eagle-topk 1"


def is_family(case: Case) -> bool:
    """EAGLE, EAGLE3, NEXTN or STANDALONE."""
    return case.algorithm in EAGLE_FAMILY


def _bare_assert(case: Case) -> Iterator[Hit]:
    """Top-k or draft tokens without steps: an assertion without a word."""
    if not is_family(case) or case.is_on("speculative-adaptive") or case.steps is not None:
        return
    for flag in (TOPK, TOKENS):
        if case.values.get(flag) is not None:
            yield Hit(flag, "needs num-steps beside it (a bare AssertionError)", LEGAL)
            return


def _no_topk(case: Case) -> Iterator[Hit]:
    if is_family(case) and case.steps is not None and case.topk is None:
        yield Hit(STEPS, "needs eagle-topk beside it (a TypeError)", LEGAL)


def _no_tokens(case: Case) -> Iterator[Hit]:
    has_tree = case.steps is not None and (case.topk or 1) > 1
    if is_family(case) and has_tree and case.draft_tokens is None:
        yield Hit(TOPK, "above 1 it needs num-draft-tokens beside it (a TypeError)", LEGAL)


def _automatic(case: Case) -> Iterator[Hit]:
    if not is_family(case) or any(case.values.get(f) is not None for f in (STEPS, TOPK, TOKENS)):
        return
    if case.is_on("speculative-adaptive") or not case.build.is_at_least("0.4.6"):
        return
    triple = automatic(case)
    if triple is None:
        yield Hit(ALGORITHM, "the server chooses steps, top-k and draft tokens by the model", LEGAL)
        return
    steps, topk, tokens = triple
    message = f"the server takes num-steps {steps}, eagle-topk {topk}, num-draft-tokens {tokens}"
    yield Hit(
        ALGORITHM,
        message,
        "write them to keep them",
        dict(zip((STEPS, TOPK, TOKENS), triple, strict=True)),
    )


def automatic(case: Case) -> Triple | None:
    """What the server takes without num-steps; None when that depends on an unknown target."""
    table = case.build.known.automatic or _AUTOMATIC
    if case.algorithm == "STANDALONE" and "STANDALONE" in table:
        return table["STANDALONE"]
    name = case.target_architecture
    if len(set(table.values())) == 1:
        return next(iter(table.values()))
    return None if name is None else table.get(name, table.get(""))


_LLAMA, _CHAIN = (5, 4, 8), (3, 1, 4)
_AUTOMATIC = {
    "STANDALONE": _CHAIN, "LlamaForCausalLM": _LLAMA, "Grok1ForCausalLM": _LLAMA,
    "Grok1VForCausalLM": _LLAMA, "": _CHAIN,
}  # fmt: skip


def _old_page_topk(case: Case) -> Iterator[Hit]:
    page = case.number("page-size") or 1
    if is_family(case) and page > 1 and (case.topk or 1) > 1:
        yield Hit(TOPK, "the server will change it to 1, for page-size is above 1",
                  "write page-size = 1 to keep it", {TOPK: 1})  # fmt: skip


def _trtllm_topk(case: Case) -> Iterator[Hit]:
    if is_family(case) and "trtllm_mha" in case.backends and (case.topk or 1) > 1:
        key = TOPK if case.is_given(TOPK) else "attention-backend"
        message = f"trtllm_mha takes eagle-topk 1 only, not {case.topk}"
        yield Hit(key, message, "write eagle-topk = 1, or take flashinfer or fa3")


def _chain(case: Case) -> Iterator[Hit]:
    steps, tokens = case.steps, case.draft_tokens
    if not is_family(case) or case.topk != 1 or steps is None or tokens == steps + 1:
        return
    sets = {TOKENS: steps + 1}
    if tokens is None:
        case.values.update(sets)
        return
    message = f"the server will change {tokens} to {steps + 1}: num-steps + 1, for eagle-topk is 1"
    yield Hit(TOKENS, message, f"write {steps + 1}", sets)


def _tree_pages(case: Case) -> Iterator[Hit]:
    page, topk = case.number("page-size") or 1, case.topk or 1
    allowed = case.build.known.page_tree_backends or _page_backends(case)
    backend = case.text("attention-backend")
    if not is_family(case) or topk < 2 or page < 2 or backend in allowed:  # noqa: PLR2004
        return
    if backend is None and case.device == "cuda" and case.around.capability is not None:
        return
    who = f"attention-backend {backend}" if backend else "an attention backend yet to be chosen"
    message = f"eagle-topk {topk} with page-size {page} does not go with {who}"
    fix = f"write page-size = 1, eagle-topk = 1, or one of {', '.join(allowed)}"
    severity = None if backend else Severity.WARNING
    key = "page-size" if case.is_given("page-size") else "attention-backend"
    yield Hit(key if case.is_given(key) else TOPK, message, fix, severity=severity)


def _page_backends(case: Case) -> tuple[str, ...]:
    if case.build.is_at_least("0.5.13"):
        return ("flashinfer", "fa3", "triton")
    return ("flashinfer", "fa3") if case.build.is_at_least("0.5.6") else ("flashinfer",)


def _tree_size(case: Case) -> Iterator[Hit]:
    """A tree of `topk` branches and `steps` levels has topk + (steps - 1)·topk² nodes."""
    steps, topk, tokens = case.steps, case.topk, case.draft_tokens
    if not is_family(case) or steps is None or tokens is None or (topk or 1) < 2:  # noqa: PLR2004
        return
    nodes = (topk or 1) + (steps - 1) * (topk or 1) ** 2
    if steps > 0 and tokens - 1 > nodes:
        message = f"{tokens} draft tokens do not fit a tree of {nodes} nodes"
        yield Hit(TOKENS, message, f"at most {nodes + 1}")


def _odd_values(case: Case) -> Iterator[Hit]:
    """Values that no check refuses and no request survives."""
    if not is_family(case):
        return
    if case.steps is not None and case.steps < 0:
        yield Hit(STEPS, f"must be at least 1, not {case.steps}", "write 1 or more")
    if case.topk is not None and case.topk < 1:
        yield Hit(TOPK, f"must be at least 1, not {case.topk}", "write 1 or more")
    if case.draft_tokens is not None and case.draft_tokens < 1 and case.topk != 1:
        yield Hit(TOKENS, f"must be at least 1, not {case.draft_tokens}", "write 2 or more")


def _no_steps(case: Case) -> Iterator[Hit]:
    if is_family(case) and case.steps == 0 and not case.is_on("speculative-adaptive"):
        yield Hit(STEPS, "with 0 steps the server starts and does not speculate", "write 1 or more")


def _context(case: Case) -> Iterator[Hit]:
    room, steps, topk = case.number("context-length"), case.steps, case.topk
    if is_family(case) and room and steps and topk and steps * topk > room:
        message = f"eagle-topk · num-steps = {steps * topk} is above context-length {room}"
        yield Hit(STEPS, message, "it is reserved for every request: write less")


EARLY = (
    Rule("eagle-needs-steps", Severity.ERROR, _bare_assert,
         Evidence(r"assert \(?\s*\w+\.speculative_eagle_topk is None"), Span("0.4.6.post5"),
         is_live=True),
    Rule("eagle-needs-topk", Severity.ERROR, _no_topk,
         Evidence(r"\.speculative_eagle_topk (?:> 1|== 1)"), Span("0.4.6.post5"), is_live=True),
    Rule("eagle-tree-needs-tokens", Severity.ERROR, _no_tokens,
         Evidence(r"\.speculative_eagle_topk == 1"), Span("0.4.6.post5"), is_late=True),
    Rule("eagle-automatic", Severity.HINT, _automatic,
         Evidence(r"def _?auto_choose_speculative_params"), Span("0.4.6.post5")),
)  # fmt: skip
RULES = (
    Rule("eagle-topk-pages-rewritten", Severity.REWRITE, _old_page_topk,
         says("speculative_eagle_topk is adjusted to 1 when page_size > 1"),
         Span("0.4.6.post5", "0.4.7.post1")),
    Rule("eagle-trtllm-topk", Severity.ERROR, _trtllm_topk,
         says("trtllm_mha backend only supports topk = 1"), Span("0.5.2")),
    Rule("eagle-chain-tokens", Severity.REWRITE, _chain,
         says("speculative_num_draft_tokens is adjusted to speculative_num_steps + 1"),
         Span("0.4.6.post5"), is_live=True),
    Rule("eagle-tree-pages", Severity.ERROR, _tree_pages,
         says("speculative_eagle_topk > 1 with page_size > 1 is"), Span("0.5.2"), is_live=True),
    Rule("eagle-tree-size", Severity.ERROR, _tree_size,
         Evidence(r"torch\.topk\(\s*score_list"), Span("0.4.2"), is_late=True),
    Rule("eagle-odd-values", Severity.ERROR, _odd_values,
         says("The number of steps sampled from draft model"), Span("0.4.2"), is_late=True),
    Rule("eagle-no-steps", Severity.WARNING, _no_steps,
         says("The number of steps sampled from draft model"), Span("0.4.2")),
    Rule("eagle-context", Severity.ERROR, _context,
         says("The number of steps sampled from draft model"), Span("0.4.2"), is_late=True),
)  # fmt: skip
