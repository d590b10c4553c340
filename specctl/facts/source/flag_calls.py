"""Flags declared by calls of argparse's `add_argument`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specctl.domain.source import Flag, Place
from specctl.facts.source.constants import Scope
from specctl.facts.source.flag_values import Default, choices_of, default_of, text_of, words_of
from specctl.facts.source.flag_values import type_name as name_of_type
from specctl.facts.source.retired import is_called_deprecated, takes_no_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.facts.source.texts import Texts

_STORES = frozenset({"store_true", "store_false", "store_const", "count", "append_const"})


def read_calls(texts: Texts, file: str, fields: Mapping[str, tuple[ast.expr, str]]) -> list[Flag]:
    """The flags that a file's calls declare; `fields` are the defaults they refer to."""
    module = texts.module(file)
    if module is None:
        return []
    found = []
    for node, function in _calls(module, None):
        names = [a.value for a in node.args if isinstance(a, ast.Constant)]
        if len(names) != len(node.args):
            texts.report(file, node.lineno, f"a flag whose name is worked out: {words_of(node)}")
        elif names and all(isinstance(n, str) and n.startswith("-") for n in names):
            scope = Scope(texts, file, function)
            found.append(Call(texts, scope, node, [str(n) for n in names], fields).read())
    return found


def _calls(node: ast.AST, function: ast.AST | None) -> Iterator[tuple[ast.Call, ast.AST | None]]:
    """Each call of `add_argument` with the function it stands in, in order."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef)
        if (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and child.func.attr == "add_argument"
        ):
            yield child, function
        else:
            yield from _calls(child, child if is_function else function)


class Call:
    """One call of `add_argument`."""

    def __init__(
        self,
        texts: Texts,
        scope: Scope,
        node: ast.Call,
        names: list[str],
        fields: Mapping[str, tuple[ast.expr, str]],
    ) -> None:
        self._texts, self._scope, self._node, self._names = texts, scope, node, names
        self._said = {k.arg: k.value for k in node.keywords if k.arg is not None}
        self._fields = fields

    def read(self) -> Flag:
        """The flag."""
        said, name = (
            self._said,
            next((n for n in self._names if n.startswith("--")), self._names[0]),
        )
        words = text_of(said.get("help"), self._scope)
        action = self._action()
        is_optional = action.endswith("BooleanOptionalAction")
        is_switch = is_optional or self._is_switch(action)
        nargs = _text(said.get("nargs"))
        return Flag(
            name=name,
            type="bool" if is_switch else name_of_type(said.get("type")) or "str",
            default=self._default(action),
            choices=choices_of(said.get("choices"), self._scope, name, self._texts),
            aliases=tuple(n for n in self._names if n != name),
            place=Place(self._scope.file, self._node.lineno),
            help=words,
            is_switch=is_switch,
            takes_many=nargs in {"+", "*"} or nargs.isdigit(),
            is_deprecated=action.startswith("Deprecated") or is_called_deprecated(words),
            field_name=_text(said.get("dest")) or name.lstrip("-").replace("-", "_"),
            negations=tuple("--no-" + n[2:] for n in self._names) if is_optional else (),
            is_required=_text(said.get("required")) == "True",
            nargs=nargs or None,
            replacement=text_of(said.get("new_flag"), self._scope),
            refusal=text_of(said.get("error_message"), self._scope),
        )

    def _action(self) -> str:
        node = self._said.get("action")
        if node is None:
            return ""
        return str(node.value) if isinstance(node, ast.Constant) else words_of(node)

    def _is_switch(self, action: str) -> bool:
        if "nargs" in self._said:
            return _text(self._said["nargs"]) == "0"
        return action in _STORES or takes_no_value(action, self._scope)

    def _default(self, action: str) -> Default:
        node = self._said.get("default")
        if node is None:
            is_true = action == "store_true" or action.endswith("StoreTrueAction")
            return False if is_true else {"store_false": True}.get(action)
        field = _field_named(node)
        if field is None or field not in self._fields:
            return default_of(node, self._scope)
        value, file = self._fields[field]
        return default_of(value, Scope(self._texts, file))


def _field_named(node: ast.expr) -> str | None:
    """`x` of `ServerArgs.x`, and of a function that is asked for the default of the field `x`."""
    if isinstance(node, ast.Attribute) and words_of(node.value) == "ServerArgs":
        return node.attr
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        (only,) = node.args
        if isinstance(only, ast.Constant) and isinstance(only.value, str):
            return only.value
    return None


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) and node.value is not None else ""
