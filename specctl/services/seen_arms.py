"""What the servers of the arms resolved, launch after launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.comparison import UNASKED_IGNORED, find_unasked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.comparison import Arm, Unasked
    from specctl.domain.profile import Profile


class SeenArms:
    """The first launch of each arm that told its arguments."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        """Of these, the baseline first."""
        self._profiles = profiles
        self._arms: dict[str, Arm] = {}

    def note(self, arm: Arm) -> None:
        """Keep what the first launch of an arm resolved."""
        if arm.arguments:
            self._arms.setdefault(arm.profile, arm)

    def find_changed(self, arm: Arm) -> str:
        """Which resolved argument is another one than in the arm's first launch; else empty."""
        known = self._arms.get(arm.profile)
        if known is None or not arm.arguments:
            return ""
        changed = sorted(
            key
            for key in known.arguments.keys() | arm.arguments.keys()
            if key not in UNASKED_IGNORED
            and _is_setting(known.arguments.get(key))
            and known.arguments.get(key) != arm.arguments.get(key)
        )
        if not changed:
            return ""
        key = changed[0]
        return (
            f"the server resolved {key.replace('_', '-')} to {arm.arguments.get(key)!r}, "
            f"in an earlier launch to {known.arguments.get(key)!r}"
        )

    @property
    def differences(self) -> tuple[Unasked, ...]:
        """In which arms differ from the baseline although no profile says so."""
        base, *others = self._profiles
        if base.name not in self._arms:
            return ()
        return tuple(
            one
            for other in others
            if other.name in self._arms and other.name != base.name
            for one in find_unasked(self._arms[base.name], self._arms[other.name], base, other)
        )

    @property
    def arguments(self) -> Mapping[str, Mapping[str, Any]]:
        """What each arm's server resolved."""
        return {name: arm.arguments for name, arm in self._arms.items()}


def _is_setting(value: object) -> bool:
    """A plain value; what is None or a structure may be filled in as the server runs."""
    return isinstance(value, str | int | float | bool)
