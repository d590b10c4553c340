"""Workloads: prompts to measure with, and what their shared beginnings explain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import Prompt

STREAM_STRIDE = 4
"""Every fourth prompt is held out for streaming where a flush in between is not possible."""

MOST_STREAMED = 16


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen; greedy unless the workload says otherwise."""

    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None

    @property
    def is_greedy(self) -> bool:
        """The most probable token is always taken, so outputs of two arms can be compared."""
        return self.temperature == 0

    def parameters(self) -> dict[str, float | int]:
        """As SGLang's `sampling_params` spells them."""
        found: dict[str, float | int] = {"temperature": self.temperature}
        if self.top_p is not None:
            found["top_p"] = self.top_p
        if self.top_k is not None:
            found["top_k"] = self.top_k
        return found


@dataclass(frozen=True, slots=True)
class Workload:
    """Prompts with a name and the hash of the file they came from."""

    name: str
    prompts: tuple[Prompt, ...]
    sha256: str
    sampling: Sampling = Sampling()
    description: str = ""

    @property
    def categories(self) -> tuple[str, ...]:
        """In the order of their first prompt."""
        return tuple(dict.fromkeys(prompt.category for prompt in self.prompts))


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt as it is sent: token ids where the host's tokenizer rendered it, else its text."""

    prompt: Prompt
    input_ids: tuple[int, ...] | None = None
    text: str | None = None
    """Of messages that only the server can render: they joined, to find common beginnings."""

    index: int = 0
    """Its place in the workload."""

    is_by_server: bool = False
    """Sent as messages to the server's chat path, because it could not be rendered outside."""

    @property
    def key(self) -> Sequence[int] | str:
        """What two prompts' common beginning is looked for in."""
        return self.text or "" if self.input_ids is None else self.input_ids


def generate_body(rendered: Rendered, sampling: Sampling, *, stream: bool) -> dict[str, object]:
    """The body of a `/generate` request."""
    sent: dict[str, object] = (
        {"text": rendered.text}
        if rendered.input_ids is None
        else {"input_ids": list(rendered.input_ids)}
    )
    parameters = {**sampling.parameters(), "max_new_tokens": rendered.prompt.max_tokens}
    return {**sent, "sampling_params": parameters, "stream": stream}


def chat_body(prompt: Prompt, sampling: Sampling, *, stream: bool) -> dict[str, object]:
    """The body of a `/v1/chat/completions` request, for a server that has to render itself."""
    body: dict[str, object] = {
        "messages": [{"role": role, "content": content} for role, content in prompt.messages],
        "max_tokens": prompt.max_tokens,
        "stream": stream,
        "return_spec_tokens_details": True,
        **sampling.parameters(),
    }
    if stream:
        body["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
    return body


def choose_streamed(
    prompts: Sequence[Rendered], *, can_flush: bool
) -> tuple[tuple[Rendered, ...], tuple[Rendered, ...]]:
    """(measured, streamed): the same prompts when the cache is flushed in between, else disjoint.

    A prompt sent twice to an unflushed server finds its own beginning in the cache, and an n-gram
    draft finds its own earlier output.
    """
    if can_flush or len(prompts) < 2:  # noqa: PLR2004 - one prompt cannot be split
        return tuple(prompts), tuple(prompts[:MOST_STREAMED]) if can_flush else ()
    streamed = tuple(prompts[STREAM_STRIDE - 1 :: STREAM_STRIDE]) or (prompts[-1],)
    held_out = {id(rendered) for rendered in streamed}
    return tuple(r for r in prompts if id(r) not in held_out), streamed[:MOST_STREAMED]


def shared_beginning(one: Sequence[int] | str, other: Sequence[int] | str) -> int:
    """How many leading tokens (or characters) two prompts have in common."""
    if type(one) is not type(other):
        return 0
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def explained_cached_tokens(sent: Rendered, earlier: Sequence[Rendered], prompt_tokens: int) -> int:
    """Cached tokens that prompts sent before in the same window account for.

    Of a text only the share of its characters is known; a token more is allowed for the token that
    the cut runs through and one for a beginning-of-text token.
    """
    common = max((shared_beginning(sent.key, other.key) for other in earlier), default=0)
    if sent.input_ids is not None:
        return common
    length = len(sent.key)
    return 0 if not earlier or not length else round(prompt_tokens * common / length) + 2


def refuse_repeated(prompts: Sequence[Rendered], warm_up: Sequence[Rendered]) -> None:
    """Raise UsageError for prompts that would be measured warm whatever is flushed."""
    seen: set[object] = set()
    for rendered in prompts:
        if rendered.key in seen:
            raise UsageError(
                f"the workload holds a prompt twice: {excerpt(rendered.prompt)}",
                hint="The second would find the first in the cache; remove one.",
            )
        seen.add(rendered.key)
    for rendered in warm_up:
        if rendered.key in seen:
            raise UsageError(
                f"a warm-up prompt is also measured: {excerpt(rendered.prompt)}",
                hint="Change the workload: its prompts must not be warmed up with.",
            )


def excerpt(prompt: Prompt) -> str:
    """Its beginning, quoted."""
    text = prompt.text or " ".join(content for _, content in prompt.messages)
    return repr(text[:60])
