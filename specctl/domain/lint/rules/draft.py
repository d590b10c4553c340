"""The draft model: there, of the right kind, loaded as it should be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.lint.case import EAGLE_FAMILY, MTP_ALIAS
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

DRAFT = "speculative-draft-model-path"
REVISION = "speculative-draft-model-revision"
QUANTIZATION = "speculative-draft-model-quantization"
ALGORITHM = "speculative-algorithm"

PLAIN_ARCHITECTURES = frozenset({
    "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM",
    "GemmaForCausalLM", "Gemma2ForCausalLM", "Phi3ForCausalLM",
})  # fmt: skip
"""Whole models, which no EAGLE worker can use as a head."""


def _unreadable(case: Case) -> Iterator[Hit]:
    if case.text(DRAFT) is not None and case.around.draft_trouble is not None:
        extra = "" if case.algorithm in EAGLE_FAMILY else "; it is read whatever the algorithm"
        message = f"its config cannot be read: {case.around.draft_trouble}{extra}"
        yield Hit(DRAFT, message, "correct the path, or leave it out")


def _own_draft(case: Case) -> Iterator[Hit]:
    if not _is_family(case) or not _brings_draft(case):
        return
    if case.text(DRAFT) is None:
        message = f"the draft is taken from the target: {case.text('model-path')}"
        sets = {DRAFT: case.text("model-path"), REVISION: case.text("revision")}
        yield Hit(ALGORITHM, message, "", sets)


def _needless(case: Case) -> Iterator[Hit]:
    exempt = {"MistralLarge3ForCausalLM", "PixtralForConditionalGeneration"}
    is_own = case.text(DRAFT) == case.text("model-path")
    given = case.is_given(DRAFT) and case.target_architecture not in exempt
    if _is_family(case) and _brings_draft(case) and given and not is_own:
        message = f"{case.target_architecture} brings its own draft; this one is used instead"
        yield Hit(DRAFT, message, "leave it out unless that is meant")


def _is_family(case: Case) -> bool:
    return case.algorithm in EAGLE_FAMILY


def _brings_draft(case: Case) -> bool:
    return case.target_architecture in (case.build.known.own_draft_architectures or OWN_DRAFT)


OWN_DRAFT = (
    "DeepseekV32ForCausalLM", "DeepseekV3ForCausalLM", "DeepseekV4ForCausalLM",
    "Glm4MoeForCausalLM", "Glm4MoeLiteForCausalLM", "GlmMoeDsaForCausalLM",
    "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM", "BailingMoeV2_5ForCausalLM",
    "MistralLarge3ForCausalLM", "PixtralForConditionalGeneration", "HYV3ForCausalLM",
    "HYV4ForCausalLM", "Qwen4ExpForConditionalGeneration",
)  # fmt: skip
"""Of 0.5.23; a tree says its own."""


def _missing(case: Case) -> Iterator[Hit]:
    """No draft, and none in the target that is known of: its config falls back to the target's."""
    name, target = case.algorithm, case.target_architecture
    if name not in EAGLE_FAMILY | {"FROZEN_KV_MTP"} or case.text(DRAFT) is not None:
        return
    fix = "give draft-model-path"
    if name == "STANDALONE":
        message = "no draft-model-path: the target would be loaded twice, as its own draft"
        yield Hit(ALGORITHM, message, fix, severity=Severity.WARNING)
    elif target in PLAIN_ARCHITECTURES:
        message = (
            f"no draft-model-path, and {target} has no draft of its own: "
            "the target is loaded again as its draft, and the load fails late"
        )
        yield Hit(ALGORITHM, message, fix)
    elif not _has_own_head(case) and case.typed_algorithm != MTP_ALIAS:
        message = f"{name} without draft-model-path needs a target with a draft of its own"
        yield Hit(ALGORITHM, message, fix, severity=Severity.WARNING)


def _has_own_head(case: Case) -> bool:
    """The build has a class for the layers that such a target drafts with."""
    target, tree = case.target_architecture, case.build.tree
    stem = re.sub(r"For(?:CausalLM|ConditionalGeneration)$", "", target or "")
    if not stem or tree is None:
        return target in OWN_DRAFT and case.build.is_at_least("0.4.3")
    drafts = {name for algorithm in tree.algorithms for name in algorithm.draft_architectures}
    heads = (name for name in drafts if re.search(r"MTP|NextN|Mtp", name))
    return any(name.startswith(stem) for name in heads)


def _revision(case: Case) -> Iterator[Hit]:
    """The target's revision is pinned, and the draft's is whatever `main` is by then."""
    if case.text(DRAFT) is None or not case.is_given(DRAFT) or case.text(REVISION) is not None:
        return
    case.values[REVISION] = "main"
    if case.is_given("revision"):
        message = "the target's revision is pinned; of the draft `main` is taken"
        yield Hit(DRAFT, message, "give draft-model-revision")


