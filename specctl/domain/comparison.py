"""Several profiles measured one after the other on one host, against a baseline.

One launch of each arm is a number: how much two launches of the same profile differ is not known
from it, so no arm is called faster or slower.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain.cost import StepCost, find_suspects
from specctl.domain.energy import EnergyStanding, energy_standing
from specctl.domain.pairing import Pairing, pair
from specctl.domain.trial.losslessness import Sameness, compare_outputs, pair_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.probe import ProbeResult
    from specctl.domain.profile import Profile
    from specctl.domain.training import TrainedOn

ONE_LAUNCH = (
    "One launch per arm is a number, not a verdict: launches of the same profile differ, and by "
    "how much is not known here."
)
UNASKED_IGNORED = frozenset({"port", "nccl_port", "dist_init_addr", "random_seed"})
"""Differ from launch to launch; the seed plays no part in greedy decoding."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One profile's part: its result, or what became of it."""

    profile: str
    algorithm: str | None = None
    result: ProbeResult | None = None
    failure: str = ""
    """Why there is no result: the first cause of a failed start, a crash, a refusal."""

    hint: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Resolved by the server."""

    steps: int | None = None
    """Draft steps, as resolved."""

    load_s: float | None = None
    max_total_tokens: int | None = None
    max_running_requests: int | None = None
    others: tuple[ProbeResult, ...] = ()
    """At further concurrencies, on the same launch."""

    launch_id: str = ""
    recorded_step_s: Mapping[str, float] = field(default_factory=dict)
    """Batch size to the median step the server itself recorded; empty unless it was told to."""

    is_own_failure: bool = False
    """`failure` is what the profile did, not an accident around it."""

    @property
    def is_usable(self) -> bool:
        """It has a result that is not void."""
        return self.result is not None and not self.result.void


@dataclass(frozen=True, slots=True)
class Unasked:
    """A resolved argument in which an arm differs from the baseline though no profile says so."""

    profile: str
    key: str
    base: Any
    arm: Any


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm against the baseline; None with the reason in `unknown`."""

    profile: str
    pairing: Pairing | None = None
    cost: StepCost | None = None
    suspects: tuple[str, ...] = ()
    unknown: str = ""
    notes: tuple[str, ...] = ()
    energy: EnergyStanding | None = None
    outputs: Sameness | None = None
    """Of greedy answers, prompt by prompt; None where they were sampled."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All arms, the baseline first."""

    host: str
    workload: str
    concurrency: int
    arms: tuple[Arm, ...]
    differences: tuple[Unasked, ...] = ()
    restored: tuple[str, ...] = ()
    """What ran before and what became of it, in words."""

    interrupted: bool = False
    trained_on: TrainedOn | None = None
    """What every arm was sent before each window; None: it was measured cold."""

    @property
    def baseline(self) -> Arm:
        """The first arm."""
        return self.arms[0]

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Every other arm against it."""
        return tuple(stand(self.baseline, arm) for arm in self.arms[1:])


def stand(baseline: Arm, arm: Arm) -> Standing:
    """How `arm` stands against `baseline`."""
    for one in (baseline, arm):
        if one.result is None:
            return Standing(arm.profile, unknown=f"{one.profile} gave no result: {one.failure}")
        if one.result.void:
            return Standing(arm.profile, unknown=f"{one.profile} is void: {one.result.void[0]}")
    assert baseline.result is not None  # noqa: S101 - the loop returned otherwise
    assert arm.result is not None  # noqa: S101
    pairing = pair(baseline.result.requests, arm.result.requests)
    if pairing is None:
        return Standing(arm.profile, unknown="no prompt was answered in both arms")
    cost = _cost(baseline.result, arm.result)
    energy = energy_standing([baseline.result], [arm.result])
    suspects = find_suspects(
        speedup=pairing.speedup if arm.algorithm else None,
        accept_length=arm.result.accept_length,
        steps=arm.steps if arm.algorithm != "NGRAM" else None,
        marginals=arm.result.marginal_acceptance,
    )
    notes = _notes(arm, pairing)
    outputs = _outputs(baseline.result, arm.result)
    return Standing(
        arm.profile, pairing, cost, suspects, notes=notes, energy=energy, outputs=outputs
    )


def _outputs(base: ProbeResult, arm: ProbeResult) -> Sameness | None:
    if base.temperature != 0 or arm.temperature != 0:
        return None
    return compare_outputs(list(pair_outputs([(base, arm)]).values()))


def _cost(base: ProbeResult, arm: ProbeResult) -> StepCost | None:
    if base.step_s is None or arm.step_s is None or arm.accept_length is None:
        return None
    return StepCost(base.step_s, arm.step_s, arm.accept_length)


def _notes(arm: Arm, pairing: Pairing) -> tuple[str, ...]:
    notes = []
    if pairing.is_length_suspect:
        notes.append(f"outputs of {arm.profile} are {pairing.length_ratio - 1:+.0%} as long")
    if pairing.identical < pairing.prompts and arm.result and arm.result.temperature == 0:
        place = "" if pairing.token_at is None else f", token {pairing.token_at}"
        place += "" if pairing.divergence_at is None else f", character {pairing.divergence_at + 1}"
        notes.append(
            f"{pairing.prompts - pairing.identical} of {pairing.prompts} greedy outputs differ "
            f"(first: prompt {(pairing.first_divergence or 0) + 1}{place})"
        )
    return tuple(notes)


def find_unasked(
    baseline: Arm, arm: Arm, base_profile: Profile, arm_profile: Profile
) -> tuple[Unasked, ...]:
    """Resolved arguments in which the arms differ although the profiles agree on them."""
    asked_base, asked_arm = _asked(base_profile), _asked(arm_profile)
    found = []
    for key in sorted(baseline.arguments.keys() | arm.arguments.keys()):
        base, other = baseline.arguments.get(key), arm.arguments.get(key)
        if base == other or key in UNASKED_IGNORED or key.startswith("speculative_"):
            continue
        if asked_base.get(key) == asked_arm.get(key):
            found.append(Unasked(arm.profile, key.replace("_", "-"), base, other))
    return tuple(found)


def _asked(profile: Profile) -> dict[str, Any]:
    asked = {key.replace("-", "_"): value for key, value in profile.arguments.items()}
    return {**asked, "model_path": profile.model}
