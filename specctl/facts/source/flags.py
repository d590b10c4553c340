"""Every flag of the server's command line, however the tree declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.facts.source.flag_calls import read_calls
from specctl.facts.source.flag_fields import FIELDS, defaults_of, read_fields

if TYPE_CHECKING:
    from specctl.domain.source import Flag
    from specctl.facts.source.texts import Texts

ARGUMENTS = "srt/server_args.py"
ALGORITHM = "--speculative-algorithm"
ANY_BUILDS = "--model-path"


def read_flags(texts: Texts) -> tuple[Flag, ...]:
    """The flags in the order of their declaration; what could not be read is reported."""
    if ARGUMENTS not in texts:
        texts.report(ARGUMENTS, None, "not there: the flags of this build are unknown")
        return ()
    files = [f for f in texts.below(FIELDS) if not f.endswith("__init__.py")]
    found: list[Flag] = []
    for file in (ARGUMENTS, *files):
        found += read_fields(texts, file)
    found += read_calls(texts, ARGUMENTS, defaults_of(texts, (ARGUMENTS, *files)))
    flags = _once(found)
    if not flags:
        texts.report(ARGUMENTS, None, "its flags are declared in a way that is not known")
    else:
        expected = (ANY_BUILDS, *((ALGORITHM,) if texts.below("srt/speculative/") else ()))
        for name in expected:
            if name not in flags:
                words = f"{name} is declared in a way that is not known; others may be, too"
                texts.report(ARGUMENTS, None, words)
    return tuple(flags.values())


def _once(found: list[Flag]) -> dict[str, Flag]:
    flags: dict[str, Flag] = {}
    for flag in found:
        flags.setdefault(flag.name, flag)
    return flags
