"""Flags declared as annotated fields: `name: A[type, "help" | Arg(…)] = default`.

Since 0.5.14 in the dataclass `ServerArgs`; since 0.5.20 in msgspec structures of their own files.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specctl.domain.source import Flag, Place
from specctl.facts.source.constants import Scope, UnresolvedError, value_of
from specctl.facts.source.flag_values import (
    choices_of,
    default_of,
    subscript,
    text_of,
    type_name,
    unwrap_optional,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specctl.facts.source.texts import Texts

FIELDS = "srt/arg_groups/fields/"
RECORD = "ServerArgs"
_MARKS = frozenset({"A", "Annotated"})


def read_fields(texts: Texts, file: str) -> list[Flag]:
    """The flags that the fields of a file's classes declare."""
    how = "msgspec" if file.startswith(FIELDS) else "annotated"
    found = [Field(texts, file, node, name, how).read() for name, node in _fields(texts, file)]
    return [flag for flag in found if flag is not None]


def _fields(texts: Texts, file: str) -> Iterator[tuple[str, ast.AnnAssign]]:
    """Name and node of the fields of `ServerArgs`, and of every class of a file of fields."""
    module = texts.module(file)
    for place in module.body if module is not None else ():
        if isinstance(place, ast.ClassDef) and (place.name == RECORD or file.startswith(FIELDS)):
            for node in place.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    yield node.target.id, node


def defaults_of(texts: Texts, files: Iterable[str]) -> dict[str, tuple[ast.expr, str]]:
    """Field name to the expression of its default and its file, of all classes of fields."""
    return {
        name: (node.value, file)
        for file in files
        for name, node in _fields(texts, file)
        if node.value is not None
    }


class Field:
    """One annotated field."""

    def __init__(self, texts: Texts, file: str, node: ast.AnnAssign, name: str, how: str) -> None:
        self._texts, self._node, self._field, self._how = texts, node, name, how
        self._scope = Scope(texts, file)
        self._place = Place(file, node.lineno)

    def read(self) -> Flag | None:
        """The flag; None for a field that is none."""
        mark, inner = subscript(self._node.annotation)
        if mark not in _MARKS or not inner[1:]:
            return None
        said = self._metadata(inner[1:])
        if said is None or _is_true(said.get("no_cli")):
            return None
        return self._flag(unwrap_optional(inner[0]), said)

    def _metadata(self, notes: list[ast.expr]) -> Mapping[str, ast.expr] | None:
        """The keywords of `Arg(…)`, a bare text being its `help`; None when there is neither."""
        for note in notes:
            if isinstance(note, ast.Call):
                if words_of(note.func).rpartition(".")[2] == "Arg":
                    return {k.arg: k.value for k in note.keywords if k.arg is not None}
            elif text_of(note, self._scope):
                return {"help": note}
        return None

    def _flag(self, kind: ast.expr, said: Mapping[str, ast.expr]) -> Flag:
        name = self._text(said.get("cli_name")) or "--" + self._field.replace("_", "-")
        aliases = self._texts_of(said.get("aliases"))
        action = said.get("action")
        form, inner = subscript(kind)
        literals = said.get("choices") or (
            ast.List(inner, lineno=kind.lineno) if form == "Literal" else None
        )
        has_parser = said.get("type_parser") is not None
        is_list = form in {"List", "list"} and not has_parser and action is None
        is_optional = action is not None and words_of(action).endswith("BooleanOptionalAction")
        is_switch = is_optional or (action is None and words_of(kind) == "bool")
        nargs = self._nargs(said) or ("+" if is_list else None)
        default = default_of(self._node.value, self._scope)
        return Flag(
            name=name,
            type="bool" if is_switch else self._type(kind, said),
            default=default,
            choices=choices_of(literals, self._scope, name, self._texts),
            aliases=aliases,
            place=self._place,
            help=text_of(said.get("help"), self._scope),
            is_switch=is_switch,
            takes_many=nargs in {"+", "*"} or (nargs or "").isdigit(),
            field_name=self._field,
            negations=_negations((name, *aliases)) if is_optional else (),
            is_required=self._node.value is None or _is_true(said.get("required")),
            nargs=nargs,
            how=self._how,
        )

    def _nargs(self, said: Mapping[str, ast.expr]) -> str:
        """Of the field, or handed through to its own action."""
        more = said.get("action_kwargs")
        if isinstance(more, ast.Dict):
            for key, value in zip(more.keys, more.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "nargs":
                    return self._text(value)
        return self._text(said.get("nargs"))

    def _type(self, kind: ast.expr, said: Mapping[str, ast.expr]) -> str | None:
        if said.get("type_parser") is not None:
            return type_name(said["type_parser"])
        form, inner = subscript(kind)
        if form in {"List", "list"} and inner:
            return type_name(inner[0])
        if form == "Literal":
            first = inner[0].value if inner and isinstance(inner[0], ast.Constant) else None
            return type(first).__name__ if isinstance(first, int | float) else "str"
        name = type_name(kind)
        return name if name in {"int", "float", "bool"} else "str"

    def _text(self, node: ast.expr | None) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value)
        return text_of(node, self._scope)

    def _texts_of(self, node: ast.expr | None) -> tuple[str, ...]:
        try:
            value = value_of(node, self._scope) if node is not None else []
        except UnresolvedError:
            self._texts.report(
                self._place.file, self._place.line, f"aliases not told: {self._field}"
            )
            return ()
        return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _negations(names: Iterable[str]) -> tuple[str, ...]:
    """As argparse.BooleanOptionalAction makes them."""
    return tuple("--no-" + name[2:] for name in names if name.startswith("--"))
