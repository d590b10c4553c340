"""Which flag of the build each written word is, as argparse decides it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.arguments import whole
from specctl.domain.lint.declared import DEFAULTS, defaults, first_name, spellings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.build import Build
    from specctl.domain.lint.given import Given, Written
    from specctl.domain.profile import Value
    from specctl.domain.source import Flag


@dataclass(frozen=True, slots=True)
class Named:
    """A written flag and what it stands for."""

    written: Written
    meant: tuple[tuple[str, Flag], ...]
    """Spelling and flag: one when it is clear, several for an ambiguous beginning, or none."""

    is_exact: bool = False

    @property
    def flag(self) -> Flag | None:
        """The one it stands for."""
        return self.meant[0][1] if len(self.meant) == 1 else None

    @property
    def is_negation(self) -> bool:
        """Its `--no-` form."""
        flag = self.flag
        return flag is not None and f"--{self.meant[0][0]}" in flag.negations


def name_all(given: Given, build: Build) -> tuple[Named, ...]:
    """Every written flag with the flags of the build that it may stand for.

    argparse takes any beginning that belongs to one spelling only (`allow_abbrev`).
    """
    known = spellings(build)
    found = []
    for written in given.written:
        exact = known.get(written.flag)
        if exact is not None:
            found.append(Named(written, ((written.flag, exact),), is_exact=True))
            continue
        starts = tuple((s, known[s]) for s in sorted(known) if s.startswith(written.flag))
        found.append(Named(written, starts if written.flag else ()))
    return tuple(found)


def settle_names(given: Given, named: tuple[Named, ...]) -> Given:
    """The same, able to say which flag was written under which key."""
    names = {
        first_name(item.flag) if item.flag else flags.canonical(item.written.flag): item.written.key
        for item in named
    }
    return replace(given, names=names)


def values_of(named: tuple[Named, ...], build: Build) -> dict[str, Value | None]:
    """Flag to value as argparse would hand it on; the last of several counts."""
    values: dict[str, Value | None] = {**defaults(build), **dict(_declared_defaults(build))}
    for item in named:
        flag = item.flag
        if flag is not None:
            values[first_name(flag)] = _value(item, flag)
        elif not item.meant:
            values[flags.canonical(item.written.flag)] = _plain(item.written)
    return values


def _declared_defaults(build: Build) -> Iterator[tuple[str, Value]]:
    for flag in spellings(build).values():
        default = flag.default
        if default is None:
            continue
        name = first_name(flag)
        if name in DEFAULTS or isinstance(default, int | float):
            kind = type(DEFAULTS.get(name, default))
            read = whole(default) if kind is int and isinstance(default, str) else default
            if read is not None:
                yield name, read


def _value(item: Named, flag: Flag) -> Value | None:
    if flag.is_switch:
        return not item.is_negation
    values = item.written.values
    if flag.takes_many:
        return values
    if not values:
        return None
    number = whole(values[0]) if flag.type == "int" else None
    if flag.type == "float":
        try:
            return float(values[0])
        except ValueError:
            return values[0]
    return values[0] if number is None else number


def _plain(written: Written) -> Value | None:
    return written.values[0] if len(written.values) == 1 else written.values or True
