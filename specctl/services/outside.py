"""The other viewpoint: GPUs that cannot be read inside a container, asked for on its host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import DeadlineError
from specctl.domain.missing import Why
from specctl.facts.outside import read_outside

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.missing import Missing
    from specctl.domain.sample import Sample
    from specctl.services.connection import Connection

ASK_EVERY_S = 60.0
TIMEOUT_S = 5.0
PATHS = "$PATH:/usr/bin:/usr/local/cuda/bin:/usr/lib/wsl/lib"
LIST_GPUS = ("sh", "-c", f"LC_ALL=C PATH={PATHS} exec nvidia-smi -L 2>&1")


class OutsideView:
    """Asks the host around a container, rarely, and remembers what it said."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        self._asked_at_s = float("-inf")
        self._answer: str | None = None

    async def look(self, sample: Sample) -> bool:
        """Ask when the sample gives cause and the last answer is old; True when it was asked."""
        is_old = self._clock.monotonic() - self._asked_at_s >= ASK_EVERY_S
        if not is_old or not is_in_question(self._connection, sample):
            return False
        self._asked_at_s = self._clock.monotonic()
        self._answer = await ask(self._connection)
        return True

    def explain(self, sample: Sample) -> Sample:
        """The sample, its reason for having no GPUs told with what the host itself says."""
        if self._answer is None or not is_in_question(self._connection, sample):
            return sample
        return _explained(sample, self._answer)


async def with_outside(connection: Connection, sample: Sample) -> Sample:
    """The sample, the host itself asked when its container cannot read the GPUs."""
    if not is_in_question(connection, sample):
        return sample
    return _explained(sample, await ask(connection))


def is_in_question(connection: Connection, sample: Sample) -> bool:
    """The driver fails inside something that was entered: the host may know better."""
    missing = sample.gpu_missing
    return bool(connection.host.enter) and missing is not None and missing.why is Why.ERROR


async def ask(connection: Connection) -> str:
    """What nvidia-smi on the host itself says, its own trouble included."""
    try:
        ended = await connection.session.outside.run(LIST_GPUS, timeout_s=TIMEOUT_S)
    except DeadlineError as error:
        return error.message
    return ended.text


def _explained(sample: Sample, answer: str) -> Sample:
    inside: Missing | None = sample.gpu_missing
    return sample if inside is None else replace(sample, gpu_missing=read_outside(inside, answer))
