"""Attention backends: which is taken when none is named, and the pages each forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Derivation, Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

BACKEND, PREFILL, DECODE, DRAFT = (
    "attention-backend", "prefill-attention-backend", "decode-attention-backend",
    "speculative-draft-attention-backend",
)  # fmt: skip
PAGE = "page-size"
HOPPER, BLACKWELL = 9, 10
_LATENT = ("Deepseek", "KimiK2", "GlmMoeDsa", "MiniCPM3", "LongcatFlash", "BailingMoeV2_5")
"""Beginnings of architectures with latent attention (MLA), whose backends are others."""


def is_latent(name: str | None) -> bool:
    """The target has latent attention, as far as its name tells."""
    return name is not None and name.startswith(_LATENT)


def _choose(case: Case) -> None:
    """The server's own choice, where the host tells enough to know it."""
    prefill, decode = case.text(PREFILL), case.text(DECODE)
    if prefill is not None and prefill == decode:
        case.values[BACKEND] = prefill
    if case.text(BACKEND) is None:
        case.values[BACKEND] = _own_choice(case)


def _own_choice(case: Case) -> str | None:
    if case.device == "cpu":
        has_amx = case.around.has_amx
        return None if has_amx is None else "intel_amx" if has_amx else "torch_native"
    capability = case.around.capability
    if case.device != "cuda" or capability is None:
        return None
    if is_latent(case.target_architecture):
        return {HOPPER: "fa3", BLACKWELL: "flashinfer"}.get(capability[0], "triton")
    page_is_one = (case.number(PAGE) or 1) == 1
    is_linear = case.topk is None or (case.topk == 1 and page_is_one)
    if capability[0] == HOPPER and is_linear:
        return "fa3"
    if capability[0] == BLACKWELL and is_linear and case.build.is_at_least("0.5.3"):
        is_chosen = case.algorithm in {None, "DFLASH"} or case.topk is not None
        if is_chosen:
            return "trtllm_mha"
    return "flashinfer"


def _amx(case: Case) -> Iterator[Hit]:
    if case.device == "cpu" and case.text(BACKEND) == "intel_amx" and case.around.has_amx is False:
        message = "this processor has no AMX: the server will take torch_native"
        yield Hit(BACKEND, message, "leave it out", {BACKEND: "torch_native"})


def _forced(case: Case) -> Iterator[Hit]:
    """Some backends know few page sizes, and the server changes the rest without asking."""
    given = case.number(PAGE)
    page = given or 1
    for name, allowed, who in _PAGES:
        if name not in {case.text(flag) for flag in who} or page in allowed:
            continue
        wanted = 64
        flag = next((f for f in who if case.is_given(f) and case.text(f) == name), BACKEND)
        if case.is_given(PAGE):
            message = f"the server will change {given} to {wanted} for {name}"
            yield Hit(PAGE, message, f"write {wanted}", {PAGE: wanted})
        else:
            message = f"{name} forces page-size {wanted}"
            yield Hit(flag, message, "", {PAGE: wanted}, Severity.HINT)
        page = wanted
    if case.values.get(PAGE) is None and case.number(PAGE) is None:
        case.values[PAGE] = page


_PAGES: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...] = (
    ("flashmla", (64,), (BACKEND, DECODE)),
    ("trtllm_mla", (32, 64), (BACKEND, DECODE)),
    ("cutedsl_mla", (32, 64), (BACKEND, DECODE, PREFILL)),
    ("trtllm_mha", (16, 32, 64, 128), (BACKEND, DECODE, PREFILL, DRAFT)),
    ("hpc_ops", (64,), (BACKEND, DECODE, PREFILL)),
)
"""Backend, the page sizes it takes, and the flags that may name it."""


def _fa4(case: Case) -> Iterator[Hit]:
    capability = case.around.capability
    names = {case.text(flag) for flag in (BACKEND, PREFILL, DECODE)}
    is_blackwell = capability is not None and capability[0] == BLACKWELL
    is_whole = not is_latent(case.target_architecture)
    if "fa4" in names and is_blackwell and is_whole and (case.topk or 0) <= 1:
        page = case.number(PAGE) or 1
        if page != 128:  # noqa: PLR2004
            severity = None if case.is_given(PAGE) else Severity.HINT
            yield Hit(PAGE if case.is_given(PAGE) else BACKEND, "fa4 forces page-size 128", "",
                      {PAGE: 128}, severity)  # fmt: skip


def _flex(case: Case) -> Iterator[Hit]:
    if case.algorithm is not None and case.text(BACKEND) == "flex_attention":
        message = "flex_attention does not speculate"
        yield Hit(BACKEND, message, "take flashinfer, fa3 or triton")


def _native_verify(case: Case) -> Iterator[Hit]:
    """Without AMX the CPU has no backend that verifies; upstream's own limit."""
    names = {"EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM"}
    if case.device == "cpu" and case.algorithm in names and case.text(BACKEND) == "torch_native":
        message = "torch_native verifies no drafts unless it is patched (stock SGLang needs AMX)"
        yield Hit(BACKEND, message, "run on a processor with AMX")


def _nvfp4(case: Case) -> Iterator[Hit]:
    flag = "speculative-ngram-max-bfs-breadth"
    breadth, capability = case.number(flag), case.around.capability
    is_native = case.text("kv-cache-dtype") == "nvfp4" and "trtllm_mha" in case.backends
    is_blackwell = capability is not None and capability[0] == BLACKWELL
    if case.algorithm == "NGRAM" and is_native and is_blackwell and breadth != 1:
        message = f"an NVFP4 cache on these GPUs needs ngram-max-bfs-breadth 1, not {breadth}"
        yield Hit("kv-cache-dtype", message, "write ngram-max-bfs-breadth = 1")


RULES = (
    Derivation(_choose),
    Rule("cpu-without-amx", Severity.REWRITE, _amx,
         says("does not support Intel AMX"), Span("0.5.4.post3")),
    Rule("flex-attention", Severity.ERROR, _flex,
         says("Speculative decoding is currently not supported with Flex Attention"),
         Span("0.5.3"), is_live=True),
    Rule("pages-forced", Severity.REWRITE, _forced,
         Evidence(r"(?:TensorRT-LLM MHA|FlashMLA) only supports"), Span("0.4.6.post5")),
    Rule("fa4-pages", Severity.REWRITE, _fa4,
         says("FA4 backend only supports page size 128"), Span("0.5.4.post3")),
    Rule("nvfp4-ngram", Severity.ERROR, _nvfp4,
         says("SM100 native NVFP4 NGRAM speculative decoding"), Span("0.5.21")),
    Rule("cpu-verify", Severity.HINT, _native_verify,
         Evidence(r"EAGLE is not supported in", ("srt/speculative/draft_utils.py",)),
         Span("0.5.16")),
)  # fmt: skip
