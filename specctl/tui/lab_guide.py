"""The story of a practice host, played by the user: is speculation worth it there?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.server import ServerState
from specctl.tui.guide import ANYWHERE, LOADING, PROBING, TRYING, Guide, Hint, Moment, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROFILES = ("baseline", "foreign", "ngram")
"""What is typed to find each profile; the first is what the others are held against."""

TRAINED = "trained"
"""What is tried against it in the end."""

CLOSE: Mapping[str, Hint] = {
    "help": (("esc", "closes the help"),),
    "profiles": (("esc", "closes the list"),),
    "planning": (("", "the host is being read; nothing has been done yet"),),
    "refused": (("esc", "closes the plan"),),
    "plan": (("esc", "cancels"),),
    "plan-cancel": (("esc", "cancels"),),
    "probe": (("esc", "cancels"),),
    "probing": (("", "the prompts are on their way, one at a time"),),
    "probed": (("esc", "closes the result"),),
    "launch": (("esc", "goes back"),),
    "source": (("esc", "goes back to the host"),),
    "trial-plan": (("esc", "cancels"),),
    "trial": (("esc", "goes back"),),
}
"""The way on from a stage where a step has nothing to do."""

GUIDES: Mapping[str, Callable[[], Guide]] = {
    "": lambda: Guide(()),
    "lab": lambda: Guide(lab_story()),
}
"""By the name that the environment gives."""


def lab_story() -> tuple[Step, ...]:
    """Look, read the build, fail once, measure three profiles, try a fourth, stop with proof."""
    baseline, *others = PROFILES
    measured = [step for name in others for step in (_start(name), _measure(name))]
    return (
        _look(),
        _read_build(),
        _fail(),
        _start(baseline),
        _measure(baseline),
        *measured,
        _look_again(),
        _try(),
        _stop(),
        _end(),
    )


def _look() -> Step:
    return Step(
        lambda moment: moment.where == "host",
        {ANYWHERE: (("enter", "opens the practice host: eight GPUs, nothing of it is real"),)},
    )


def _read_build() -> Step:
    return Step(
        lambda moment: moment.where == "source",
        {**CLOSE, ANYWHERE: (("S", "reads the installed SGLang: what can this build do?"),)},
    )


def _fail() -> Step:
    return Step(
        lambda moment: any(not outcome.succeeded for outcome in moment.outcomes.values()),
        {
            **CLOSE,
            **_choosing("crowded", "asks for too much memory"),
            "source": (("esc", "goes back; NGRAM stands in the list, and needs no drafter"),),
            "launching": (("", "it will run out of memory, and the first cause will be named"),),
            LOADING: (("", "it is loading, and will run out of memory: a toast says so"),),
            ANYWHERE: (("s", "starts a profile: first one that fails"),),
        },
    )


def _start(name: str) -> Step:
    return Step(
        lambda moment: _is_running(moment, name),
        {
            **CLOSE,
            **_choosing(name, "is next"),
            "launching": (("", "every phase of the load is shown as it is reached"),),
            LOADING: (("", f"{name} is loading: it is measured next, once it is ready"),),
            ANYWHERE: (("s", f"starts a profile: now {name}"),),
        },
    )


def _choosing(name: str, words: str) -> dict[str, Hint]:
    """In the list of profiles, and in the plan that follows."""
    return {
        "profiles": ((name, words), ("enter", "shows its plan")),
        "plan": (("enter", "carries it out"),),
        "plan-cancel": (("→ enter", "stops what runs there, and carries it out"),),
    }


def _measure(name: str) -> Step:
    return Step(
        lambda moment: _is_measured(moment, name),
        {
            **CLOSE,
            "launch": (("H", "shows the host and its new server"),),
            "probe": (("← ← ← ←", "2 requests are enough here"), ("enter", "sends them")),
            PROBING: (("p", f"shows how far it is: {name} is being measured"),),
            ANYWHERE: (("p", f"measures {name}"),),
        },
    )


def _look_again() -> Step:
    """Done by looking at the host, where the sentence of the comparison stands."""
    return Step(
        lambda moment: moment.where in {"fleet", "host"},
        {ANYWHERE: (("esc", "back: the accept length against its break-even says what pays"),)},
    )


def _try() -> Step:
    return Step(
        _is_decided,
        {
            **CLOSE,
            "profiles": ((TRAINED, "was made for this model"), ("enter", "shows the trial")),
            "trial-plan": (
                ("↑ ↑ ↑ ↑", "to the prompts"),
                ("← ← ← ← ←", "4 are enough"),
                ("↓ ↓ ↓ ↓ → enter", "begins"),
            ),
            "trial": (("", "launches in turn, until a word can be said: some minutes"),),
            TRYING: (("T", "lists the trial, which goes on meanwhile: some minutes"),),
            ANYWHERE: (("c", "tries a better drafter: is it faster, and how sure is that?"),),
        },
    )


def _stop() -> Step:
    return Step(
        _has_stopped,
        {
            **CLOSE,
            "plan-cancel": (("→ enter", "stops it"),),
            "trial": (("esc", "back: what ran before is started again"),),
            "launching": (("", "now comes the proof that processes, ports and memory are gone"),),
            LOADING: (("", "it is being stopped, and proved to be gone"),),
            ANYWHERE: (("x", "stops the server, and proves that it is gone"),),
        },
    )


def _end() -> Step:
    return Step(
        lambda moment: not moment.where.startswith("launch"),
        {ANYWHERE: (("esc", "ends the story; ? shows every key, q at the fleet leaves"),)},
    )


def _is_running(moment: Moment, name: str) -> bool:
    found = moment.practice_host
    servers = found[1].servers or () if found else ()
    ready = {ServerState.READY, ServerState.BUSY}
    return any(s.state in ready and name in (s.profile or "") for s in servers)


def _is_measured(moment: Moment, name: str) -> bool:
    found = moment.practice_host
    results = found[1].results.values() if found else ()
    return any(name in (result.profile or "") and not result.void for result in results)


def _is_decided(moment: Moment) -> bool:
    found = moment.practice_host
    trial = found[1].trial if found else None
    return trial is not None and bool(trial.word) and TRAINED in trial.profile


def _has_stopped(moment: Moment) -> bool:
    stops = [plan.id for plan in moment.plans.values() if plan.kind == "stop"]
    return any(moment.outcomes[id_].succeeded for id_ in stops if id_ in moment.outcomes)
