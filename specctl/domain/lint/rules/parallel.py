"""Several GPUs: DP attention and pipeline stages beside speculation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Derivation, Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

_PP_VARIABLE = "SGLANG_ENABLE_PP_SPEC"


def _groups(case: Case) -> None:
    """`dp-size N` with `enable-dp-attention` is `attn-dp-size N`, as 0.5.22 puts it."""
    if case.is_on("enable-dp-attention") and case.build.is_at_least("0.5.22"):
        case.values["attn-dp-size"] = case.attention_groups
        case.values["dp-size"] = 1
        case.values["enable-dp-attention"] = False


def _key(case: Case) -> str:
    return "attn-dp-size" if case.is_given("attn-dp-size") else "enable-dp-attention"


def _divides(case: Case) -> Iterator[Hit]:
    groups, tp = case.attention_groups, case.number("tp-size") or 1
    if groups > 1 and tp % groups != 0:
        message = f"{groups} attention groups do not divide tp-size {tp} (a bare AssertionError)"
        yield Hit(_key(case), message, "write a divisor of tp-size")


def _standalone(case: Case) -> Iterator[Hit]:
    if case.algorithm == "STANDALONE" and case.attention_groups > 1:
        yield Hit(_key(case), "STANDALONE does not go with DP attention", "leave it out")


def _ngram(case: Case) -> Iterator[Hit]:
    if case.algorithm == "NGRAM" and case.attention_groups > 1:
        yield Hit(_key(case), "NGRAM does not go with DP attention", "leave it out")


def _no_overlap(case: Case) -> None:
    if (case.number("pp-size") or 1) > 1:
        case.values["disable-overlap-schedule"] = True


def _pipeline(case: Case) -> Iterator[Hit]:
    """Before 0.5.20 pipeline stages and speculation exclude each other."""
    if (case.number("pp-size") or 1) > 1 and case.algorithm not in {None, "DFLASH", "DSPARK"}:
        yield Hit("pp-size", "pipeline stages do not go with speculation", "write pp-size = 1")


def _has_stages(case: Case) -> bool:
    others = {None, "DFLASH", "DSPARK", "UNO"}
    return (case.number("pp-size") or 1) > 1 and case.algorithm not in others


def _pipeline_algorithm(case: Case) -> Iterator[Hit]:
    if not _has_stages(case):
        return
    if case.algorithm != "EAGLE":
        message = f"pipeline stages go with EAGLE only, not with {case.algorithm}"
        yield Hit("pp-size", message, "write pp-size = 1")
    elif case.is_on("enable-multi-layer-eagle"):
        message = "pipeline stages do not go with it"
        yield Hit("enable-multi-layer-eagle", message, "leave it out")


def _pipeline_eagle(case: Case) -> Iterator[Hit]:
    mode = case.text("disaggregation-mode") or "null"
    if not _has_stages(case) or case.algorithm != "EAGLE":
        return
    if not case.is_variable_on(_PP_VARIABLE) and mode != "prefill":
        message = "with EAGLE they need a prefill server"
        fix = f"write pp-size = 1, or set {_PP_VARIABLE}=1 in [env] to try it"
        yield Hit("pp-size", message, fix)


def _pipeline_variable(case: Case) -> Iterator[Hit]:
    if not _has_stages(case) or case.algorithm != "EAGLE":
        return
    if not case.is_variable_on(_PP_VARIABLE):
        return
    mode = case.text("disaggregation-mode") or "null"
    if mode != "null":
        yield Hit("disaggregation-mode", f"{_PP_VARIABLE} does not go with {mode}", "leave one out")
    if case.is_on("speculative-adaptive"):
        yield Hit("speculative-adaptive", f"{_PP_VARIABLE} does not go with it", "leave it out")
    if case.attention_groups > 1:
        yield Hit(_key(case), f"{_PP_VARIABLE} does not go with DP attention", "leave it out")


def _replicas(case: Case) -> Iterator[Hit]:
    count = case.number("dp-size") or 1
    if count > 1 and case.algorithm is not None and not case.is_on("enable-dp-attention"):
        message = f"{count} whole replicas, each with a draft of its own"
        yield Hit("dp-size", message, "give attn-dp-size if DP attention was meant")


EARLY = (
    Derivation(_groups),
    Derivation(_no_overlap),
    Rule("dp-attention-divides", Severity.ERROR, _divides,
         Evidence(r"assert \w+\.tp_size % \w+\.(?:attn_)?dp_size == 0"), Span("0.4.2"),
         is_live=True),
)  # fmt: skip
RULES = (
    Rule("standalone-dp-attention", Severity.ERROR, _standalone,
         says("standalone speculative decoding does not support dp attention"), Span("0.5.2")),
    Rule("ngram-dp-attention", Severity.ERROR, _ngram,
         says("ngram speculative decoding does not support dp attention"), Span("0.5.3")),
    Rule("pipeline-before", Severity.ERROR, _pipeline,
         Evidence(r"not compatible with overlap schedule, speculative|"
                  r"Pipeline parallelism is not compatible with"), Span("0.4.6.post5", "0.5.19")),
    Rule("pipeline-algorithm", Severity.ERROR, _pipeline_algorithm,
         says("Pipeline parallelism currently only supports EAGLE"), Span("0.5.20"),
         is_live=True),
    Rule("pipeline-eagle", Severity.ERROR, _pipeline_eagle,
         says("PP + speculative decoding (MTP) is only supported on prefill nodes"),
         Span("0.5.20"), is_live=True),
    Rule("pipeline-variable", Severity.ERROR, _pipeline_variable,
         says("SGLANG_ENABLE_PP_SPEC is not compatible with"), Span("0.5.21")),
    Rule("replicas", Severity.HINT, _replicas,
         Evidence(r"\bdp_size: "), Span("0.5.2")),
)  # fmt: skip
