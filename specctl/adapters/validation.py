"""Every problem of one file that people write: what, at which key, on which line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from specctl.adapters import schema
from specctl.domain import flags
from specctl.domain.alerts.rules import FALLING, rules_of
from specctl.domain.nearest import nearest
from specctl.domain.problem import Problem
from specctl.domain.profile import SECRET_PREFIX
from specctl.domain.spelling import Slip, argument_slip, shown, speculation_slip, value_slip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

    from specctl.adapters.files import TomlFile

Path = tuple[str | int, ...]

_TABLES: dict[str, type[BaseModel]] = {
    "placement": schema.PlacementTable,
    "expectation": schema.ExpectationTable,
    "corpora": schema.CorpusTable,
    **dict.fromkeys(("lost", "crashed", "gpu"), schema.AlertTable),
    **dict.fromkeys(
        ("collapsed", "breakeven", "memory", "queue", "slow-link"), schema.ThresholdTable
    ),
    "throttle": schema.ThrottleTable,
}
_KINDS = {
    "string_type": "a string in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list in [brackets]",
    "dict_type": "a table",
    "model_type": "a table",
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_OWN_RULES = ("arguments", "speculation", "env")
_FILES = {"rules": "alerts.toml", "profile": "a profile file", "remote": "a remote file"}
_OTHER_NAMES = {
    "rules": {"host": "lost", "crash": "crashed", "heat": "throttle", "accept": "breakeven"},
    "remote": {"address": "host", "hostname": "host", "alias": "ssh", "environment": "env"},
    "profile": {
        "environment": "env", "model_path": "model", "model-path": "model", "args": "arguments",
        "spec": "speculation", "expect": "expectation", "parent": "extends", "gpus": "placement",
        "port": "placement", "timeout": "ready_timeout_s",
    },
}  # fmt: skip


def problems_of(kind: str, toml: TomlFile) -> tuple[Problem, ...]:
    """Everything wrong with the shape of a file, in the order of its lines."""
    if toml.problem is not None:
        return (toml.problem,)
    found = [*_model_problems(kind, toml), *_table_problems(kind, toml), *_nul_problems(toml)]
    if kind == "remote":
        found += _remote_problems(toml)
    if kind == "rules" and not found:
        found += _alert_problems(toml)
    return tuple(sorted(found, key=lambda problem: problem.line or 0))


def _model_problems(kind: str, toml: TomlFile) -> Iterator[Problem]:
    try:
        schema.MODELS[kind].model_validate(toml.values)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            yield _in_words(kind, toml, details)


def _in_words(kind: str, toml: TomlFile, details: ErrorDetails) -> Problem:
    path = tuple(part for part in details["loc"] if part != "[key]")
    if details["type"] == "extra_forbidden":
        place = dotted(path[:-1])
        message = f"no key {path[-1]}" + (f" in [{place}]" if place else f" in {_FILES[kind]}")
        return _problem(toml, path, message, _nearest_key(kind, path))
    wanted = _KINDS.get(details["type"])
    if wanted is not None:
        return _problem(toml, path, f"must be {wanted}, not {shown(details['input'])}")
    return _problem(toml, path, _sentence(details))


def _sentence(details: ErrorDetails) -> str:
    context, given = details.get("ctx", {}), details["input"]
    sentences = {
        "missing": "is missing",
        "greater_than_equal": f"must be at least {context.get('ge', 0):g}, not {given}",
        "less_than_equal": f"must be at most {context.get('le', 0):.0f}, not {given}",
        "greater_than": f"must be more than {context.get('gt', 0):g}, not {given}",
        "string_too_short": "must not be empty",
        "too_short": "must not be empty",
        "literal_error": f"must be {context.get('expected')}, not {shown(given)}",
    }
    return sentences.get(details["type"], details["msg"][:1].lower() + details["msg"][1:])


def _nearest_key(kind: str, path: Path) -> str:
    key = str(path[-1])
    inner: Path = path[2:] if path[0] == "on" and kind == "profile" else path
    if len(inner) == 1:
        model = schema.MODELS[kind] if inner is path else schema.ProfilePart
        known = _OTHER_NAMES[kind].get(key.lower(), "")
        if not known and kind == "profile" and key.replace("_", "-") in flags.KNOWN:
            known = f"{key.replace('_', '-')} in [arguments]"
        names = [field.alias or name for name, field in model.model_fields.items()]
        return known or nearest(key, names)
    table = _TABLES.get(str(inner[0]))
    return nearest(key, table.model_fields) if table else ""


def _nul_problems(toml: TomlFile) -> Iterator[Problem]:
    """No word of a command line and no path can hold NUL; three tables have rules of their own."""
    for path, text in _texts(toml.values, ()):
        table = path[2] if path[0] == "on" and len(path) > 2 else path[0]  # noqa: PLR2004
        if "\0" in text and table not in _OWN_RULES:
            yield _problem(toml, path, "holds a NUL character")


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for key, inner in value.items():
                yield from _texts(inner, (*path, key))
        case list():
            for number, inner in enumerate(value):
                yield from _texts(inner, (*path, number))


def _table_problems(kind: str, toml: TomlFile) -> Iterator[Problem]:
    """Problems of the tables whose keys are SGLang's or the environment's, not specctl's."""
    yield from _part_problems(toml, toml.values, ())
    overrides = toml.values.get("on")
    if kind == "profile" and isinstance(overrides, dict):
        for host, values in overrides.items():
            if isinstance(values, dict):
                yield from _part_problems(toml, values, ("on", host))


