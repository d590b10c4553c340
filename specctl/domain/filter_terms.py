"""The language that chooses hosts: `gpu.util<5 server.state=ready label=blackwell !alert=lost`.

Terms are parted by blanks and must all hold. A term is `FIELD OP VALUE` without blanks, with `=`,
`!=`, `<`, `<=`, `>` or `>=`, or a word that is looked for everywhere. `!` before a term turns it
round. In words `*` and `?` stand for any characters and any one; quotes keep blanks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import ge, gt, le, lt

from specctl.domain.figures import known
from specctl.domain.nearest import nearest

Value = str | float
Values = Mapping[str, tuple[Value, ...]]
"""What a host has, by the name of the field; nothing for what is not known."""

TEXT = ""
"""The field in which free words are looked for."""

OPERATORS = ("!=", "<=", ">=", "=", "<", ">")
_TERM = re.compile(
    rf"(?P<not>!?)(?P<field>[A-Za-z][\w./-]*)(?P<op>{'|'.join(OPERATORS)})(?P<value>.*)", re.DOTALL
)
_NUMBER = re.compile(r"(?P<number>[+-]?\d+(?:\.\d*)?|\.\d+)(?P<unit>\D*)")
_WORD = re.compile(r'(?:"[^"]*"?|\'[^\']*\'?|\S)+')


@dataclass(frozen=True, slots=True)
class Field:
    """One thing of a host that can be asked for."""

    name: str
    words: str
    unit: str | None = None
    """Of a number, empty for a plain one; None for words."""

    aliases: tuple[str, ...] = ()
    has_keys: bool = False
    """`label.rack=7` asks for one of several."""

    choices: tuple[str, ...] = ()
    """The words it can have, where they are few."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term, ready to be asked."""

    field: str
    """`TEXT` for a free word."""

    operator: str
    value: Value
    is_inverse: bool = False

    def holds(self, values: Values) -> bool:
        """Whether a host has it; of what is not known only `!=` and inverse terms hold."""
        found = any(self._compares(value) for value in values.get(self.field, ()))
        return (found != (self.operator == "!=")) != self.is_inverse

    def _compares(self, value: Value) -> bool:
        if self.field == TEXT:
            return str(self.value) in str(value)
        if self.operator in {"=", "!="}:
            return _equals(value, self.value)
        if isinstance(value, str) or isinstance(self.value, str) or known(value) is None:
            return False
        return _COMPARE[self.operator](value, self.value)


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def _equals(value: Value, wanted: Value) -> bool:
    if isinstance(wanted, str):
        return fnmatchcase(str(value).lower(), wanted)
    return not isinstance(value, str) and abs(value - wanted) <= abs(wanted) * 1e-9


@dataclass(frozen=True, slots=True)
class Problem:
    """A term that cannot be asked, and why."""

    term: str
    message: str
    nearest: str = ""

    def __str__(self) -> str:
        """`gpu.utl: no such field. Nearest: gpu.util`."""
        words = f"{self.term}: {self.message}"
        return f"{words}. Nearest: {self.nearest}" if self.nearest else words


@dataclass(frozen=True, slots=True)
class Filter:
    """Terms that must all hold; those with a problem ask for nothing."""

    terms: tuple[Term, ...] = ()
    problems: tuple[Problem, ...] = ()

    def holds(self, values: Values) -> bool:
        """Every term holds."""
        return all(term.holds(values) for term in self.terms)

    @property
    def fields(self) -> frozenset[str]:
        """The fields that are asked for."""
        return frozenset(term.field for term in self.terms)


def read_filter(text: str, fields: Mapping[str, Field]) -> Filter:
    """What a user typed, read as far as it can be."""
    terms: list[Term] = []
    problems: list[Problem] = []
    for word in _WORD.findall(text):
        found = _read_term(word, fields)
        if isinstance(found, Problem):
            problems.append(found)
        elif found is not None:
            terms.append(found)
    return Filter(tuple(terms), tuple(problems))


