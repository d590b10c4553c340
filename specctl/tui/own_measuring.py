"""What this session measures on a server, in words for whoever is about to disturb it; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.measured_on import measuring_keys_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.events import ProbeProgressed
    from specctl.domain.server import Server
    from specctl.tui.screens.probe import ProbeRun
    from specctl.tui.trials import TrialRun


def probe_words(run: ProbeRun | None, heard: ProbeProgressed | None) -> str:
    """`your probe of it is under way, 3 of 8 answered`; empty where none is under way."""
    if run is None or run.is_over:
        return ""
    words = "your probe of it is under way"
    if heard is None or heard.time_s < run.began_s or not heard.total:
        return words
    return f"{words}, {heard.words} {heard.done} of {heard.total}"


def trial_words(host: str, server: Server, runs: Iterable[TrialRun]) -> str:
    """`your trial 4f2a is measuring it`, by the GPUs and ports that it holds; empty without one."""
    keys = measuring_keys_of(server)
    for run in runs:
        proposal = run.proposal
        if proposal.plan.host == host and not set(keys).isdisjoint(proposal.lock_keys):
            return f"your trial {proposal.plan.id} is measuring it"
    return ""
