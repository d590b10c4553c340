"""Values of a JSON answer that may hold anything: a clean value, or the reason for its absence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from specctl.domain.missing import NOT_YET, Missing, Why
from specctl.domain.text import clean

TEXT_CHARACTERS = 200
LARGEST = 1 << 63
COUNTED_DIGITS = 18
"""`int` refuses a text of more than 4300."""


def read_reason(value: object) -> Missing:
    """A `[why, detail]` pair."""
    if not isinstance(value, list | tuple) or not value or not isinstance(value[0], str):
        return Missing(Why.MALFORMED, "a reason that is none")
    detail = value[1] if len(value) > 1 and isinstance(value[1], str) else ""
    try:
        return Missing(Why(value[0]), read_text(detail))
    except ValueError:
        return Missing(Why.ERROR, read_text(f"{value[0]} {detail}"))


def read_reasons(value: object) -> dict[str, Missing]:
    """A mapping of field names to such pairs."""
    if not isinstance(value, Mapping):
        return {}
    return {str(name): read_reason(reason) for name, reason in value.items()}


def read_text(value: object) -> str:
    """A text, cleaned and bounded; empty for anything else."""
    return clean(value[: 4 * TEXT_CHARACTERS])[:TEXT_CHARACTERS] if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """A finite number of sane size, or None; booleans are none."""
    # some 300 values a second and host: isinstance takes three times as long
    if type(value) is float or type(value) is int:
        return value if -LARGEST <= value <= LARGEST else None
    return None


def whole(value: object) -> int | None:
    """A number that is not negative, as an integer."""
    if type(value) is int and 0 <= value <= LARGEST:
        return value
    found = number(value)
    return None if found is None or found < 0 else int(found)


def counted(text: str) -> int | None:
    """A whole number written in at most 18 plain digits; None for anything else."""
    is_one = len(text) <= COUNTED_DIGITS and text.isascii() and text.isdigit()
    return int(text) if is_one else None


def mapping(value: object) -> Mapping[str, Any]:
    """A mapping; empty for anything else."""
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def rows(value: object) -> list[Mapping[str, Any]]:
    """A list's mappings; empty for anything else."""
    found = value if isinstance(value, list) else []
    return [row for row in found if type(row) is dict or isinstance(row, Mapping)]


class Fields:
    """Collects the fields of one record, each with its value or its reason."""

    def __init__(self, values: Mapping[str, Any], reasons: Mapping[str, Missing]) -> None:
        self._source = values
        self._reasons = reasons
        self.values: dict[str, Any] = {}
        self.missing: dict[str, Missing] = {}

    def numbers(self, names: Iterable[str]) -> None:
        """Take numbers."""
        self._take_all(names, number)

    def wholes(self, names: Iterable[str]) -> None:
        """Take numbers that are not negative, as integers."""
        self._take_all(names, whole)

    def switch(self, name: str) -> None:
        """Take a boolean."""
        value = self._source.get(name)
        self._take(name, value if isinstance(value, bool) else None)

    def put(self, name: str, value: object) -> None:
        """Take a value computed elsewhere, or the reason why there is none."""
        if isinstance(value, Missing):
            self.missing[name] = value
        else:
            self.values[name] = value

    def reason(self, name: str) -> Missing:
        """Why the agent sent no `name`."""
        if self._source.get(name) is not None:
            return Missing(Why.MALFORMED, "not what it should be")
        return self._reasons.get(name) or self._reasons.get("*") or NOT_YET

    def _take(self, name: str, value: object) -> None:
        self.put(name, self.reason(name) if value is None else value)

    def _take_all(self, names: Iterable[str], read: Callable[[object], float | None]) -> None:
        source, values = self._source, self.values
        for name in names:
            value = read(source.get(name))
            if value is None:
                self.missing[name] = self.reason(name)
            else:
                values[name] = value
