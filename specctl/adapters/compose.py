"""Launch commands inside YAML: compose files and Kubernetes manifests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from specctl.domain.errors import UsageError
from specctl.domain.importing import Launch, unwrapped
from specctl.domain.shell_script import read_script

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = ("entrypoint", "command", "args")
_LOOKS_YAML = re.compile(r"^[ \t]*(?:services|containers|command|args|apiVersion):", re.MULTILINE)
_LEFT_OUT = ("image", "ports", "volumes", "shm_size", "deploy", "env_file", "volumeMounts")


def looks_like_compose(text: str) -> bool:
    """The text is a compose file, a manifest or a part of one."""
    return _LOOKS_YAML.search(text) is not None


def launch_of_compose(text: str) -> Launch:
    """The first service or container of a YAML text that starts an SGLang server."""
    try:
        # BaseLoader keeps every scalar a string: `5000:5000` and `yes` are not numbers or booleans.
        documents = list(yaml.load_all(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise UsageError(f"{place}{problem}", hint="correct the YAML, then import again") from error
    found = [launch for name, block in _blocks(documents, "") if (launch := _launch(name, block))]
    if not found:
        raise UsageError(
            "no service of this YAML starts an SGLang server that is recognised",
            hint="its command must be python -m sglang.launch_server … or sglang serve …",
        )
    for other in found[1:]:
        found[0].remarks.append(f"another server is left out: {other.remarks[0]}")
    return found[0]


def _blocks(value: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping that names a command, with the key or name it goes by."""
    if isinstance(value, dict):
        if any(field in value for field in _FIELDS):
            yield str(value.get("name", name)), value
        for key, item in value.items():
            yield from _blocks(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _blocks(item, name)


def _launch(name: str, block: dict[str, Any]) -> Launch | None:
    words = tuple(word for field in _FIELDS for word in _words(block.get(field)))
    environment = dict(_environment(block.get("environment", block.get("env"))))
    remarks = [f"service {name}", *_remarks(block)]
    return unwrapped(Launch(words, environment, remarks=remarks))


def _words(value: Any) -> list[str]:
    """A list is words as they are; a string is read as a shell would."""
    if isinstance(value, list):
        return [str(item) for item in value]
    if not isinstance(value, str):
        return []
    commands = read_script(value).commands
    return [word for command in commands[:1] for word in command.words]


def _environment(value: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, dict):
        yield from value.items()
        return
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield str(item.get("name", "")), item.get("value")
        else:
            name, equals, content = str(item).partition("=")
            yield name, content if equals else None


def _remarks(block: dict[str, Any]) -> Iterator[str]:
    for key in _LEFT_OUT:
        value = block.get(key)
        if isinstance(value, str):
            yield f"{key}: {value}"
        elif isinstance(value, list):
            yield f"{key}: {', '.join(str(item) for item in value)}"
        elif value is not None:
            yield f"{key} is left out"
