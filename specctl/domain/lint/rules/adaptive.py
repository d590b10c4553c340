"""Adaptive speculation: when it is switched off again, and which steps it may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.given import as_json
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

ADAPTIVE, CONFIG = "speculative-adaptive", "speculative-adaptive-config"
STEPS, TOPK, TOKENS = (
    "speculative-num-steps", "speculative-eagle-topk", "speculative-num-draft-tokens",
)  # fmt: skip
DEFAULT_STEPS = (0, 1, 3, 5, 7)


def _unsupported(case: Case) -> Iterator[Hit]:
    if not case.is_on(ADAPTIVE):
        return
    reason = _reason(case)
    if reason is not None:
        message = f"the server will switch it off: {reason}"
        yield Hit(ADAPTIVE, message, "leave it out, or change that", {ADAPTIVE: False})


def _reason(case: Case) -> str | None:
    reasons = (
        (case.algorithm not in {"EAGLE", "EAGLE3"},
         f"{case.algorithm or 'no algorithm'} is neither EAGLE nor EAGLE3"),
        (case.topk not in {None, 1}, f"eagle-topk is {case.topk}, not 1"),
        (case.attention_groups > 1, "DP attention is on"),
        (case.is_on("enable-multi-layer-eagle"), "enable-multi-layer-eagle is on"),
        (case.is_on("enable-two-batch-overlap"), "enable-two-batch-overlap is on"),
        (case.is_on("enable-pdmux"), "enable-pdmux is on"),
    )  # fmt: skip
    return next((words for is_so, words in reasons if is_so), None)


def _no_file(case: Case) -> Iterator[Hit]:
    path = case.text(CONFIG)
    if not case.is_on(ADAPTIVE) or path is None:
        return
    if path.lstrip().startswith("{"):
        yield Hit(CONFIG, "is a path, not JSON itself", "write the JSON to a file on the host")
    elif path in case.around.missing_files:
        yield Hit(CONFIG, f"{path} is not there", "correct the path")


def _bad_file(case: Case) -> Iterator[Hit]:
    text = case.around.files.get(case.text(CONFIG) or "")
    if case.is_on(ADAPTIVE) and text is not None and (trouble := _trouble(as_json(text))):
        yield Hit(CONFIG, trouble, 'e.g. {"1": {"candidate_steps": [1, 3, 5]}}')


def _trouble(config: object) -> str:
    if not isinstance(config, Mapping):
        return "is no JSON object"
    entries = {key: value for key, value in config.items() if key.isdigit()}
    if not entries:
        return "has no batch size among its keys"
    for key, entry in entries.items():
        steps = entry.get("candidate_steps") if isinstance(entry, Mapping) else None
        if not _are_steps(steps):
            return f"candidate_steps of batch size {key} is no list of steps, 0 or more"
    return ""


def _are_steps(steps: object) -> bool:
    if not isinstance(steps, list) or not steps:
        return False
    return all(isinstance(step, int) and step >= 0 for step in steps)


def candidate_steps(case: Case) -> tuple[int, ...] | None:
    """Every step count it may take; None when its file is not at hand."""
    path = case.text(CONFIG)
    if path is None:
        return case.build.known.adaptive_steps or DEFAULT_STEPS
    config = as_json(case.around.files.get(path, ""))
    if not isinstance(config, Mapping) or _trouble(config):
        return None
    entries = [entry for key, entry in config.items() if key.isdigit()]
    return tuple(sorted({step for entry in entries for step in entry["candidate_steps"]}))


def _steps(case: Case) -> Iterator[Hit]:
    if not case.is_on(ADAPTIVE):
        return
    if case.topk is None:
        case.values[TOPK] = 1
    allowed = candidate_steps(case)
    if allowed is None:
        return
    if case.steps is None:
        case.values[STEPS] = allowed[len(allowed) // 2]
    elif case.steps not in allowed:
        listed = ", ".join(str(step) for step in allowed)
        yield Hit(
            STEPS, f"{case.steps} is none of the candidate steps {listed}", "write one of them"
        )


def _tokens(case: Case) -> Iterator[Hit]:
    steps = case.steps
    if not case.is_on(ADAPTIVE) or steps is None:
        return
    sets = {TOKENS: steps + 1}
    if case.is_given(TOKENS) and case.draft_tokens != steps + 1:
        message = f"the server will change {case.draft_tokens} to num-steps + 1 = {steps + 1}"
        yield Hit(TOKENS, message, "leave it out", sets)
    case.values.update(sets)


def _unread(case: Case) -> Iterator[Hit]:
    if case.is_given(CONFIG) and not case.is_given(ADAPTIVE):
        yield Hit(CONFIG, "is not read without adaptive", "give adaptive = true")


_SINCE = Span("0.5.11")
_FILE = ("srt/speculative/adaptive_spec_params.py",)

RULES = (
    Rule("adaptive-off", Severity.REWRITE, _unsupported,
         Evidence(r"speculative_adaptive disabled|def adaptive_unsupported_reason"), _SINCE,
         is_live=True),
    Rule("adaptive-config-path", Severity.ERROR, _no_file,
         Evidence(r"with open\(", _FILE), _SINCE,
         is_live=True),
    Rule("adaptive-config", Severity.ERROR, _bad_file,
         Evidence(r"candidate_steps", _FILE), _SINCE, is_live=True),
    Rule("adaptive-steps", Severity.ERROR, _steps,
         says("is not in the adaptive config candidate_steps"), Span("0.5.13.post1"), is_live=True),
    Rule("adaptive-draft-tokens", Severity.REWRITE, _tokens,
         Evidence(r"def _?init_adaptive_speculative_params"), Span("0.5.14"), is_live=True),
    Rule("adaptive-config-unread", Severity.WARNING, _unread,
         Evidence(r"if \w+\.speculative_adaptive:"), _SINCE),
)  # fmt: skip
