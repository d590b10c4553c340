"""Training sets: prompts that a server is sent before it is measured, none of them measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.workload import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import Prompt
    from specctl.domain.workload import Rendered, Workload

COLD = "cold"


@dataclass(frozen=True, slots=True)
class TrainedOn:
    """What a server was sent between its flush and each measured window."""

    workload: str
    """Its name."""

    sha256: str
    """Of its file."""

    prompts: int

    @property
    def words(self) -> str:
        """What is done."""
        prompts = "1 prompt" if self.prompts == 1 else f"{self.prompts} prompts"
        return f"trained on {self.workload}, {prompts}, before each window"


def trained_on_of(workload: Workload) -> TrainedOn:
    """Of all prompts that it holds."""
    return TrainedOn(workload.name, workload.sha256, len(workload.prompts))


def label(trained_on: TrainedOn | None) -> str:
    """`cold`, or `warm after NAME`: figures of the two are never put together."""
    return COLD if trained_on is None else f"warm after {trained_on.workload}"


def warm_words(trained_on: TrainedOn | None) -> str:
    """What is added to a sentence about figures: nothing to one about cold ones."""
    return "" if trained_on is None else f", {label(trained_on)}"


def exact_label(trained_on: TrainedOn | None) -> str:
    """The same, with which version and how much of the set."""
    if trained_on is None:
        return COLD
    return f"{label(trained_on)} ({trained_on.sha256[:12]}, {trained_on.prompts} prompts)"


def key_of(trained_on: TrainedOn | None) -> str:
    """Equal for equal training; empty for none."""
    return "" if trained_on is None else f"{trained_on.sha256}/{trained_on.prompts}"


def not_as_planned(was: TrainedOn | None, planned: TrainedOn | None) -> str:
    """`cold, not warm after NAME`; two versions of one set are told apart."""
    name = label if label(was) != label(planned) else exact_label
    return f"{name(was)}, not {name(planned)}"


def with_label(workload: str, trained_on: TrainedOn | None) -> str:
    """A workload as it is shown: `mixed, warm after code`."""
    return f"{workload}, {label(trained_on)}"


def refuse_shared(measured: Sequence[Prompt], training: Sequence[Prompt]) -> None:
    """Raise UsageError for a prompt, or the words of a conversation, that is in both."""
    known = {_content(prompt) for prompt in measured}
    for prompt in training:
        if _content(prompt) in known:
            raise _shared(prompt)


def refuse_shared_rendered(measured: Sequence[Rendered], training: Sequence[Rendered]) -> None:
    """The same for what is sent."""
    known = {rendered.key for rendered in measured}
    for rendered in training:
        if rendered.key in known:
            raise _shared(rendered.prompt)


def _content(prompt: Prompt) -> tuple[str, ...]:
    if prompt.text is not None:
        return (prompt.text,)
    return tuple(content for _, content in prompt.messages)


def _shared(prompt: Prompt) -> UsageError:
    return UsageError(
        f"a training prompt is also measured: {excerpt(prompt)}",
        hint="Take a training set that shares no prompt with the workload: the server would find "
        "its own earlier answer.",
    )
