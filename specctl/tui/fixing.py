"""Applying what a finding proposes to the text of a profile; pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.lint.finding import Finding

SPECULATIVE = "speculative-"


def fixed_text(text: str, finding: Finding) -> str | None:
    """The text with the key of a finding spelled as the build knows it; None where it cannot be.

    Only the one line is touched, and only a key that stands there once.
    """
    table, _, key = finding.key.rpartition(".")
    lines = text.splitlines(keepends=True)
    if not finding.nearest or not key or not finding.line or finding.line > len(lines):
        return None
    known = finding.nearest.removeprefix("--")
    if table == "speculation":
        known = known.removeprefix(SPECULATIVE)
    word = re.compile(rf"(?<![\w-]){re.escape(key)}(?![\w-])")
    line = lines[finding.line - 1]
    if len(word.findall(line)) != 1 or known == key:
        return None
    lines[finding.line - 1] = word.sub(lambda _: known, line)
    return "".join(lines)
