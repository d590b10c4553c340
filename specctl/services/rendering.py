"""Prompts made into what is sent: chat messages by the host's own tokenizer and chat template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.errors import DeadlineError, HostError, RemoteFailedError
from specctl.domain.workload import Rendered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.probe import Prompt
    from specctl.facts.server_info import ServerInfo
    from specctl.services.connection import Connection

TIMEOUT_S = 120.0
AS_TEXT = "texts as they are"


@dataclass(frozen=True, slots=True)
class Rendering:
    """Prompts ready to be sent, and how they became so."""

    prompts: tuple[Rendered, ...]
    words: str


async def render(connection: Connection, info: ServerInfo, prompts: Sequence[Prompt]) -> Rendering:
    """Texts unchanged, messages as token ids where the host can, else left to the server."""
    talks = [prompt for prompt in prompts if prompt.messages]
    if not talks:
        return Rendering(_rendered(prompts, iter(())), AS_TEXT)
    try:
        answer = await _ask(connection, info, talks)
    except (RemoteFailedError, DeadlineError) as error:
        return _leave_to_server(prompts, error.message)
    except HostError:
        if connection.session.is_closed:
            raise
        return _leave_to_server(prompts, "the interpreter could not be run")
    return Rendering(_rendered(prompts, iter(answer["ids"])), _words(answer))


def _rendered(prompts: Sequence[Prompt], ids: Iterator[Sequence[int]]) -> tuple[Rendered, ...]:
    return tuple(
        Rendered(prompt, input_ids=tuple(next(ids)), index=place)
        if prompt.messages
        else Rendered(prompt, text=prompt.text, index=place)
        for place, prompt in enumerate(prompts)
    )


async def _ask(connection: Connection, info: ServerInfo, talks: Sequence[Prompt]) -> dict[str, Any]:
    host = connection.host
    python = (host.python or connection.hello.executable,)
    request = render_request(info.arguments, host, talks)
    return await run_oneshot(
        connection.session, python, "render_chat", request, timeout_s=TIMEOUT_S
    )


def render_request(
    arguments: Mapping[str, Any], host: Host, talks: Sequence[Prompt]
) -> dict[str, Any]:
    """What the one-shot is asked: the tokenizer and template that the server itself uses."""
    environment = dict(host.environment)
    if host.hf_home:
        environment["HF_HOME"] = host.hf_home
    return {
        "tokenizer": arguments.get("tokenizer_path") or arguments.get("model_path"),
        "chat_template": arguments.get("chat_template"),
        "template_name": arguments.get("hf_chat_template_name"),
        "template_arguments": arguments.get("default_chat_template_kwargs"),
        "trust_remote_code": bool(arguments.get("trust_remote_code")),
        "revision": arguments.get("revision"),
        "environment": environment,
        "conversations": [
            [{"role": role, "content": content} for role, content in prompt.messages]
            for prompt in talks
        ],
    }


def _leave_to_server(prompts: Sequence[Prompt], why: str) -> Rendering:
    rendered = tuple(
        Rendered(prompt, text=_joined(prompt), index=place, is_by_server=bool(prompt.messages))
        for place, prompt in enumerate(prompts)
    )
    return Rendering(rendered, f"by the server's chat path, not outside it ({why})")


def _joined(prompt: Prompt) -> str:
    return prompt.text or "\n".join(f"{role}: {content}" for role, content in prompt.messages)


def _words(answer: Mapping[str, Any]) -> str:
    return (
        f"by the host's tokenizer {answer['tokenizer_sha256'][:12]} and chat template "
        f"{answer['template_sha256'][:12]}"
    )
