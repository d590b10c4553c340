"""Every rule, in the order in which a server comes to them."""

from __future__ import annotations

from specctl.domain.lint.rule import Derivation, Rule
from specctl.domain.lint.rules import (
    adaptive,
    algorithm,
    backends,
    blocks,
    draft,
    eagle,
    environment,
    ngram,
    parallel,
    sampling,
    serving,
    spelling,
    uno,
)

PIPELINE: tuple[Rule | Derivation, ...] = (
    *spelling.RULES,
    *environment.RULES,
    *serving.EARLY,
    *parallel.EARLY,
    *backends.RULES,
    *algorithm.RULES,
    *draft.RULES,
    *environment.SPECULATION,
    *sampling.EARLY,
    *adaptive.RULES,
    *eagle.EARLY,
    *sampling.RULES,
    *eagle.RULES,
    *ngram.RULES,
    *blocks.RULES,
    *uno.RULES,
    *parallel.RULES,
    *serving.RULES,
)

RULES: tuple[Rule, ...] = tuple(item for item in PIPELINE if isinstance(item, Rule))
