"""How a trial is asked for, as words that a person types; each refusal says what to write."""

from __future__ import annotations

from specctl.domain.durations import read_duration
from specctl.domain.errors import UsageError
from specctl.domain.figures import spoken
from specctl.domain.trial.design import Design

STRICT_FIRST_LOOK = 6
MARGIN_MOST = 0.5
LAUNCHES_MOST = 24
CONCURRENCY_MOST = 1024
PROMPTS_MOST = 100_000
LEAST_LOOKED_AT = 3
NOTHING = ("", "none", "no", "off", "-")


def read_budget(text: str) -> float | None:
    """Seconds of `40m`, `2h`, `1h30m`, `90s`; None for `none`: there is no limit."""
    return None if text.strip().lower() in NOTHING else read_duration(text)


def read_margin(text: str) -> float:
    """A share of 1 from `2%` or `0.02`."""
    word = text.strip().removeprefix("±").strip()
    try:
        share = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        raise UsageError(f"{text!r} is no share", hint="Write it as 2% or 0.02.") from None
    if not 0 < share <= MARGIN_MOST:
        raise UsageError(f"{text!r} is no margin", hint=f"It lies between 0 and {MARGIN_MOST:.0%}.")
    return share


def read_levels(text: str) -> tuple[int, ...]:
    """Concurrencies from `1,4,16`, each once; the verdict is about the first."""
    words = text.replace(",", " ").split()
    found = tuple(read_count(word, CONCURRENCY_MOST, "concurrency") for word in words)
    if not found:
        raise UsageError("no concurrency is named", hint="Write 1, or several: 1,4,16.")
    if len(set(found)) != len(found):
        raise UsageError(f"{text!r} names one twice", hint="Name each once.")
    return found


def read_count(text: str, most: int, what: str) -> int:
    """A whole number from 1 to `most`."""
    try:
        number = int(text.strip())
    except ValueError:
        raise UsageError(
            f"{text!r} is no whole number", hint=f"Write a {what} such as 4."
        ) from None
    if not 1 <= number <= most:
        raise UsageError(f"{text!r} is no {what}", hint=f"It lies between 1 and {most:,}.")
    return number


def design_of(
    launches: int, margin: float, *, strict: bool, is_looked_at_once: bool = False
) -> Design:
    """The design that these ask for; strict looks first after 6 launches each."""
    first = STRICT_FIRST_LOOK if strict else LEAST_LOOKED_AT
    if is_looked_at_once:
        first = max(first, launches)
    return Design(
        most_launches=launches,
        margin=margin,
        first_look=min(first, launches) if launches >= LEAST_LOOKED_AT else first,
        early_error=0.0 if strict or is_looked_at_once else Design().early_error,
    )


def budget_words(seconds: float | None) -> str:
    """For a reader."""
    return "no limit" if seconds is None else f"{spoken(seconds)}, then no further pair begins"
