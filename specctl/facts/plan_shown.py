"""A plan as it may be shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.plan import MASK
from specctl.facts.redact import redact_argv, redact_environment

if TYPE_CHECKING:
    from specctl.domain.plan import Plan


def shown_plan(plan: Plan) -> Plan:
    """The plan without the secrets that a profile spells out instead of naming them."""
    shown = redact_environment(plan.environment)
    masked = {name: MASK for name, value in plan.environment.items() if value == MASK}
    return replace(plan, argv=redact_argv(plan.argv), environment={**shown, **masked})
