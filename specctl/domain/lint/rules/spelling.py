"""Flags as argparse reads them: unknown, removed, ambiguous, of the wrong kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.arguments import whole
from specctl.domain.lint.declared import SPANS, first_name, spellings
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Evidence, Hit, Rule
from specctl.domain.nearest import nearest
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case
    from specctl.domain.lint.naming import Named
    from specctl.domain.source import Flag, Place

_SHOWN = 6
"""Choices or flags that a message lists."""

_JUDGED = frozenset({"speculative-algorithm", "enable-dp-attention"})
"""Flags with rules of their own for what is wrong with them."""

_OTHER_ENGINES = {
    "num-speculative-tokens": "speculative-num-draft-tokens",
    "speculative-config": "speculative-algorithm",
    "speculative-model": "speculative-draft-model-path",
    "draft-tensor-parallel-size": "",
    "ngram-prompt-lookup-max": "speculative-ngram-max-trie-depth",
}
"""Flags of vLLM and what SGLang has in their place."""


def _some(words: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(words[:_SHOWN])
    return shown + (f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else "")


def _unknown(case: Case) -> Iterator[Hit]:
    known = spellings(case.build)
    for item in case.named:
        name = item.written.flag
        if item.meant or name == "config":
            continue
        took_its_place = flags.EARLIER.get(name) or _OTHER_ENGINES.get(name, "")
        close = took_its_place if took_its_place in known else nearest(name, known)
        message = f"{case.build.name} has no --{name}{_history(name)}"
        tree = case.build.tree
        if tree is not None and not tree.has_all_flags:
            message = f"--{name} was not found in {case.build.name}, some of whose flags are unread"
            fix = "look what specctl inspect could not read"
            yield Hit(_key(item), message, fix, severity=Severity.WARNING)
            continue
        severity = None if tree else _without_tree(case, name, close)
        close, took_its_place = _short(item, close), _short(item, took_its_place)
        yield Hit(
            _key(item), message, _instead(close, took_its_place), severity=severity, nearest=close
        )


def _short(item: Named, name: str) -> str:
    """A flag as the table that the written one stands in spells it."""
    is_in_table = item.written.key.startswith("speculation.")
    return name.removeprefix(flags.SPECULATION_PREFIX) if is_in_table else name


def _without_tree(case: Case, name: str, close: str) -> Severity | None:
    """Without a tree an unknown flag may be a newer build's own, unless its history is known."""
    if name in SPANS or name in flags.EARLIER or name in _OTHER_ENGINES:
        return None if not case.build.is_assumed or name in _OTHER_ENGINES else Severity.WARNING
    return Severity.WARNING


def _history(name: str) -> str:
    span = SPANS.get(name)
    if span is None:
        return " (a flag of vLLM)" if name in _OTHER_ENGINES else ""
    return f" (it is a flag of {span})"


def _instead(close: str, took_its_place: str) -> str:
    if not close:
        return "leave it out"
    return f"write {close} instead" if close == took_its_place else f"the closest is {close}"


def _key(item: Named) -> str:
    """The flag under which `Given.key` finds where it was written."""
    flag = item.flag
    return first_name(flag) if flag else flags.canonical(item.written.flag)


def _ambiguous(case: Case) -> Iterator[Hit]:
    for item in case.named:
        if len(item.meant) < 2:  # noqa: PLR2004
            continue
        names = tuple(name for name, _ in item.meant)
        later = flags.EARLIER.get(item.written.flag, "")
        close = _short(item, later if later in names else nearest(item.written.flag, names))
        message = f"--{item.written.flag} is the beginning of {_some(names)}"
        is_earlier = case.build.is_assumed and item.written.flag in SPANS
        severity = Severity.WARNING if is_earlier else None
        fix = f"write {close or 'one of them in full'}"
        if is_earlier:
            message += f"; {SPANS[item.written.flag]} had it as a flag of its own"
        yield Hit(_key(item), message, fix, severity=severity, nearest=close)


def _abbreviated(case: Case) -> Iterator[Hit]:
    for item in case.named:
        if len(item.meant) == 1 and not item.is_exact:
            name, flag = item.meant[0]
            message = f"--{item.written.flag} is taken for --{name}"
            close = _short(item, name)
            fix = f"write {close}: a later version may have two flags that begin so"
            yield Hit(_key(item), message, fix, nearest=close, place=_place(flag))


def _place(flag: Flag) -> Place | None:
    return flag.place if flag.place.file else None


