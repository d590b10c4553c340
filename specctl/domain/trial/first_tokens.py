"""How much of a speedup first tokens explain, which no draft makes shorter.

Over the same tokens a request takes F + D, first tokens and decoding. Were decoding faster by the
predicted P alone, the arm would be faster by W = (F_base + D_base) / (F_arm + D_base / P); with
equal first tokens that is 1 / (f + (1 - f) / P), f being their share of the baseline's time.
W / P is what first tokens explain of measured / P, and measured / W the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why
from specctl.domain.trial.blocks import Answer
from specctl.domain.trial.running import answers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specctl.domain.probe import ProbeResult, RequestResult

OF_MEASURED = "first tokens of the measured requests, by the server's clock"
OF_STREAMED = "first tokens of the streamed requests of the same windows, by the client's clock"
NOT_TIMED = Missing(
    Why.NOT_ENABLED,
    "no prompt has a first-token time in every launch: the server's (--enable-metrics), or of a "
    "streamed request",
)


@dataclass(frozen=True, slots=True)
class FirstTokens:
    """Seconds that both arms took for the same tokens of the same prompts, mean over launches."""

    base_first_s: float
    base_decode_s: float
    arm_first_s: float
    prompts: int
    source: str
    """Which requests were timed, and by whose clock."""

    @property
    def share(self) -> float:
        """Of the baseline's time: until first tokens."""
        return self.base_first_s / (self.base_first_s + self.base_decode_s)

    def whole(self, predicted: float) -> float:
        """The speedup of whole requests, were decoding faster by `predicted`."""
        base_s = self.base_first_s + self.base_decode_s
        return base_s / (self.arm_first_s + self.base_decode_s / predicted)

    def split(self, predicted: float, measured: float) -> tuple[float, float]:
        """(what first tokens explain, the rest), each a ratio minus 1.

        (1 + first) * (1 + rest) is measured over predicted.
        """
        whole = self.whole(predicted)
        return whole / predicted - 1, measured / whole - 1


def find_first_tokens(
    base: Sequence[ProbeResult], arm: Sequence[ProbeResult]
) -> FirstTokens | Missing:
    """Of the launches of both arms at one concurrency; else why they tell it not."""
    kinds: tuple[tuple[Callable[[ProbeResult], Mapping[str, Answer]], str], ...] = (
        (answers_of, OF_MEASURED),
        (_streamed, OF_STREAMED),
    )
    for answers, source in kinds:
        found = _over_common([answers(one) for one in base], [answers(one) for one in arm], source)
        if found is not None:
            return found
    return NOT_TIMED


def _streamed(result: ProbeResult) -> dict[str, Answer]:
    return {
        str(request.index): answer
        for request in result.streamed
        if (answer := _streamed_answer(request)) is not None
    }


def _streamed_answer(request: RequestResult) -> Answer | None:
    first_s, total_s = request.ttft_s, request.client_latency_s
    tokens = (request.completion_tokens or 0) - 1
    if request.error is not None or first_s is None or tokens < 1 or not 0 < first_s < total_s:
        return None
    return Answer(total_s, tokens, first_s)


def _over_common(
    base: Sequence[Mapping[str, Answer]], arm: Sequence[Mapping[str, Answer]], source: str
) -> FirstTokens | None:
    """Over prompts that every launch timed; each weighs as many tokens as in the mean of all."""
    if not base or not arm:
        return None
    every = (*base, *arm)
    prompts = [
        prompt
        for prompt in base[0]
        if all(prompt in one and one[prompt].first_s is not None for one in every)
    ]
    if not prompts:
        return None
    weights = {prompt: exp(fmean(log(one[prompt].tokens) for one in every)) for prompt in prompts}
    return FirstTokens(
        base_first_s=fmean(sum(one[p].first_s or 0.0 for p in prompts) for one in base),
        base_decode_s=fmean(
            sum(weights[p] * (one[p].decode_s or 0.0) / one[p].tokens for p in prompts)
            for one in base
        ),
        arm_first_s=fmean(sum(one[p].first_s or 0.0 for p in prompts) for one in arm),
        prompts=len(prompts),
        source=source,
    )