def _part_problems(toml: TomlFile, values: Mapping[str, Any], under: Path) -> Iterator[Problem]:
    for table, key, value in _entries(values, "arguments"):
        slips = argument_slip(key), value_slip(key, value), _secret_slip(value)
        yield from _slip_problem(toml, (*under, table, key), _worst(slips))
    for table, key, value in _entries(values, "speculation"):
        yield from _slip_problem(toml, (*under, table, key), _speculation_slip(key, value))
    for table, key, value in _entries(values, "env"):
        yield from _slip_problem(toml, (*under, table, key), _environment_slip(key, value))
    yield from _twice(toml, values, under)


def _entries(values: Mapping[str, Any], table: str) -> Iterator[tuple[str, str, Any]]:
    entries = values.get(table)
    if isinstance(entries, dict):
        for key, value in entries.items():
            yield table, key, value


def _speculation_slip(key: str, value: Any) -> Slip | None:
    if key == "algorithm":
        is_text = isinstance(value, str)
        return None if is_text else Slip(f"must be a string in quotes, not {shown(value)}")
    return speculation_slip(key) or value_slip(flags.SPECULATION_PREFIX + key, value)


def _environment_slip(key: str, value: Any) -> Slip | None:
    if not _VARIABLE.fullmatch(key):
        return Slip("is no name of an environment variable")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return Slip(f"must be a string in quotes, not {shown(value)}")
    if "\0" in str(value):
        return Slip("holds a NUL character")
    return _secret_slip(value)


def _secret_slip(value: Any) -> Slip | None:
    if not isinstance(value, str) or not value.startswith(SECRET_PREFIX):
        return None
    name = value.removeprefix(SECRET_PREFIX)
    return None if _SECRET_NAME.fullmatch(name) else Slip("is no name of a secret")


def _worst(slips: tuple[Slip | None, ...]) -> Slip | None:
    """The first error, else the first warning."""
    found = sorted((slip for slip in slips if slip), key=lambda slip: slip.is_warning)
    return found[0] if found else None


def _slip_problem(toml: TomlFile, path: Path, slip: Slip | None) -> Iterator[Problem]:
    if slip is not None:
        problem = _problem(toml, path, slip.message, slip.nearest, is_warning=slip.is_warning)
        yield replace(problem, is_about_build=slip.is_about_build)


def _twice(toml: TomlFile, values: Mapping[str, Any], under: Path) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for table, prefix in (("arguments", ""), ("speculation", flags.SPECULATION_PREFIX)):
        for _, key, _ in _entries(values, table):
            first = seen.setdefault(flags.canonical(prefix + key), key)
            if first == key:
                continue
            yield _problem(toml, (*under, table, key), f"is the same flag as {first} above")


def _remote_problems(toml: TomlFile) -> Iterator[Problem]:
    values = toml.values
    reach = [key for key in ("ssh", "host", "port", "user") if key in values]
    if values.get("transport") == "local":
        for key in reach:
            yield _problem(toml, (key,), 'has no meaning with transport = "local"')
    elif "ssh" not in reach and "host" not in reach:
        yield _problem(toml, (), 'names neither `ssh` nor `host`, nor transport = "local"')
    elif "ssh" in reach and "host" in reach:
        yield _problem(toml, ("host",), "either `ssh` or `host`: an alias has its own host name")


def _alert_problems(toml: TomlFile) -> Iterator[Problem]:
    """Thresholds the wrong way round: an alert would be raised and cleared by one value."""
    for rule in rules_of(toml.values).by_name.values():
        if rule.raise_at is None or rule.clear_at is None:
            continue
        is_falling = rule.name in FALLING
        if is_falling and rule.clear_at < rule.raise_at:
            message = f"must be at least raise_at, {rule.raise_at:g}, not {rule.clear_at:g}"
        elif not is_falling and rule.clear_at > rule.raise_at:
            message = f"must be at most raise_at, {rule.raise_at:g}, not {rule.clear_at:g}"
        else:
            continue
        yield _problem(toml, (rule.name.value, "clear_at"), message)


def _problem(
    toml: TomlFile, path: Path, message: str, close: str = "", *, is_warning: bool = False
) -> Problem:
    return Problem(toml.file, toml.line(path), dotted(path), message, close, is_warning)


def dotted(path: Path) -> str:
    """`corpora[0].path`; parts that TOML would quote are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else f'"{part}"')
    return text
