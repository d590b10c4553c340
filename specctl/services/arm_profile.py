"""The profile behind the name of an arm, which may be a point of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.trial.points import at_point, split_name

if TYPE_CHECKING:
    from specctl.adapters.workspace import Workspace
    from specctl.domain.host import Host
    from specctl.domain.profile import Profile


def arm_profile(workspace: Workspace, name: str, on: str | Host) -> Profile:
    """As it is on the host; raises UsageError where the workspace has no such profile."""
    base, values = split_name(name)
    profile = workspace.profile(base, on=on)
    return at_point(profile, values) if values else profile
