"""What the configurations of target and draft say before a start: minutes of loading saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.architecture import judge_kind
from specctl.domain.checkpoint.kinds import WITHOUT_DRAFT, canonical
from specctl.domain.checkpoint.shapes import check_hidden, check_positions
from specctl.domain.checkpoint.values import Checkpoint, Pairing, Severity
from specctl.domain.checkpoint.vocabulary import check_target_vocabulary
from specctl.domain.plan import Check, passed, refused, warned

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from specctl.domain.checkpoint.values import Finding, ModelConfig
    from specctl.domain.command import ServerArguments

NAME = "draft"
VOCABULARY_RULE = "standalone-vocabulary"
KIND_RULES = frozenset(
    {"eagle3-draft-under-eagle", "eagle-draft-under-eagle3", "plain-model-as-head"}
)
"""Rules of the profile's check that judge the same."""

OVERWRITE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"


def check_draft(
    arguments: ServerArguments,
    configs: Mapping[str, ModelConfig],
    environment: Mapping[str, str],
    *,
    told: Collection[str] = (),
    unchecked: bool = False,
) -> tuple[Check, ...]:
    """The draft beside its target; nothing where there is none, or its files were not read.

    What rules that are in `told` have said is not said again. `unchecked`: nothing refuses.
    """
    pairing = _pairing(arguments, configs)
    if pairing is None or pairing.draft.config is None:
        return ()
    rules = [check_hidden]
    if VOCABULARY_RULE not in told:
        rules.append(check_target_vocabulary)
    if environment.get(OVERWRITE, "").lower() not in {"1", "true", "yes", "on"}:
        rules.append(check_positions)
    kind = judge_kind(pairing.draft.config, arguments.algorithm or "")
    found = [finding for rule in rules if (finding := rule(pairing)) is not None]
    if KIND_RULES.isdisjoint(told):
        found.insert(0, kind)
    wrong = [check for one in found if (check := _check(one, unchecked=unchecked)) is not None]
    return tuple(wrong) or ((passed(NAME, kind.words),) if kind in found else ())


def _pairing(arguments: ServerArguments, configs: Mapping[str, ModelConfig]) -> Pairing | None:
    algorithm, draft = canonical(arguments.algorithm or ""), arguments.draft_model
    if draft is None or algorithm in WITHOUT_DRAFT or draft not in configs:
        return None
    model = arguments.model or ""
    return Pairing(
        Checkpoint(model, model, config=configs.get(model)),
        Checkpoint(draft, draft, config=configs[draft]),
        algorithm,
        context_length=arguments.number("context-length", None),
    )


def _check(finding: Finding, *, unchecked: bool) -> Check | None:
    words = f"{finding.words}: {finding.means}" if finding.means else finding.words
    if finding.severity is Severity.ERROR and not unchecked:
        return refused(NAME, words, finding.next_step)
    if finding.severity in (Severity.ERROR, Severity.WARNING):
        return warned(NAME, words, finding.next_step)
    return None
