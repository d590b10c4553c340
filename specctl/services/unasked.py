"""Resolved arguments in which the arms of an old run differ although no recipe says so."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from specctl.domain.comparison import Arm, Unasked, find_unasked
from specctl.domain.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.runs import Provenance, Run


def unasked_of(run: Run) -> tuple[Unasked, ...] | None:
    """Of every arm against the first; None where the run does not hold what its servers resolved.

    Recipes are those that were kept with the run, so a file that changed since says nothing.
    """
    found = run.provenance
    names = [name for name in run.profiles if found.arguments.get(name)]
    if len(names) < 2 or names[0] != run.profiles[0]:  # noqa: PLR2004 - a difference needs two
        return None
    base, *others = names
    return tuple(
        one
        for name in others
        for one in find_unasked(
            _arm(found, base), _arm(found, name), _recipe(found, base), _recipe(found, name)
        )
    )


def _arm(found: Provenance, name: str) -> Arm:
    return Arm(name, arguments=found.arguments[name])


def _recipe(found: Provenance, name: str) -> Profile:
    """What find_unasked looks at; a recipe that is not there asks for nothing."""
    try:
        values: Mapping[str, Any] = tomllib.loads(found.profiles.get(name, ""))
    except tomllib.TOMLDecodeError:
        values = {}
    arguments = values.get("arguments", {})
    model = values.get("model", "")
    return Profile(name, str(model), arguments=arguments if isinstance(arguments, dict) else {})
