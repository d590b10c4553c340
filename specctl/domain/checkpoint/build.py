"""Whether the installed SGLang has the classes that target and draft need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import failed, hinted, passed
from specctl.domain.checkpoint.kinds import Kind, kind_in

if TYPE_CHECKING:
    from specctl.domain.checkpoint.values import BuildModels, Finding, Pairing

KEY = "build"
CAPTURES = "set_eagle3_layers_to_capture"


def check_build(pairing: Pairing) -> Finding | None:
    """The draft's class, and of EAGLE-3 that the target's hands its states over."""
    build, config = pairing.build, pairing.draft.config
    if build is None or config is None or kind_in(config) is Kind.WITH_MTP:
        return None
    name, version = config.architecture, f"SGLang {build.version or 'of unknown version'}"
    place = build.classes.get(name)
    if place is None:
        words = f"{version} at {build.path} has no model class {name or 'for it'}"
        step = "Use a build that has it; specctl inspect shows what one takes."
        return failed(KEY, words, "the load fails: the architecture is not supported", step)
    if kind_in(config) is Kind.EAGLE3:
        return _check_target(pairing, build, f"{version} has {name} ({place})")
    return passed(KEY, f"{version} has {name} ({place})")


def _check_target(pairing: Pairing, build: BuildModels, words: str) -> Finding:
    target = pairing.target.config.architecture if pairing.target.config else ""
    place = build.classes.get(target)
    if place is None:
        means = "EAGLE3 fails where the target cannot hand over the states of its layers"
        return hinted(KEY, f"{words}, and no model class {target or 'for the target'}", means)
    if place.rpartition(":")[0] in build.captures:
        return passed(KEY, f"{words}; {target} hands its states over")
    means = f"EAGLE3 fails unless {target} inherits {CAPTURES} from a class elsewhere"
    return hinted(KEY, f"{words}; {place} has no {CAPTURES}", means)
