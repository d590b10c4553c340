"""A trial as it is asked for in its dialog: values that are turned by arrows or typed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest
from specctl.domain.trial.asking import (
    LAUNCHES_MOST,
    PROMPTS_MOST,
    budget_words,
    read_budget,
    read_count,
    read_levels,
    read_margin,
)
from specctl.domain.trial.points import read_axis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SETTINGS = (
    "baseline", "also try", "over", "workload", "trained on", "prompts", "concurrency", "launches",
    "margin", "budget", "strict",
)  # fmt: skip
FIELDS = {
    "also try": "others",
    "trained on": "trained_on",
    "concurrency": "concurrencies",
    "budget": "budget_s",
}
LAUNCHES = (2, 3, 4, 6, 8, 12, 16)
MARGINS = (0.01, 0.02, 0.03, 0.05, 0.1)
PROMPTS = (4, 8, 16, 32, 64, None)
LEVELS = ((1,), (2,), (4,), (8,), (16,), (32,), (1, 4, 16))
HOUR_S = 3600.0
BUDGETS_S = (0.5 * HOUR_S, HOUR_S, 2 * HOUR_S, 3 * HOUR_S, 6 * HOUR_S, None)
NONE = "none"
ONE_LOOK = "one look"
STRICT = {
    "no": "no",
    "yes": "first verdict after 6 launches each",
    ONE_LOOK: "no word before all launches are made",
}
"""What may be asked for of the looks, and what it means."""


@dataclass(frozen=True, slots=True)
class TrialAsk:
    """A trial as it is asked for."""

    host: str
    baseline: str
    profile: str
    workload: str
    launches: int = 8
    """Of each arm, at most."""

    margin: float = 0.02
    prompts: int | None = None
    """The first so many of the workload; None for all of it."""

    concurrencies: tuple[int, ...] = (1,)
    """The verdict is about the first."""

    budget_s: float | None = None
    strict: str = "no"
    """When it may first be looked at: of `STRICT`."""

    trained_on: str | None = None
    """A workload to send before each window; None: every window is cold."""

    others: tuple[str, ...] = ()
    """Further profiles: all are screened first, and the one that is left is tried."""

    over: tuple[str, ...] = ()
    """Values of speculation arguments to go over, each `num-steps=1,3,5`."""

    baselines: tuple[str, ...] = ()
    """What `baseline` can be turned to."""

    workloads: tuple[str, ...] = ()
    """Bundled ones, then files of the workspace."""

    own_keys: tuple[str, ...] = ()
    """Speculation arguments of the profile that SGLang does not name."""

    @property
    def is_screened(self) -> bool:
        """There is more than one profile to choose from."""
        return bool(self.others or self.over)

    def turned(self, setting: str, step: int) -> TrialAsk:
        """With the next or the previous value of one setting, as far as there is one."""
        field = FIELDS.get(setting, setting)
        known, now = self._values(setting), getattr(self, field)
        if not known:
            return self
        if now not in known:  # it was typed
            return self._with(field, known[0 if step > 0 else -1])
        at = min(max(0, known.index(now) + step), len(known) - 1)
        return self._with(field, known[at])

    def _values(self, setting: str) -> tuple[Any, ...]:
        return {
            "baseline": self.baselines,
            "also try": ((), *((name,) for name in self._candidates)),
            "workload": self.workloads,
            "trained on": (None, *(one for one in self.workloads if one != self.workload)),
            "launches": LAUNCHES,
            "prompts": PROMPTS,
            "margin": MARGINS,
            "concurrency": LEVELS,
            "budget": BUDGETS_S,
            "strict": tuple(STRICT),
        }.get(setting, ())

    def _with(self, field: str, value: object) -> TrialAsk:
        changed: dict[str, Any] = {field: value}
        return replace(self, **changed)

    @property
    def _candidates(self) -> tuple[str, ...]:
        return tuple(name for name in self.baselines if name not in (self.baseline, self.profile))

    def typed(self, setting: str, text: str) -> TrialAsk:
        """With one setting as it was typed; raises UsageError for what it cannot be."""
        value = READERS[setting](self, text)
        return self._with(FIELDS.get(setting, setting), value)

    def words(self, setting: str) -> str:
        """The value of a setting, for a reader."""
        return {
            "baseline": self.baseline,
            "also try": ", ".join(self.others) or NONE,
            "over": "  ".join(self.over) or NONE,
            "workload": self.workload,
            "trained on": self.trained_on or NONE,
            "prompts": "all of it" if self.prompts is None else f"the first {self.prompts}",
            "concurrency": _level_words(self.concurrencies),
            "launches": f"{self.launches} of each arm at most",
            "margin": f"±{100 * self.margin:.3g}%",
            "budget": budget_words(self.budget_s),
            "strict": STRICT[self.strict],
        }[setting]

    def written(self, setting: str) -> str:
        """The value of a setting as it would be typed."""
        match setting:
            case "prompts":
                return "all" if self.prompts is None else str(self.prompts)
            case "concurrency":
                return ",".join(map(str, self.concurrencies))
            case "launches":
                return str(self.launches)
            case "budget":
                return NONE if self.budget_s is None else f"{self.budget_s / 60:g}m"
            case "strict":
                return self.strict
            case _:
                return self.words(setting)

    def completions(self, setting: str, text: str) -> tuple[str, ...]:
        """Other values that begin, or whose last part begins, with what was typed; then others."""
        known = self.workloads if setting in {"workload", "trained on"} else self.baselines
        if setting not in {"workload", "trained on", "baseline", "also try"}:
            return ()
        head, comma, last = text.rpartition(",")
        before = f"{head}{comma} " if comma else ""
        start = last.strip()
        found = [name for name in known if name.startswith(start)]
        found += [name for name in known if name not in found and start and start in name]
        return tuple(before + name for name in found if before + name != text)


def _level_words(levels: tuple[int, ...]) -> str:
    first, *rest = levels
    return f"{first}" if not rest else f"{first}, then {', '.join(map(str, rest))}"


def _parts(text: str) -> tuple[str, ...]:
    words = tuple(part.strip() for part in text.split(",") if part.strip())
    return () if words == (NONE,) else words


def _known_name(ask: TrialAsk, name: str) -> str:
    if name in ask.baselines:
        return name
    close = nearest(name, ask.baselines)
    raise UsageError(f"no profile {name}", hint=f"Nearest: {close}" if close else "P lists them.")


def _others(ask: TrialAsk, text: str) -> tuple[str, ...]:
    names = tuple(_known_name(ask, name) for name in _parts(text))
    taken = (ask.baseline, ask.profile)
    twice = [name for name in names if name in taken or names.count(name) > 1]
    if twice:
        raise UsageError(f"{twice[0]} is an arm already", hint="Name each profile once.")
    return names


def _axes(ask: TrialAsk, text: str) -> tuple[str, ...]:
    """`num-steps=1,3,5 eagle-topk=1,4`, each checked."""
    words = () if text.strip() == NONE else tuple(text.split())
    for axis in words:
        read_axis(axis, ask.own_keys)
    return words


def _prompts(ask: TrialAsk, text: str) -> int | None:
    del ask
    return (
        None if text.strip() in {"", "all"} else read_count(text, PROMPTS_MOST, "number of prompts")
    )


def _strict(text: str) -> str:
    word = text.strip().lower()
    known = {"y": "yes", "on": "yes", "n": "no", "off": "no"} | {name: name for name in STRICT}
    if word not in known:
        raise UsageError(f"{text!r} is none of {', '.join(STRICT)}", hint=f"Write {ONE_LOOK}, e.g.")
    return known[word]


def _workload(ask: TrialAsk, text: str) -> str:
    if not text.strip():
        raise UsageError("no workload is named", hint=f"Bundled: {', '.join(ask.workloads[:3])}.")
    return text.strip()


READERS: Mapping[str, Callable[[TrialAsk, str], object]] = {
    "baseline": lambda ask, text: _known_name(ask, text.strip()),
    "also try": _others,
    "over": _axes,
    "workload": _workload,
    "trained on": lambda _, text: None if text.strip() in {"", NONE} else text.strip(),
    "prompts": _prompts,
    "concurrency": lambda _, text: read_levels(text),
    "launches": lambda _, text: read_count(text, LAUNCHES_MOST, "number of launches"),
    "margin": lambda _, text: read_margin(text),
    "budget": lambda _, text: read_budget(text),
    "strict": lambda _, text: _strict(text),
}
