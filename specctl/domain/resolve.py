"""A profile with what it inherits, what a host overrides, and where each value came from.

The chain of `extends` is laid down from its root; tables merge key by key, everything else is
replaced whole. `[speculation]` with another algorithm starts afresh: the arguments of one mean
nothing to the other. `unset` takes keys away. The `[on.HOST]` tables of the whole chain come last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specctl.domain import flags
from specctl.domain.inheritance import TABLES, Inheritance
from specctl.domain.problem import Problem
from specctl.domain.profile import (
    DEFAULT_READY_TIMEOUT_S,
    SECRET_PREFIX,
    Corpus,
    Expectation,
    Origin,
    Placement,
    Profile,
    Speculation,
)

if TYPE_CHECKING:
    from specctl.domain.host import Host
    from specctl.domain.inheritance import Document, Layers

WORKSPACE = "{workspace}"
"""In a string: the workspace's directory, on hosts that are this machine."""


def resolve(
    name: str,
    profiles: Mapping[str, Document] | Inheritance,
    *,
    on: Host | None = None,
    workspace: str = "",
) -> tuple[Profile | None, tuple[Problem, ...]]:
    """The profile `name`, for one host when `on` is given, and what is wrong with it."""
    family = profiles if isinstance(profiles, Inheritance) else Inheritance(profiles)
    inherited, own = family.of(name), family.documents[name]
    if inherited.problems:
        return None, inherited.problems
    layers = inherited.layers.copy()
    if on is not None:
        for document in inherited.overriding:
            layers.lay(document, document.values["on"].get(on.name, {}), ("on", on.name))
    if ("model",) not in layers.entries:
        message = "no model: neither this profile nor one it extends names one"
        layers.problems.append(Problem(own.file, None, "model", message))
    if on is not None:
        _expand(layers, on, workspace)
    _require_algorithm(layers)
    if layers.problems:
        return None, tuple(layers.problems)
    return _profile(own, layers), ()


def _require_algorithm(layers: Layers) -> None:
    keys = [key for key in layers.entries if key[0] == "speculation"]
    if keys and ("speculation", "algorithm") not in layers.entries:
        origin = layers.entries[keys[0]][1]
        message = "speculation needs an algorithm"
        close = ", ".join(flags.ALGORITHMS[:5])
        layers.problems.append(
            Problem(origin.file, origin.line, "speculation.algorithm", f"{message}: {close} …")
        )


def _expand(layers: Layers, host: Host, workspace: str) -> None:
    for key, (value, origin) in layers.entries.items():
        if not mentions_workspace(value):
            continue
        if host.transport == "local":
            layers.entries[key] = (expand_workspace(value, workspace), origin)
        else:
            message = f"{WORKSPACE} means this machine's workspace, and {host.name} is another host"
            layers.problems.append(Problem(origin.file, origin.line, ".".join(key), message))


def mentions_workspace(value: Any) -> bool:
    """The marker `{workspace}` is somewhere in a value."""
    if isinstance(value, Mapping):
        return any(mentions_workspace(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(mentions_workspace(item) for item in value)
    return isinstance(value, str) and WORKSPACE in value


def expand_workspace(value: Any, workspace: str) -> Any:
    """A value with `{workspace}` replaced in every string of it."""
    if isinstance(value, Mapping):
        return {key: expand_workspace(item, workspace) for key, item in value.items()}
    if isinstance(value, list):
        return [expand_workspace(item, workspace) for item in value]
    return value.replace(WORKSPACE, workspace) if isinstance(value, str) else value


def _profile(own: Document, layers: Layers) -> Profile:
    entries = layers.entries
    tables: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
    plain: dict[str, Any] = {}
    for key, (value, _) in entries.items():
        if key[0] in TABLES:
            tables[key[0]][key[1]] = frozen(value)
        else:
            plain[key[0]] = value
    environment = tables["env"]
    arguments, secrets = _without_secrets(tables["arguments"], "argument")
    environment, named = _without_secrets(tables["env"], "env")
    origins = {".".join(key): origin for key, (_, origin) in entries.items()}
    for key in entries:
        for number, origin in enumerate(layers.items.get(key, ())):
            origins[f"{'.'.join(key)}[{number}]"] = origin
    return Profile(
        name=own.name,
        model=plain["model"],
        description=own.values.get("description", ""),
        arguments=arguments,
        speculation=_speculation(tables["speculation"]),
        environment={key: str(value) for key, value in environment.items()},
        secrets={**secrets, **named},
        placement=_placement(tables["placement"], environment, origins),
        ready_timeout_s=float(plain.get("ready_timeout_s", DEFAULT_READY_TIMEOUT_S)),
        baseline=plain.get("baseline"),
        expectation=Expectation(**tables["expectation"]),
        corpora=tuple(Corpus(**corpus) for corpus in plain.get("corpora", ())),
        file=own.file,
        origins=origins,
    )


def _speculation(table: Mapping[str, Any]) -> Speculation | None:
    if not table:
        return None
    rest = {key: value for key, value in table.items() if key != "algorithm"}
    return Speculation(table["algorithm"], rest)


def _without_secrets(table: Mapping[str, Any], kind: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The plain values of a table, and the secrets named in it by destination."""
    plain: dict[str, Any] = {}
    secrets: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, str) and value.startswith(SECRET_PREFIX):
            secrets[f"{kind}:{key}"] = value.removeprefix(SECRET_PREFIX)
        else:
            plain[key] = value
    return plain, secrets


def _placement(
    table: Mapping[str, Any], environment: Mapping[str, Any], origins: dict[str, Origin]
) -> Placement:
    """Where the server goes; `CUDA_VISIBLE_DEVICES` says so too when it lists plain indices."""
    gpus = table.get("gpus")
    visible = str(environment.get("CUDA_VISIBLE_DEVICES", ""))
    parts = [part.strip() for part in visible.split(",")]
    if gpus is None and all(part.isdecimal() for part in parts):
        gpus = tuple(int(part) for part in parts)
        origins["placement.gpus"] = origins["env.CUDA_VISIBLE_DEVICES"]
    return Placement(gpus=gpus, port=table.get("port"))


def frozen(value: Any) -> Any:
    """A value of TOML as a profile keeps it: lists become tuples."""
    if isinstance(value, Mapping):
        return {key: frozen(item) for key, item in value.items()}
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
