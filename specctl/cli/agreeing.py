"""What a comparison, a trial or a sweep would do is shown and agreed to before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.diagnostics import say, warn
from specctl.cli.running import confirm
from specctl.domain.errors import RefusedError
from specctl.domain.plan import all_next_steps, all_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.plan import Check


def is_agreed(
    host: str,
    steps: Iterable[str],
    refusals: Sequence[Check],
    *,
    remarks: Iterable[str] = (),
    is_dry: bool,
    yes: bool,
) -> bool:
    """Show what will be done and ask; False after a dry run, RefusedError where it cannot be."""
    for number, words in enumerate(steps, start=1):
        say(f"{number}. {words}")
    for words in remarks:
        say(words)
    for check in refusals:
        warn(f"{check.words}. {check.next_step}")
    if is_dry:
        return False
    if refusals:
        raise RefusedError(f"host {host}: {all_words(refusals)}", hint=all_next_steps(refusals))
    if not confirm("Go ahead?", yes=yes):
        raise RefusedError("nothing was done")
    return True
