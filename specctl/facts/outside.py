"""What nvidia-smi says on the host itself, where its GPUs were first asked for inside a container.

A container loses its GPU devices while the host keeps them: `systemctl daemon-reload` resets the
device cgroup that the NVIDIA runtime had set (nvidia-container-toolkit issue 48).
"""

from __future__ import annotations

from specctl.domain.driver_trouble import CONTAINER, LOST_DEVICES
from specctl.domain.missing import Missing
from specctl.domain.text import clean
from specctl.facts.smi_trouble import read_trouble

DETAIL_CHARACTERS = 160


def read_outside(inside: Missing, answer: str) -> Missing:
    """Why no GPU can be read in the container, given `nvidia-smi -L` of the host around it."""
    seen = sum(line.startswith("GPU ") for line in answer.splitlines())
    first = inside.detail.partition(f": {LOST_DEVICES}")[0]
    if seen:
        plural = "" if seen == 1 else "s"
        words = (
            f"{first} in the container only, the host itself sees {seen} GPU{plural}: the container"
            f" lost its GPU devices (systemctl daemon-reload does that); {CONTAINER}"
        )
        return Missing(inside.why, words)
    trouble = read_trouble(answer)
    said = trouble.detail if trouble else clean(answer.strip().partition("\n")[0])
    said = said[:DETAIL_CHARACTERS] or "nothing"
    return Missing(inside.why, f"{inside.detail}; nvidia-smi on the host itself says: {said}")
