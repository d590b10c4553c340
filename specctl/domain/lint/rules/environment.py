"""Environment variables that are no longer read, not yet read, or read in a trap; and --config."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule, says
from specctl.domain.nearest import nearest
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.domain.lint.case import Case

RAGGED = "SGLANG_RAGGED_VERIFY_MODE"
RAGGED_MODES = ("static", "cap-accept", "compact")
COORDINATION = "SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"
SIMULATED = ("SGLANG_SIMULATE_ACC_LEN", "SIMULATE_ACC_LEN")

VARIABLES: Mapping[str, tuple[Span, str]] = {
    "SGLANG_ENABLE_SPEC_V2": (
        Span("0.5.4.post3", "0.5.13.post1"), "disable-overlap-schedule is the switch since",
    ),
    "SIMULATE_ACC_LEN": (Span("0.4.6.post5", "0.5.2"), "SGLANG_SIMULATE_ACC_LEN since"),
    "SIMULATE_ACC_METHOD": (Span("0.4.9", "0.5.2"), "SGLANG_SIMULATE_ACC_METHOD since"),
    "SGLANG_SIMULATE_ACC_LEN": (Span("0.5.3"), "SIMULATE_ACC_LEN before"),
    "SGLANG_SIMULATE_ACC_METHOD": (Span("0.5.3"), "SIMULATE_ACC_METHOD before"),
    "SGLANG_SIMULATE_ACC_TOKEN_MODE": (Span("0.5.16"), ""),
    "SGLANG_ENABLE_OVERLAP_PLAN_STREAM": (Span("0.5.4.post3"), ""),
    RAGGED: (Span("0.5.16"), ""),
    "SGLANG_SPEC_TP_SYNC": (Span("0.5.20"), ""),
    "SGLANG_ENABLE_PP_SPEC": (Span("0.5.21"), ""),
    COORDINATION: (Span("0.5.21"), ""),
}  # fmt: skip
"""Variables around speculation, the versions that read them, and what is there otherwise."""

_TRUTHS = frozenset({"true", "1", "yes", "y", "false", "0", "no", "n", ""})
_CONFIG_KEY = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:", re.MULTILINE)


def _stale(case: Case) -> Iterator[Hit]:
    for name in case.given.environment:
        span, instead = VARIABLES.get(name, (None, ""))
        declared = case.build.known.variables
        if span is None or (declared is not None and name in declared):
            continue
        if declared is None and span.holds(case.build.number):
            continue
        message = f"{case.build.name} does not read it ({span} do)"
        yield Hit(f"env:{name}", message, instead or "take it out, or upgrade SGLang")


def _undeclared(case: Case) -> Iterator[Hit]:
    declared = case.build.known.variables
    if declared is None:
        return
    for name in case.given.environment:
        is_ours = name.startswith(("SGLANG_", "SGL_")) and name not in VARIABLES
        if is_ours and name not in declared and not _is_read(case, name):
            close = nearest(name, declared)
            fix = f"the closest is {close}" if close else "take it out"
            yield Hit(f"env:{name}", f"{case.build.name} does not declare it", fix, nearest=close)


def _is_read(case: Case, name: str) -> bool:
    return any(name in text for text in case.build.texts.values())


def _ragged(case: Case) -> Iterator[Hit]:
    mode = case.variable(RAGGED)
    if mode is not None and case.algorithm is not None and mode not in RAGGED_MODES:
        close = nearest(mode, RAGGED_MODES)
        message = f"{mode!r} is none of {', '.join(RAGGED_MODES)} (case counts)"
        yield Hit(f"env:{RAGGED}", message, f"write {close or 'static'}", nearest=close)


def _coordination(case: Case) -> Iterator[Hit]:
    if not case.is_variable_on(COORDINATION):
        return
    is_multi = case.is_on("enable-multi-layer-eagle")
    if case.algorithm not in {"EAGLE", "EAGLE3", "DSPARK"} or is_multi:
        who = "multi-layer EAGLE" if is_multi else case.algorithm or "no algorithm"
        message = f"needs single-layer EAGLE, EAGLE3 or DSPARK, not {who}"
        yield Hit(f"env:{COORDINATION}", message, "take it out")


def _unparsable(case: Case) -> Iterator[Hit]:
    for name, value in case.given.environment.items():
        kind = _expected(name, value)
        if kind:
            message = f"{value!r} is not {kind}: the default is taken without a word"
            yield Hit(f"env:{name}", message, f"write {kind}")


def _expected(name: str, value: str) -> str:
    if name in SIMULATED:
        try:
            float(value)
        except ValueError:
            return "a number"
    is_switch = name.startswith("SGLANG_ENABLE_") and name in VARIABLES
    return "true or false" if is_switch and value.lower() not in _TRUTHS else ""


def _simulated(case: Case) -> Iterator[Hit]:
    for name in SIMULATED:
        value = case.variable(name)
        if value is not None and not _expected(name, value) and float(value) > 0:
            message = f"every step is taken for {value} tokens: the output is garbage"
            yield Hit(f"env:{name}", message, "take it out of anything but a cost measurement")


def _joined_config(case: Case) -> Iterator[Hit]:
    for written in case.given.written:
        if written.flag == "config" and written.is_joined:
            yield Hit("config", "--config=FILE is ignored in silence", "write two words")


def _two_configs(case: Case) -> Iterator[Hit]:
    spelled = [w for w in case.given.written if w.flag == "config" and not w.is_joined]
    if len(spelled) > 1:
        yield Hit("config", "only one --config is taken", "put both into one file")


def _lost_config(case: Case) -> Iterator[Hit]:
    path = case.text("config")
    if path is not None and path in case.around.missing_files:
        yield Hit("config", f"{path} is not there", "correct the path")


def _config_keys(case: Case) -> Iterator[Hit]:
    path = case.text("config")
    text = case.around.files.get(path or "")
    for key in _CONFIG_KEY.findall(text or ""):
        if "_" in key:
            message = f"its key {key} must be written with dashes"
            yield Hit("config", message, f"write {key.replace('_', '-')}")
        elif key in {"config", "speculative-enable-w4a4-mxfp4-megamoe"}:
            yield Hit("config", f"its key {key} is not taken from a file", "give it as an argument")


_DECLARED = ("srt/environ.py", "srt/speculative/", "srt/server_args.py", "srt/arg_groups/")

RULES = (
    Rule("stale-variable", Severity.WARNING, _stale),
    Rule("undeclared-variable", Severity.HINT, _undeclared),
    Rule("unparsable-variable", Severity.WARNING, _unparsable,
         Evidence(r"SIMULATE_ACC_LEN", _DECLARED), Span("0.5.3")),
    Rule("simulated-acceptance", Severity.WARNING, _simulated,
         Evidence(r"SIMULATE_ACC_LEN", _DECLARED), Span("0.4.6.post5")),
    Rule("config-joined", Severity.WARNING, _joined_config,
         Evidence(r"\"--config\" in argv"), Span("0.5.3"), is_live=True),
    Rule("config-twice", Severity.ERROR, _two_configs,
         Evidence(r"\"--config\" in argv"), Span("0.5.3"), is_live=True),
    Rule("config-lost", Severity.ERROR, _lost_config,
         Evidence(r"\"--config\" in argv"), Span("0.5.3"), is_live=True),
    Rule("config-keys", Severity.ERROR, _config_keys,
         Evidence(r"\"--config\" in argv"), Span("0.5.3"), is_live=True),
)  # fmt: skip
SPECULATION = (
    Rule("ragged-verify-mode", Severity.ERROR, _ragged,
         Evidence(r"invalid SGLANG_RAGGED_VERIFY_MODE"), Span("0.5.16"), is_live=True),
    Rule("prefill-coordination", Severity.ERROR, _coordination,
         says("DP spec/prefill coordination requires"), Span("0.5.21"), is_live=True),
)  # fmt: skip
"""Those that go by the algorithm, once it is settled."""
