"""Published points, shown as ghosts beside measured ones; each with its source and licence."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Published:
    """One published point."""

    model: str
    algorithm: str
    batch_size: int
    num_steps: int
    topk: int
    num_draft_tokens: int
    accept_length: float
    speedup: float
    source: str
    licence: str

    @property
    def words(self) -> str:
        """For a reader."""
        setting = f"({self.num_steps},{self.topk},{self.num_draft_tokens})"
        return (
            f"{self.model}, {self.algorithm} {setting}, batch {self.batch_size}: accept length "
            f"{self.accept_length:.2f}, {self.speedup:.2f}x. {self.source}, {self.licence}"
        )

    @property
    def is_plausible(self) -> bool:
        """A speedup beyond the accept length means that the baseline is wrong."""
        return self.speedup <= self.accept_length


def read_published(lines: Iterable[str]) -> tuple[Published, ...]:
    """Rows of the bundled file."""
    return tuple(
        Published(
            model=row["model"],
            algorithm=row["algorithm"],
            batch_size=int(row["batch_size"]),
            num_steps=int(row["num_steps"]),
            topk=int(row["topk"]),
            num_draft_tokens=int(row["num_draft_tokens"]),
            accept_length=float(row["accept_length"]),
            speedup=float(row["speedup"]),
            source=row["source"],
            licence=row["licence"],
        )
        for row in csv.DictReader(lines)
    )
