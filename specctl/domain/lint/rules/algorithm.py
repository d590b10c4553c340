"""The name of the algorithm, and what it can run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.lint.case import EAGLE_FAMILY, MTP_ALIAS
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Derivation, Evidence, Hit, Rule, says
from specctl.domain.nearest import nearest
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.domain.lint.case import Case

ALGORITHM = "speculative-algorithm"
SPANS: Mapping[str, Span] = {
    "EAGLE": Span("0.4.2"),
    "NEXTN": Span("0.4.3.post4"),
    "EAGLE3": Span("0.4.6.post5"),
    "STANDALONE": Span("0.5.2"),
    "NGRAM": Span("0.5.3"),
    "DFLASH": Span("0.5.11"),
    "FROZEN_KV_MTP": Span("0.5.12"),
    "DSPARK": Span("0.5.16"),
    "UNO": Span("0.5.20"),
}
"""Algorithm to the versions whose enum lists it."""

GEMMA_DRAFTS = frozenset({"Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM"})
_FREE_TEXT = "0.5.12"
"""From here on any text passes argparse and is put in upper case."""


def known_algorithms(case: Case) -> tuple[str, ...]:
    """The names the build takes, aliases included."""
    tree = case.build.tree
    if tree is not None and tree.algorithms:
        names = {name for a in tree.algorithms for name in (a.name, *a.aliases)}
        ordered = dict.fromkeys((*flags.ALGORITHMS, *sorted(names)))
        return tuple(name for name in ordered if name in names)
    return tuple(n for n in flags.ALGORITHMS if SPANS[n].holds(case.build.number))


def _none(case: Case) -> Iterator[Hit]:
    name = case.algorithm
    if name is not None and name.upper() == "NONE":
        message = "starts, and the server ends at its warm-up request"
        yield Hit(ALGORITHM, message, "leave the [speculation] table out for a baseline")


def _blank(case: Case) -> Iterator[Hit]:
    name = case.algorithm
    if name is not None and (not name or name != name.strip()):
        message = "is blank" if not name.strip() else "has a blank at its end"
        fix = "leave the [speculation] table out for a baseline" if not name.strip() else ""
        yield Hit(ALGORITHM, message, fix or f"write {name.strip()}", {ALGORITHM: None})


def _unknown(case: Case) -> Iterator[Hit]:
    name = case.algorithm
    free = case.build.is_at_least(_FREE_TEXT)
    if name is None or (free and name.strip().upper() in {"", "NONE"}):
        return
    known = known_algorithms(case)
    if (name.upper() if free else name).strip() in known:
        return
    plugins = "" if case.build.tree else "; a plugin may register it"
    close = nearest(name, known)
    is_typo = close.replace("-", "") == name.upper().replace("-", "")
    tree = case.build.tree
    is_certain = (tree is not None and tree.algorithms) or is_typo or name in SPANS
    severity = None if is_certain or _is_silent(case) else Severity.WARNING
    if _is_silent(case):
        message = f"{case.build.name} does not speculate at all"
    else:
        message = f"{case.build.name} has no algorithm {name}{plugins}"
    yield Hit(ALGORITHM, message, f"one of {', '.join(known)}", severity=severity, nearest=close)


def _is_silent(case: Case) -> bool:
    """The build has no speculation whatever."""
    return case.build.tree is not None and not case.build.tree.has_speculation


def _upper(case: Case) -> Iterator[Hit]:
    name = case.algorithm
    if name and name != name.upper() and name.strip().upper() in known_algorithms(case):
        message = f"the server reads it as {name.upper()}"
        yield Hit(ALGORITHM, message, f"write {name.upper()}", {ALGORITHM: name.upper()})


def _alias(case: Case) -> Iterator[Hit]:
    if case.algorithm == MTP_ALIAS and case.draft_architecture not in GEMMA_DRAFTS:
        message = "is an alias: the server reports EAGLE"
        yield Hit(ALGORITHM, message, "", {ALGORITHM: "EAGLE"})


def _promoted(case: Case) -> Iterator[Hit]:
    if case.algorithm in {"EAGLE", MTP_ALIAS} and case.draft_architecture in GEMMA_DRAFTS:
        message = f"with a {case.draft_architecture} draft the server changes it to FROZEN_KV_MTP"
        yield Hit(ALGORITHM, message, "", {ALGORITHM: "FROZEN_KV_MTP"})


def _gemma_eagle3(case: Case) -> Iterator[Hit]:
    if case.algorithm == "EAGLE3" and case.draft_architecture in GEMMA_DRAFTS:
        yield Hit(ALGORITHM, f"a {case.draft_architecture} draft needs NEXTN", "write NEXTN")


def _typed_frozen(case: Case) -> Iterator[Hit]:
    names = ("speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens")
    lost = [name.removeprefix("speculative-") for name in names if case.values.get(name) is None]
    if case.algorithm == "FROZEN_KV_MTP" and lost:
        message = f"nothing is chosen or checked for it, and {', '.join(lost)} are missing"
        yield Hit(ALGORITHM, message, "give num-steps, eagle-topk and num-draft-tokens")


def _no_index(case: Case) -> None:
    device = case.text("device")
    if device is not None:
        case.values["device"] = device.partition(":")[0]


def _ngram_device(case: Case) -> Iterator[Hit]:
    devices = case.build.known.ngram_devices or _devices_of_ngram(case)
    if case.algorithm == "NGRAM" and case.device not in devices:
        yield _on(case, "NGRAM", devices)


def _devices_of_ngram(case: Case) -> tuple[str, ...]:
    if case.build.is_at_least("0.5.21"):
        return ("cuda", "cpu", "xpu")
    return ("cuda", "cpu") if case.build.is_at_least("0.5.16") else ("cuda",)


def _on(case: Case, name: str, devices: tuple[str, ...]) -> Hit:
    key = "device" if case.is_given("device") else ALGORITHM
    return Hit(key, f"{name} does not run on {case.device}", f"it runs on {', '.join(devices)}")


def _block_device(case: Case) -> Iterator[Hit]:
    devices = ("cuda", "npu", "xpu")
    if case.algorithm == "DFLASH" and case.device not in devices:
        yield _on(case, "DFLASH", devices)


def _dspark_device(case: Case) -> Iterator[Hit]:
    devices = ("cuda", "npu", "xpu")
    if case.algorithm == "DSPARK" and case.device not in devices:
        yield _on(case, "DSPARK", devices)


def _uno_device(case: Case) -> Iterator[Hit]:
    if case.algorithm == "UNO" and case.device != "cuda":
        yield _on(case, "UNO", ("cuda",))


def _ignored_flags(case: Case) -> Iterator[Hit]:
    """Draft parameters without an algorithm are read and never used."""
    if case.algorithm is not None:
        return
    for flag in ("speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens"):
        if case.is_given(flag):
            yield Hit(flag, "has no effect without an algorithm", "name an algorithm")


def _others_flags(case: Case) -> Iterator[Hit]:
    """Flags of one algorithm given to another."""
    name = case.algorithm
    if name is None:
        return
    for flag in sorted(case.given.names):
        owner = next((o for prefix, o in _OWNERS if flag.startswith(prefix)), None)
        if owner is not None and name not in owner:
            yield Hit(flag, f"{name} does not use it", "leave it out")


_OWNERS = (
    ("speculative-ngram-", frozenset({"NGRAM"})),
    ("speculative-dflash-", frozenset({"DFLASH"})),
    ("speculative-dspark-", frozenset({"DSPARK"})),
    ("uno-", frozenset({"UNO"})),
    ("speculative-draft-model", EAGLE_FAMILY | {"NEXTN", "DFLASH", "DSPARK", "FROZEN_KV_MTP"}),
)

RULES = (
    Derivation(_no_index),
    Rule("algorithm-blank", Severity.ERROR, _blank,
         says("Unknown speculative algorithm name"), Span(_FREE_TEXT), is_live=True),
    Rule("algorithm-none", Severity.ERROR, _none,
         Evidence(r"NONE = auto\(\)", ("srt/speculative/spec_info.py",)), Span(_FREE_TEXT),
         is_late=True),
    Rule("algorithm-unknown", Severity.ERROR, _unknown,
         Evidence(r"class SpeculativeAlgorithm\b", ("srt/speculative/spec_info.py",)),
         Span("0.4.2"), is_live=True),
    Rule("algorithm-upper-case", Severity.HINT, _upper,
         Evidence(r"speculative_algorithm\s*=\s*\w+\.speculative_algorithm\.upper\(\)"),
         Span(_FREE_TEXT)),
    Rule("algorithm-alias", Severity.HINT, _alias,
         Evidence(r"speculative_algorithm == \"NEXTN\""), Span("0.4.3.post4")),
    Rule("eagle3-gemma4-draft", Severity.ERROR, _gemma_eagle3,
         says("not supported for this draft architecture"), Span(_FREE_TEXT)),
    Rule("gemma4-draft-promotes", Severity.REWRITE, _promoted,
         Evidence(r"return \"FROZEN_KV_MTP\"|speculative_algorithm = \"FROZEN_KV_MTP\""),
         Span(_FREE_TEXT)),
    Rule("frozen-kv-mtp-typed", Severity.ERROR, _typed_frozen,
         Evidence(r"def _?handle_frozen_kv_mtp|FROZEN_KV_MTP = auto\(\)"), Span(_FREE_TEXT)),
    Rule("ngram-device", Severity.ERROR, _ngram_device,
         says("Ngram speculative decoding only supports"), Span("0.5.3")),
    Rule("dflash-device", Severity.ERROR, _block_device,
         Evidence(r"DFLASH speculative decoding|algorithm = \"DFLASH\""), Span("0.5.11"),
         is_live=True),
    Rule("dspark-device", Severity.ERROR, _dspark_device,
         says("DSpark speculative decoding only supports"), Span("0.5.16"), is_live=True),
    Rule("uno-device", Severity.ERROR, _uno_device,
         says("UNO only supports CUDA"), Span("0.5.20"), is_live=True),
    Rule("flags-without-algorithm", Severity.WARNING, _ignored_flags),
    Rule("flags-of-another-algorithm", Severity.WARNING, _others_flags),
)  # fmt: skip
