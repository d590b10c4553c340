"""What a rule looks at: the arguments as they stand at its turn, the host, and the build."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.arguments import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.checkpoint.values import ModelConfig
    from specctl.domain.lint.build import Build
    from specctl.domain.lint.given import Given
    from specctl.domain.lint.naming import Named
    from specctl.domain.profile import Corpus, Value

EAGLE_FAMILY = frozenset({"EAGLE", "EAGLE3", "STANDALONE"})
"""As the server calls them; NEXTN has become EAGLE by then."""

MTP_ALIAS = "NEXTN"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the host and of the models; None where it is not known."""

    device: str | None = None
    """`cuda`, `cpu` …, taken when the profile names none."""

    capability: tuple[int, int] | None = None
    """Of the GPUs, e.g. (9, 0) for Hopper."""

    memory_bytes: int | None = None
    """The host's own, in all."""

    has_amx: bool | None = None
    target_config: ModelConfig | None = None
    draft_config: ModelConfig | None = None
    draft_trouble: str | None = None
    """Why the draft's config.json cannot be read; None when it can, or was not looked for."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Texts of small files that arguments name, e.g. the adaptive config; by path."""

    missing_files: frozenset[str] = frozenset()


@dataclass(slots=True)
class Case:
    """One profile on its way through the server's argument resolution."""

    given: Given
    around: Surroundings
    build: Build
    corpora: tuple[Corpus, ...] = ()
    named: tuple[Named, ...] = ()
    """Every written flag and what it stands for."""

    values: dict[str, Value | None] = field(default_factory=dict)
    """Flag, in its first spelling, to the value it has by now."""

    def is_given(self, flag: str) -> bool:
        """The profile sets it."""
        return self.given.has(flag)

    def number(self, flag: str) -> int | None:
        """A whole number; None when it is unset or none."""
        return whole(self.values.get(flag))

    def text(self, flag: str) -> str | None:
        """A text; None when it is unset."""
        value = self.values.get(flag)
        return None if value is None or isinstance(value, bool) else str(value)

    def is_on(self, flag: str) -> bool:
        """A switch that is set."""
        return self.values.get(flag) is True

    def variable(self, name: str) -> str | None:
        """An environment variable of the server."""
        return self.given.environment.get(name)

    def is_variable_on(self, name: str) -> bool:
        """As SGLang reads a truth value from the environment."""
        return (self.variable(name) or "").lower() in {"true", "1", "yes", "y"}

    @property
    def algorithm(self) -> str | None:
        """As it is by now: upper case, aliases resolved."""
        return self.text("speculative-algorithm")

    @property
    def typed_algorithm(self) -> str | None:
        """As it was written, in upper case."""
        return self.given.typed("speculative-algorithm").upper() or None

    @property
    def steps(self) -> int | None:
        """Draft steps."""
        return self.number("speculative-num-steps")

    @property
    def topk(self) -> int | None:
        """Branches at each step."""
        return self.number("speculative-eagle-topk")

    @property
    def draft_tokens(self) -> int | None:
        """Tokens verified in a step, the last accepted one included."""
        return self.number("speculative-num-draft-tokens")

    @property
    def device(self) -> str:
        """`cuda`, `cpu`, …, without an index."""
        return (self.text("device") or self.around.device or "cuda").partition(":")[0]

    @property
    def attention_groups(self) -> int:
        """Data-parallel attention groups; 1 without DP attention."""
        new = self.number("attn-dp-size") or 1
        old = (self.number("dp-size") or 1) if self.is_on("enable-dp-attention") else 1
        return max(new, old)

    @property
    def backends(self) -> tuple[str | None, str | None]:
        """Attention backends of prefill and of decode; None where they are not known."""
        both = self.text("attention-backend")
        return (
            self.text("prefill-attention-backend") or both,
            self.text("decode-attention-backend") or both,
        )

    @property
    def target_architecture(self) -> str | None:
        """The class that serves the target."""
        return _architecture(self.around.target_config)

    @property
    def draft_architecture(self) -> str | None:
        """The class that serves the draft."""
        return _architecture(self.around.draft_config)


def _architecture(config: ModelConfig | None) -> str | None:
    return config.architecture or None if config is not None else None