def _quantized(case: Case) -> Iterator[Hit]:
    own, target = case.text(QUANTIZATION), case.text("quantization")
    if own == "unquant":
        case.values[QUANTIZATION] = None
    elif own is None and target not in {None, "unquant"}:
        case.values[QUANTIZATION] = target
        if case.text(DRAFT) is not None:
            message = f"the draft is loaded with quantization {target} too"
            fix = 'give draft-model-quantization = "unquant" if the draft is not quantised'
            yield Hit("quantization", message, fix)


def _eagle3_under_eagle(case: Case) -> Iterator[Hit]:
    """The seed's accept length of exactly 1.00."""
    if case.algorithm != "EAGLE" or case.text(DRAFT) is None:
        return
    kind = case.draft_architecture
    if kind is not None and "eagle3" in kind.lower():
        message = f"the draft is an EAGLE-3 one ({kind}): it would load and never be accepted"
        yield Hit(ALGORITHM, message, "write EAGLE3")
    elif kind is None and _names_eagle3(case.text(DRAFT) or ""):
        message = f"the draft is called {case.text(DRAFT)}: an EAGLE-3 draft needs EAGLE3"
        yield Hit(ALGORITHM, message, "write EAGLE3 if it is one", severity=Severity.WARNING)


def _names_eagle3(path: str) -> bool:
    return "eagle3" in path.lower().replace("-", "").replace("_", "")


def _eagle_under_eagle3(case: Case) -> Iterator[Hit]:
    kind = case.draft_architecture
    if case.algorithm == "EAGLE3" and kind and kind.endswith("ForCausalLMEagle"):
        message = f"the draft is an EAGLE-1/2 one ({kind}): it has no draft vocabulary"
        yield Hit(ALGORITHM, message, "write EAGLE")


def _plain(case: Case) -> Iterator[Hit]:
    kind = case.draft_architecture
    if case.algorithm in {"EAGLE", "EAGLE3"} and kind in PLAIN_ARCHITECTURES:
        message = f"{kind} is a whole model, no {case.algorithm} head: the load fails late"
        yield Hit(DRAFT, message, "write STANDALONE for it, or give a head")


def vocabularies(case: Case) -> tuple[int | None, int | None]:
    """Tokens of the target and of the draft, where both configs are at hand."""
    target, draft = case.around.target_config, case.around.draft_config
    return target.vocab_size if target else None, draft.vocab_size if draft else None


def _vocabulary(case: Case) -> Iterator[Hit]:
    target, draft = vocabularies(case)
    if case.algorithm == "STANDALONE" and draft and target and draft != target:
        message = f"the draft has {draft} tokens and the target {target}: they must be the same"
        since = "" if case.build.is_at_least("0.5.15") else "; this version would answer garbage"
        yield Hit(DRAFT, message + since, "take a draft of the target's family")


def _token_map(case: Case) -> Iterator[Hit]:
    if case.algorithm == "EAGLE3" and case.is_given("speculative-token-map"):
        yield Hit(
            "speculative-token-map", "ignored: EAGLE-3 drafts bring their own", "leave it out"
        )


RULES = (
    Rule("draft-config-unreadable", Severity.ERROR, _unreadable,
         Evidence(r"get_config\(\s*speculative_draft_model_path"), Span("0.5.12"),
         is_live=True),
    Rule("draft-of-the-target", Severity.HINT, _own_draft,
         Evidence(r"model_arch (?:in|==) (?:\[\s*)?\"Deepseek"), Span("0.4.6.post5")),
    Rule("draft-not-needed", Severity.WARNING, _needless,
         says("MTP does not require setting speculative_draft_model_path"), Span("0.4.6.post5")),
    Rule("draft-missing", Severity.ERROR, _missing,
         says("The path of the draft model weights"), Span("0.4.2"), is_late=True),
    Rule("draft-revision", Severity.HINT, _revision,
         Evidence(r"speculative_draft_model_revision\s*=\s*\"main\""), Span("0.5.6.post2")),
    Rule("draft-inherits-quantization", Severity.WARNING, _quantized,
         Evidence(r"speculative_draft_model_quantization\s*=\s*\w+\.quantization"), Span("0.5.7")),
    Rule("eagle3-draft-under-eagle", Severity.ERROR, _eagle3_under_eagle,
         Evidence(r"is_eagle3\(\)"), Span("0.4.6.post5"), is_late=True),
    Rule("eagle-draft-under-eagle3", Severity.ERROR, _eagle_under_eagle3,
         Evidence(r"model\.(?:get_)?hot_token_id"), Span("0.4.6.post5"), is_late=True),
    Rule("plain-model-as-head", Severity.ERROR, _plain,
         Evidence(r"set_embed_and_head|get_embed_and_head"), Span("0.4.2"), is_late=True),
    Rule("standalone-vocabulary", Severity.ERROR, _vocabulary,
         Evidence(r"_validate_vocab_compatibility|is_standalone\(\)|class StandaloneWorker",
                  ("srt/speculative/standalone_worker", "srt/speculative/")),
         Span("0.5.2"), is_late=True),
    Rule("eagle3-token-map", Severity.WARNING, _token_map,
         says("EAGLE3 models already have this"), Span("0.4.6.post5")),
)  # fmt: skip