def _choices(case: Case) -> Iterator[Hit]:
    for item in case.named:
        flag = item.flag
        if flag is None or flag.choices is None or flag.is_switch or first_name(flag) in _JUDGED:
            continue
        for number, value in enumerate(item.written.values):
            if value not in flag.choices:
                close = nearest(value, flag.choices)
                message = f"{value!r} is none of {_some(flag.choices)}"
                fix = f"write {close}" if close else ""
                which = number if flag.takes_many else None
                yield Hit(_key(item), message, fix, item=which, nearest=close, place=_place(flag))


def _kinds(case: Case) -> Iterator[Hit]:
    for item in case.named:
        flag = item.flag
        if flag is None or flag.is_switch or flag.choices is not None:
            continue
        for number, value in enumerate(item.written.values):
            wanted = _wanted(flag.type, value)
            if wanted:
                fix = f"write {wanted}: 1e6 and 8.0 are none" if flag.type == "int" else ""
                which = number if flag.takes_many else None
                message = f"{value!r} is not {wanted}"
                yield Hit(_key(item), message, fix, item=which, place=_place(flag))


def _wanted(kind: str | None, value: str) -> str:
    if kind == "int" and whole(value) is None:
        return "a whole number"
    if kind == "float":
        try:
            float(value)
        except ValueError:
            return "a number"
    return ""


def _arity(case: Case) -> Iterator[Hit]:
    for item in case.named:
        flag, written = item.flag, item.written
        if flag is None:
            continue
        if flag.is_switch and written.values:
            message = f"is a switch and takes no value, not even {written.values[0]!r}"
            fix = "write true or false in a profile; the bare flag on a command line"
            yield Hit(_key(item), message, fix, place=_place(flag))
        elif not flag.is_switch and not written.values and not _may_be_bare(flag):
            yield Hit(_key(item), "needs a value", "write one", place=_place(flag))
        elif not flag.is_switch and not flag.takes_many and len(written.values) > 1:
            words = _some(list(written.values[1:]))
            yield Hit(_key(item), f"takes one value; {words} would belong to no flag", "write one")


def _may_be_bare(flag: Flag) -> bool:
    name = flag.name.removeprefix("--")
    return flag.takes_many or flag.nargs == "?" or name in flags.OPTIONAL_VALUES


def _stray(case: Case) -> Iterator[Hit]:
    for word in case.given.stray:
        yield Hit("", f"the word {word!r} belongs to no flag", "take it out, or write two dashes")


def _deprecated(case: Case) -> Iterator[Hit]:
    for item in case.named:
        flag = item.flag
        is_plain = flag is not None and not flag.refusal and first_name(flag) not in _JUDGED
        if flag is not None and is_plain and flag.is_deprecated:
            fix = f"write {flag.replacement}" if flag.replacement else ""
            yield Hit(_key(item), f"--{item.written.flag} is deprecated", fix, place=_place(flag))


def _retired(case: Case) -> Iterator[Hit]:
    """The parser still knows the flag, to say what took its place."""
    for item in case.named:
        flag = item.flag
        if flag is not None and flag.refusal:
            fix = f"write {flag.replacement}" if flag.replacement else "leave it out"
            message = f"is refused: {flag.refusal}"
            yield Hit(_key(item), message, fix, nearest=flag.replacement, place=_place(flag))


def _attention_groups(case: Case) -> Iterator[Hit]:
    if case.is_given("enable-dp-attention"):
        groups = case.number("dp-size") or 1
        if groups == 1:
            message = "does nothing while dp-size is 1"
        else:
            message = "is deprecated together with dp-size"
        yield Hit("enable-dp-attention", message, f"write attn-dp-size = {groups} instead")


RULES = (
    Rule("unknown-flag", Severity.ERROR, _unknown, is_live=True),
    Rule("ambiguous-flag", Severity.ERROR, _ambiguous, is_live=True),
    Rule("abbreviated-flag", Severity.HINT, _abbreviated),
    Rule("value-outside-choices", Severity.ERROR, _choices, is_live=True),
    Rule("value-of-wrong-kind", Severity.ERROR, _kinds, is_live=True),
    Rule("number-of-values", Severity.ERROR, _arity, is_live=True),
    Rule("stray-word", Severity.ERROR, _stray, is_live=True),
    Rule("retired-flag", Severity.ERROR, _retired),
    Rule("deprecated-flag", Severity.HINT, _deprecated),
    Rule(
        "deprecated-dp-attention",
        Severity.HINT,
        _attention_groups,
        Evidence(r"def handle_deprecated_dp_attention"),
        Span("0.5.22"),
    ),
)
