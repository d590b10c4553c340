"""The SGLang that a profile is checked against: its version, its tree, and what its source says.

Without a tree the values are those of the version's source as it was read for the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.versions import Version, read_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.source import Tree

LATEST = "0.5.23"
"""The newest version whose source the rules were read from."""

Triple = tuple[int, int, int]
"""Steps, top-k, draft tokens."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the rules need to know of a build's source; a field that is None was not found in it."""

    page_tree_backends: tuple[str, ...] | None = None
    """Backends that take top-k above 1 with pages above 1."""

    ngram_page_backends: tuple[str, ...] | None = None
    """The same of NGRAM."""

    ngram_devices: tuple[str, ...] | None = None
    ngram_draft_tokens: int | None = None
    """What NGRAM takes when num-draft-tokens is not given."""

    automatic: Mapping[str, Triple] | None = None
    """Target architecture to what is taken without num-steps; `` for every other one,
    `STANDALONE` for that algorithm."""

    own_draft_architectures: tuple[str, ...] | None = None
    """Targets that bring their draft with them."""

    adaptive_steps: tuple[int, ...] | None = None
    """The steps an adaptive server may take without a file of its own."""

    mixed_chunk_algorithms: tuple[str, ...] | None = None
    """Algorithms that keep mixed chunked prefill."""

    lora_algorithms: tuple[str, ...] | None = None
    variables: frozenset[str] | None = None
    """Environment variables the build declares; None where it has no list of them."""

    running_requests: int | None = None
    """What max-running-requests becomes when it is not given."""


@dataclass(frozen=True, slots=True)
class Build:
    """One SGLang."""

    version: str = LATEST
    is_assumed: bool = True
    """Nobody said which version; the newest known one is taken."""

    tree: Tree | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of the tree, relative path to text; those that lint looks into."""

    known: Known = field(default_factory=Known)

    @property
    def number(self) -> Version:
        """The version to compare with; an unreadable one counts as the newest known."""
        return read_version(self.version) or read_version(LATEST) or ()

    @property
    def name(self) -> str:
        """`SGLang 0.5.23`."""
        return f"SGLang {self.version}"

    def is_at_least(self, version: str) -> bool:
        """This version or a later one."""
        return self.number >= (read_version(version) or ())
