"""What a trial says before its first launch."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.trial.predicting import Predicted
from tests.tui import trials


def words(**changes):
    proposal = trials.proposal()
    design = replace(proposal.plan.design, **changes.pop("design", {}))
    return replace(proposal, plan=replace(proposal.plan, design=design, **changes)).words


def test_the_difference_it_finds_is_that_of_this_hosts_noise():
    (usual,) = (line for line in words() if "80 % chance" in line)
    (noisy,) = (line for line in words(design={"known_spread": 0.03}) if "80 % chance" in line)
    assert usual.startswith("where launches vary by 1.0%, a difference of 1.")
    assert noisy.startswith("where launches vary by 3.0%, as in earlier trials here, a difference")
    assert usual.rpartition("; ")[2] == noisy.rpartition("; ")[2]


def test_what_is_predicted_is_said_with_its_source():
    predicted = Predicted(1, 1.25, 2.0, 1.6, "trial 91aa, 3 launches")
    assert words(predicted=(predicted,))[-1] == (
        "at concurrency 1 predicted: 1.25x of decoding (accept length 2.00 over 1.60 plain steps) "
        "by trial 91aa, 3 launches"
    )
