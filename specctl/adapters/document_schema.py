"""JSON Schemas (2020-12) of what is printed, derived from the classes that are printed.

The counterpart of `domain.plain`: whatever that does to a value, this does to its type.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from specctl.adapters.source_words import names_of, words_of
from specctl.domain.missing import Missing, Why

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIMULATED = {
    "type": "boolean",
    "description": "It is about a practice host of the lab: no GPU did what it shows.",
}
SEE_MISSING = "Null when not known: `missing` says why; nothing there means it was not yet read."
REASON = {
    "type": "string",
    "pattern": f"^({'|'.join(Why)})(: [\\s\\S]*)?$",
    "description": "Why a value is not known: the kind of reason, and a detail where there is one.",
}
_SCALARS: Mapping[Any, Mapping[str, Any]] = {
    Any: {},
    object: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Missing: REASON,
}


@dataclass(frozen=True, slots=True)
class Document:
    """One kind of JSON object that specctl prints or writes."""

    name: str
    form: Any
    """A dataclass or TypedDict; or a union of them, told apart by the key `event`."""

    words: str
    source: str
    """The commands that print it, or the file on the host that holds it."""

    left_out: Mapping[type[Any], frozenset[str]] = field(default_factory=dict)
    """Fields that are not printed, by class."""

    put_in: Mapping[type[Any], type[Any]] = field(default_factory=dict)
    """Keys that are printed beside a class's own fields or in their place, as another class."""

    version: int = 1
    is_file: bool = False
    """It lies on a host, and nothing prints it."""

    @property
    def label(self) -> str:
        """What the key `schema` holds."""
        return f"specctl/{self.name}/{self.version}"


def document_schema(document: Document) -> dict[str, Any]:
    """The JSON Schema of one kind of document."""
    shapes = _Shapes(document)
    heading = {
        "$schema": DIALECT,
        "$id": f"urn:specctl:{document.name}:{document.version}",
        "title": document.label,
        "description": document.words,
    }
    label: dict[str, Any] = {"schema": {"const": document.label}}
    if not document.is_file:
        label["simulated"] = SIMULATED
    if get_origin(document.form) is not UnionType:
        body = shapes.object_of(document.form, label)
        body.pop("description", None)
        return {**heading, **body, **shapes.as_definitions()}
    kinds = get_args(document.form)
    choices = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]
    for kind in kinds:
        event = {"event": {"const": kind.__name__}}
        shapes.definitions[kind.__name__] = shapes.object_of(kind, {**label, **event})
    return {**heading, "type": "object", "oneOf": choices, **shapes.as_definitions()}


class _Shapes:
    """The schemas of the types that one document is made of."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._kinds: dict[str, type[Any]] = {}
        self.definitions: dict[str, dict[str, Any]] = {}
        self._generic: dict[Any, Callable[[tuple[Any, ...]], dict[str, Any]]] = {
            Union: self._union,
            UnionType: self._union,
            tuple: self._array,
            list: self._array,
            dict: self._mapping,
            Mapping: self._mapping,
            Literal: _choice,
        }

    def as_definitions(self) -> dict[str, Any]:
        """The schemas that are referred to; no key when there are none."""
        return {"$defs": dict(sorted(self.definitions.items()))} if self.definitions else {}

    def object_of(self, kind: type[Any], first: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of a class's own object, with the properties `first` before its own."""
        types = _types(kind)
        left_out = self._document.left_out.get(kind, frozenset())
        words = dict(words_of(kind).fields)
        if (other := self._document.put_in.get(kind)) is not None:
            types, words = {**types, **_types(other)}, {**words, **words_of(other).fields}
        properties = dict(first)
        for name, of_field in types.items():
            if name not in left_out:
                properties[name] = self._property(
                    of_field, words.get(name, ""), has_reasons="missing" in types
                )
        required = [n for n in properties if get_origin(types.get(n)) is not NotRequired]
        found = {"type": "object", "properties": properties, "required": required}
        summary = _in_json(words_of(kind).summary)
        return {"description": summary, **found} if summary else found

    def _property(self, kind: Any, words: str, *, has_reasons: bool) -> dict[str, Any]:
        if get_origin(kind) is NotRequired:
            (kind,) = get_args(kind)
        if has_reasons and NoneType in get_args(kind) and "None" not in words:
            words = f"{words} {SEE_MISSING}".lstrip()
        found = self.of(kind)
        return {**found, "description": _in_json(words)} if words else found

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of any type."""
        if (origin := get_origin(kind)) is not None:
            return self._generic[origin](get_args(kind))
        if kind in _SCALARS:
            return dict(_SCALARS[kind])
        name = kind.__name__
        if self._kinds.setdefault(name, kind) is not kind:
            raise TypeError(f"two classes called {name} in {self._document.label}")
        if name not in self.definitions:
            self.definitions[name] = {}  # so that a class may contain itself
            self.definitions[name] = _enum(kind) if _is_enum(kind) else self.object_of(kind, {})
        return {"$ref": f"#/$defs/{name}"}

    def _union(self, options: tuple[Any, ...]) -> dict[str, Any]:
        shapes = [self.of(option) for option in options if option is not NoneType]
        if NoneType not in options:
            return {"anyOf": shapes}
        if len(shapes) == 1 and isinstance(shapes[0].get("type"), str) and "enum" not in shapes[0]:
            return {**shapes[0], "type": [shapes[0]["type"], "null"]}
        return {"anyOf": [*shapes, {"type": "null"}]}

    def _array(self, kinds: tuple[Any, ...]) -> dict[str, Any]:
        if len(kinds) == 1 or kinds[-1] is Ellipsis:
            return {"type": "array", "items": self.of(kinds[0])}
        items = [self.of(kind) for kind in kinds]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def _mapping(self, kinds: tuple[Any, ...]) -> dict[str, Any]:
        of_key, of_item = kinds
        names = {"propertyNames": self.of(of_key)} if _is_enum(of_key) else {}
        return {"type": "object", **names, "additionalProperties": self.of(of_item)}


def _types(kind: type[Any]) -> dict[str, Any]:
    names = dict(names_of(sys.modules[kind.__module__]))
    return get_type_hints(kind, localns=names, include_extras=True)


def _in_json(words: str) -> str:
    """What the source says of None, said of null."""
    return re.sub(r"\bNone\b", "null", re.sub(r"(^|\. )None\b", r"\1Null", words))


def _choice(choices: tuple[Any, ...]) -> dict[str, Any]:
    return {"const": choices[0]} if len(choices) == 1 else {"enum": list(choices)}


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _enum(kind: type[Enum]) -> dict[str, Any]:
    words = words_of(kind)
    told = [f"`{m.value}`: {words.fields[m.name]}" for m in kind if m.name in words.fields]
    description = "\n".join([words.summary, *told]).strip()
    return {"description": description, "enum": [member.value for member in kind]}
