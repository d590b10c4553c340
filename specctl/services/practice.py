"""The lab brought up from a screen: by this program's own command, in a process of its own."""

from __future__ import annotations

import sys

from specctl.adapters.local import LocalSession
from specctl.domain.errors import SpecctlError

ARGV = (sys.executable, "-P", "-m", "specctl", "lab", "up")
"""Named as an argument only: of the front ends the cli alone knows the lab."""

WITHIN_S = 120.0


async def bring_up_lab() -> None:
    """One practice host; returns once it answers. SpecctlError says why there is none."""
    session = LocalSession("this machine")
    try:
        done = await session.run(ARGV, timeout_s=WITHIN_S)
    finally:
        await session.close()
    if done.exit_status:
        raise _failed(done.error_text.splitlines(), done.exit_status)


def _failed(lines: list[str], status: int) -> SpecctlError:
    """As the command said it: `specctl: error: …`, then perhaps `hint: …`."""
    said = dict(line.removeprefix("specctl: ").split(": ", 1) for line in lines if ": " in line)
    words = said.get("error", f"it ended with status {status}")
    return SpecctlError(
        f"the lab did not come up: {words}", hint=said.get("hint", "specctl lab up says more.")
    )
