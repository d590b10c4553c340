"""Announcing how a plan is carried out, step by step, into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError
from specctl.domain.events import PlanProgressed
from specctl.domain.plan import all_next_steps

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.plan import Plan
    from specctl.domain.state import Store


class Progress:
    """One plan being carried out."""

    def __init__(self, plan: Plan, store: Store, clock: Clock) -> None:
        self.plan, self.clock = plan, clock
        self._store = store
        self._began_s = clock.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Since the plan began to be carried out."""
        return self.clock.monotonic() - self._began_s

    def begin(self, step: str, words: str, *, remaining_s: float | None = None) -> None:
        """A step begins."""
        self._announce(step, "begun", words, remaining_s)

    def move(self, step: str, words: str, *, remaining_s: float | None = None) -> None:
        """A step moved on."""
        self._announce(step, "progress", words, remaining_s)

    def done(self, step: str, words: str) -> None:
        """A step ended well."""
        self._announce(step, "done", words, None)

    def skip(self, step: str, words: str) -> None:
        """A step had nothing to do."""
        self._announce(step, "skipped", words, None)

    def fail(self, step: str, words: str) -> None:
        """A step failed."""
        self._announce(step, "failed", words, None)

    def finish(self, words: str, *, succeeded: bool) -> None:
        """The plan is over."""
        status = "done" if succeeded else "failed"
        self._announce("plan", status, words, None, is_last=True)

    def _announce(
        self,
        step: str,
        status: str,
        words: str,
        remaining_s: float | None,
        *,
        is_last: bool = False,
    ) -> None:
        self._store.apply(
            PlanProgressed(
                host=self.plan.host,
                time_s=self.clock.now(),
                plan_id=self.plan.id,
                step=step,
                status=status,
                words=words,
                elapsed_s=self.elapsed_s,
                remaining_s=remaining_s,
                is_last=is_last,
            )
        )


def require_allowed(plan: Plan, typed: str = "") -> None:
    """Raise RefusedError when a check refuses the plan, or what allows it was not typed."""
    if plan.is_refused:
        words = "; ".join(f"{check.name}: {check.words}" for check in plan.refusals)
        raise RefusedError(f"host {plan.host}: {words}", hint=all_next_steps(plan.refusals))
    if plan.needs_typed is not None and typed != plan.needs_typed:
        raise RefusedError(
            f"host {plan.host}: {plan.why_typed}", hint=f"Type {plan.needs_typed} to allow it."
        )