def _read_term(word: str, fields: Mapping[str, Field]) -> Term | Problem | None:
    if word.count('"') % 2 or word.count("'") % 2:
        return Problem(word, "the closing quote is missing")
    match = _TERM.fullmatch(word)
    if match is None:
        is_inverse, bare = word[:1] == "!", word.removeprefix("!")
        text = _unquoted(bare).lower()
        return Term(TEXT, "=", text, is_inverse) if text else None
    return _field_term(word, match, fields)


def _field_term(word: str, match: re.Match[str], fields: Mapping[str, Field]) -> Term | Problem:
    name, operator, typed = match["field"].lower(), match["op"], _unquoted(match["value"])
    field, full = find_field(name, fields)
    if field is None:
        return Problem(word, f"no field {name}", nearest(name, names_of(fields)))
    is_inverse = bool(match["not"])
    if not typed:
        return Problem(word, f"{full} {operator} what? {_wanted(field)}")
    if field.unit is None:
        return _words_term(word, field, full, operator, typed.lower(), is_inverse=is_inverse)
    number = _NUMBER.fullmatch(typed.replace(",", ""))
    if number is None:
        return Problem(word, f"{full} is a number{_in(field.unit)}, not {typed}")
    if number["unit"].strip().lower() not in {"", field.unit.lower()}:
        return Problem(word, f"{full} is{_in(field.unit) or ' a plain number'}, not {typed}")
    return Term(full, operator, float(number["number"]), is_inverse)


def _words_term(
    word: str, field: Field, full: str, operator: str, value: str, *, is_inverse: bool
) -> Term | Problem:
    if operator not in {"=", "!="}:
        return Problem(word, f"{full} is a word: = or !=, not {operator}")
    is_open = "*" in value or "?" in value
    if field.choices and not is_open and value not in field.choices:
        close = nearest(value, field.choices)
        known_ones = "" if close else f": {' '.join(field.choices)}"
        return Problem(word, f"{full} is never {value}{known_ones}", close)
    return Term(full, operator, value, is_inverse)


def find_field(name: str, fields: Mapping[str, Field]) -> tuple[Field | None, str]:
    """A field by its name or another name of it, and its full name with its key."""
    for field in fields.values():
        if name == field.name or name in field.aliases:
            return field, field.name
        if field.has_keys and name.startswith(f"{field.name}.") and name != f"{field.name}.":
            return field, name
    return None, name


def names_of(fields: Mapping[str, Field]) -> list[str]:
    """Every name that can be typed."""
    return [name for field in fields.values() for name in (field.name, *field.aliases)]


def _unquoted(text: str) -> str:
    return re.sub(r'"([^"]*)"|\'([^\']*)\'', lambda m: m[1] if m[1] is not None else m[2], text)


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


def _wanted(field: Field) -> str:
    if field.choices:
        return " ".join(field.choices)
    return f"a number{_in(field.unit)}" if field.unit is not None else "a word, * for any"


def completed(text: str, fields: Mapping[str, Field]) -> str:
    """The text with its last word completed to a field, as far as only one way leads on.

    After `=` the words that a field can have are completed likewise.
    """
    before, last = text[: len(text) - len(_last(text))], _last(text)
    inverse, word = ("!", last[1:]) if last.startswith("!") else ("", last)
    name, operator, typed = word.partition("=")
    if operator:
        field, _ = find_field(name.rstrip("!").lower(), fields)
        ways = [w for w in (field.choices if field else ()) if w.startswith(typed.lower())]
        return before + inverse + name + operator + (_common(ways) if ways else typed)
    ways = [one.name for one in fields.values() if one.name.startswith(word.lower())]
    return before + inverse + (_common(ways) if word and ways else word)


def _last(text: str) -> str:
    return text.rpartition(" ")[2]


def _common(words: list[str]) -> str:
    """The longest beginning of all."""
    first, last = min(words), max(words)
    size = next(
        (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return first[:size]
