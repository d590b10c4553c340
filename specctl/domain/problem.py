"""What is wrong with one place of one file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one file of the workspace."""

    file: str
    """As the user would type it, e.g. `profiles/kimi-eagle3.toml`."""

    line: int | None
    """1-based; None when the file as a whole is meant."""

    key: str
    """Dotted, e.g. `speculation.num-steps`; empty when the file as a whole is meant."""

    message: str
    nearest: str = ""
    """The known key or value closest to the one written, when there is one."""

    is_warning: bool = False
    """The file can be used all the same."""

    is_about_build: bool = False
    """It says that SGLang has no such flag, which is for the build at hand to say."""

    def __str__(self) -> str:
        """`FILE:LINE  KEY: MESSAGE. Nearest: NEAREST`, each part where known."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        words = f"{self.key}: {self.message}" if self.key else self.message
        return f"{place}  {words}" + (f". Nearest: {self.nearest}" if self.nearest else "")
