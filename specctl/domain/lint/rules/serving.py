"""What else a server does, and does not do while it speculates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.case import EAGLE_FAMILY
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Derivation, Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

MIXED, OVERLAP, RUNNING = (
    "enable-mixed-chunk", "disable-overlap-schedule", "max-running-requests",
)  # fmt: skip
ALGORITHM = "speculative-algorithm"
_KEEPS_MIXED = frozenset({"EAGLE", "EAGLE3", "DFLASH", "DSPARK"})
_LORA = frozenset({"EAGLE", "EAGLE3", "DFLASH", "DSPARK"})


def _captures(case: Case) -> Iterator[Hit]:
    """Auxiliary states are captured without a draft; the algorithm then only names how."""
    flag = "enable-return-aux-hidden-states"
    if not case.is_on(flag):
        return
    name = (case.algorithm or "").upper()
    if name not in {"EAGLE3", "DFLASH", "DSPARK"}:
        yield Hit(flag, f"needs EAGLE3, DFLASH or DSPARK, not {name or 'none'}", "write EAGLE3")
    elif case.text("speculative-draft-model-path") is not None:
        yield Hit(
            "speculative-draft-model-path", f"{flag} captures without a draft", "leave it out"
        )
    elif (case.number("pp-size") or 1) != 1:
        yield Hit("pp-size", f"{flag} needs pp-size 1", "leave it out")
    elif name != "EAGLE3" and not case.values.get("return-aux-hidden-state-layer-ids"):
        yield Hit(flag, f"{name} needs return-aux-hidden-state-layer-ids too", "give them")


def _captures_only(case: Case) -> Iterator[Hit]:
    flag = "enable-return-aux-hidden-states"
    if case.is_on(flag) and (case.algorithm or "").upper() in {"EAGLE3", "DFLASH", "DSPARK"}:
        message = "the server will not speculate: it captures hidden states"
        yield Hit(flag, message, "leave it out to speculate", {ALGORITHM: None})


def _running(case: Case) -> Iterator[Hit]:
    """Speculation quietly limits how many requests run at once."""
    name = case.algorithm
    if name in {None, "NONE", "UNO"} or case.values.get(RUNNING) is not None:
        return
    count = case.build.known.running_requests or (48 if case.build.is_at_least("0.4.6") else 32)
    message = f"the server takes max-running-requests {count}: a baseline has no such limit"
    fix = "give max-running-requests to both sides of a comparison"
    line = _in_handler(case, r"max_running_requests\s*=\s*\d+")
    yield Hit(ALGORITHM, message, fix, {RUNNING: count}, source=line)


_HANDLERS = {
    "DFLASH": "dflash", "DSPARK": "dspark", "FROZEN_KV_MTP": "frozen_kv_mtp", "NGRAM": "ngram",
}  # fmt: skip


def _in_handler(case: Case, pattern: str) -> Evidence:
    """A line of the function that settles the arguments of the algorithm."""
    name = _HANDLERS.get(case.algorithm or "", "eagle_family")
    return Evidence(rf"def _?handle_{name}\b(?:(?!\ndef )[\s\S])*?(?P<at>{pattern})")


def _cpu_overlap(case: Case) -> None:
    names = EAGLE_FAMILY | {"NGRAM"}
    if case.device == "cpu" and case.algorithm in names and case.build.is_at_least("0.5.16"):
        case.values[OVERLAP] = True


def _overlap(case: Case) -> None:
    """Versions in which speculation and the overlap schedule exclude each other."""
    build = case.build
    is_off = not build.is_at_least("0.5.11") and not case.is_variable_on("SGLANG_ENABLE_SPEC_V2")
    is_ngram = case.algorithm == "NGRAM" and not build.is_at_least("0.5.14")
    if case.algorithm is not None and (is_off or is_ngram):
        case.values[OVERLAP] = True


def _overlapped_tree(case: Case) -> Iterator[Hit]:
    """The overlapped worker of those versions drafts chains only."""
    name = "SGLANG_ENABLE_SPEC_V2"
    if case.algorithm in EAGLE_FAMILY and case.is_variable_on(name) and (case.topk or 1) > 1:
        message = f"with it eagle-topk must be 1, not {case.topk}"
        yield Hit(f"env:{name}", message, "take it out, or write eagle-topk = 1")


def _synchronous_tree(case: Case) -> Iterator[Hit]:
    if case.algorithm in EAGLE_FAMILY and (case.topk or 1) > 1 and not case.is_on(OVERLAP):
        message = f"with eagle-topk {case.topk} the older worker runs, without overlap"
        yield Hit("speculative-eagle-topk", message, "write 1 to overlap", {OVERLAP: True})


def _mixed(case: Case) -> Iterator[Hit]:
    name = case.algorithm
    if not case.is_given(MIXED) or name in {None, "UNO"}:
        return
    keeps = case.build.known.mixed_chunk_algorithms
    if keeps is None:
        keeps = tuple(_KEEPS_MIXED) if case.build.is_at_least("0.5.19") else ()
    if name not in keeps:
        message = f"the server will turn it off for {name}"
        line = _in_handler(case, r"enable_mixed_chunk\s*=\s*False")
        yield Hit(MIXED, message, "leave it out", {MIXED: False}, source=line)


def _lora(case: Case) -> Iterator[Hit]:
    flag = _lora_flag(case)
    allowed = case.build.known.lora_algorithms or tuple(sorted(_LORA))
    if flag is None or case.algorithm in {None, "NGRAM", "UNO", *allowed}:
        return
    message = f"LoRA does not go with {case.algorithm}"
    yield Hit(flag, message, f"LoRA goes with NGRAM, {', '.join(allowed)}")


def _lora_flag(case: Case) -> str | None:
    if case.values.get("lora-paths"):
        return "lora-paths"
    return "enable-lora" if case.is_on("enable-lora") else None


def _lora_with(case: Case) -> Iterator[Hit]:
    flag = _lora_flag(case)
    allowed = case.build.known.lora_algorithms or tuple(sorted(_LORA))
    if flag is None or case.algorithm not in allowed:
        return
    if case.is_on("speculative-adaptive"):
        yield Hit("speculative-adaptive", "does not go with LoRA", "leave one of them out")
    if case.is_variable_on("SGLANG_ENABLE_OVERLAP_PLAN_STREAM"):
        yield Hit(
            "env:SGLANG_ENABLE_OVERLAP_PLAN_STREAM",
            "does not go with LoRA and drafts",
            "leave it out",
        )
    mode = case.variable("SGLANG_RAGGED_VERIFY_MODE")
    if case.algorithm == "DSPARK" and mode not in {None, "static"}:
        yield Hit("env:SGLANG_RAGGED_VERIFY_MODE", "must be static with LoRA", "write static")


def _lora_early(case: Case) -> Iterator[Hit]:
    flag = _lora_flag(case)
    if flag is not None and case.algorithm not in {None, "NGRAM"}:
        yield Hit(flag, f"LoRA does not go with {case.algorithm}", "LoRA goes with NGRAM")


def _weight_cache(case: Case) -> Iterator[Hit]:
    if case.algorithm is not None and case.text("weight-cache-mode") not in {None, "off"}:
        yield Hit("weight-cache-mode", "the weight cache has no draft weights", "leave it out")


def _lmcache(case: Case) -> Iterator[Hit]:
    if case.algorithm is not None and case.is_on("enable-lmcache"):
        yield Hit("enable-lmcache", "LMCache does not go with speculation", "leave it out")


def _unified(case: Case) -> Iterator[Hit]:
    flag = "enable-unified-memory"
    if not case.is_on(flag) or case.algorithm is None:
        return
    if case.algorithm not in {"DSPARK", "DFLASH", "EAGLE", "EAGLE3"}:
        yield Hit(flag, f"does not go with {case.algorithm}", "leave it out")
    elif case.algorithm in {"EAGLE", "EAGLE3"}:
        is_plain = case.target_architecture in _PLAIN_TARGETS
        message = "with EAGLE it needs a target with sliding windows or Mamba layers"
        severity = None if is_plain else Severity.WARNING
        yield Hit(flag, message, "leave it out", severity=severity)


_PLAIN_TARGETS = frozenset({"LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"})


def _radix_cache(case: Case) -> Iterator[Hit]:
    flag = "disaggregation-decode-enable-radix-cache"
    is_decode = case.text("disaggregation-mode") == "decode"
    if is_decode and case.is_on(flag) and case.algorithm not in {None, "DSPARK", "EAGLE", "EAGLE3"}:
        yield Hit(flag, f"does not go with {case.algorithm}", "leave it out")


def _watermark(case: Case) -> Iterator[Hit]:
    flag = "enable-watermark"
    if not case.is_on(flag):
        return
    if case.algorithm not in {None, "NGRAM", "EAGLE", "EAGLE3"}:
        yield Hit(flag, f"does not go with {case.algorithm}", "leave it out")
    if case.device != "cuda":
        yield Hit(flag, f"needs device cuda, not {case.device}", "leave it out")
    if case.is_on("speculative-use-rejection-sampling"):
        yield Hit(flag, "does not go with use-rejection-sampling", "leave one of them out")
    if (case.number("pp-size") or 1) > 1 and case.algorithm is not None:
        yield Hit(flag, "does not go with pipeline stages and drafts", "leave it out")


def _draft_runner(case: Case) -> Iterator[Hit]:
    flag = "speculative-moe-runner-backend"
    name = case.text(flag)
    if name is not None and name.startswith("lora_"):
        yield Hit(flag, f"{name} does not run a draft", "leave it out")


def _trtllm_runner(case: Case) -> Iterator[Hit]:
    flag = "speculative-moe-runner-backend"
    if case.algorithm is not None and case.text(flag) == "flashinfer_trtllm":
        yield Hit(flag, "flashinfer_trtllm does not run a draft", "leave it out")


def _multiplexed(case: Case) -> Iterator[Hit]:
    flag = "enable-pdmux"
    if not case.is_on(flag):
        return
    if (case.number("pp-size") or 1) != 1:
        yield Hit("pp-size", f"{flag} needs pp-size 1", "leave it out")
    if case.number("chunked-prefill-size") != -1:
        yield Hit(flag, "does not go with chunked prefill", "give chunked-prefill-size = -1")
    if (case.text("disaggregation-mode") or "null") != "null":
        yield Hit(flag, "does not go with disaggregation-mode", "leave one of them out")
    if not case.is_on(OVERLAP):
        yield Hit(flag, "does not go with overlap", "give disable-overlap-schedule = true")


def _graph_batch(case: Case) -> Iterator[Hit]:
    """Graphs for more requests than may run are captured for nothing."""
    running = case.number(RUNNING)
    for flag in ("cuda-graph-max-bs-decode", "cuda-graph-max-bs"):
        size = case.number(flag)
        if case.is_given(flag) and running and size and size > running and case.algorithm:
            message = f"graphs for {size} requests are captured, and {running} run at most"
            yield Hit(flag, message, f"write {running}, or raise max-running-requests")


EARLY = (
    Rule("aux-hidden-states", Severity.ERROR, _captures,
         says("--enable-return-aux-hidden-states needs --speculative-algorithm"), Span("0.5.23"),
         is_live=True),
    Rule("aux-hidden-states-only", Severity.REWRITE, _captures_only,
         Evidence(r"def handle_aux_hidden_state_capture"), Span("0.5.23"), is_live=True),
)  # fmt: skip
RULES = (
    Rule("running-requests", Severity.HINT, _running,
         Evidence(r"max_running_requests\s*=\s*(?:48|32)"), Span("0.4.3.post4"), is_live=True),
    Derivation(_cpu_overlap),
    Derivation(_overlap),
    Rule("spec-v2-topk", Severity.ERROR, _overlapped_tree,
         Evidence(r"Spec v2 currently only supports topk = 1", ("srt/server_args.py",)),
         Span("0.5.7", "0.5.10.post1")),
    Rule("spec-v1-fallback", Severity.HINT, _synchronous_tree,
         Evidence(r"spec v2 currently only supports topk = 1", ("srt/server_args.py",)),
         Span("0.5.11", "0.5.12")),
    Rule("mixed-chunk", Severity.REWRITE, _mixed,
         Evidence(r"Mixed chunked prefill is disabled|mixed chunked prefill are disabled|"
                  r"enable_mixed_chunk\s*=\s*False"), Span("0.4.7.post1"), is_live=True),
    Rule("radix-cache-of-decode", Severity.ERROR, _radix_cache,
         says("--disaggregation-decode-enable-radix-cache is incompatible"), Span("0.5.11")),
    Rule("lora-algorithm", Severity.ERROR, _lora,
         says("LoRA is only compatible with NGRAM, EAGLE"), Span("0.5.19"), is_live=True),
    Rule("lora-with", Severity.ERROR, _lora_with,
         says("LoRA with EAGLE/NEXTN/EAGLE3 speculative decoding"), Span("0.5.19"), is_live=True),
    Rule("lora-before", Severity.ERROR, _lora_early,
         says("LoRA is only compatible with NGRAM speculative decoding"),
         Span("0.5.6.post2", "0.5.18")),
    Rule("weight-cache", Severity.ERROR, _weight_cache,
         says("--weight-cache-mode is not supported together with"), Span("0.5.17")),
    Rule("lmcache", Severity.ERROR, _lmcache,
         says("LMCacheUnifiedRadixCache does not yet support speculative"), Span("0.5.21")),
    Rule("unified-memory", Severity.ERROR, _unified,
         says("--enable-unified-memory only supports"), Span("0.5.18")),
    Rule("watermark", Severity.ERROR, _watermark,
         says("--enable-watermark supports speculative algorithms"), Span("0.5.22")),
    Rule("draft-moe-runner", Severity.ERROR, _draft_runner,
         Evidence(r"speculative_moe_runner_backend\.startswith\(\"lora"), Span("0.5.23"),
         is_live=True),
    Rule("draft-moe-runner-trtllm", Severity.ERROR, _trtllm_runner,
         Evidence(r"speculative MoE runner backend (?:cannot|doesn't).{0,9} flashinfer_trtllm"),
         Span("0.5.7", "0.5.11")),
    Rule("pdmux", Severity.ERROR, _multiplexed,
         says("PD-Multiplexing is not compatible with chunked prefill"), Span("0.5.3.post3")),
    Rule("graphs-for-nothing", Severity.HINT, _graph_batch),
)  # fmt: skip
