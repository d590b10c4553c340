"""The command line's language: the CLI's verbs, completed and parsed; pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.tui.actions import ACTIONS
from specctl.tui.render.fleet_order import ORDERS
from specctl.tui.themes import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words, and the action it is."""

    name: str
    action: str
    arguments: tuple[str, ...] = ()
    """Kinds in order: HOST, SERVER, PROFILE, THEME …; those in brackets may be left out."""

    help: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """`start HOST PROFILE`."""
        return " ".join((self.name, *self.arguments))


_ARGUMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # action id: kinds of arguments, aliases
    "server.start": (("[HOST]", "PROFILE"), ("run",)),
    "server.stop": (("[SERVER]",), ()),
    "probe.start": (("[SERVER]",), ()),
    "server.adopt": (("[SERVER]",), ()),
    "trial.start": (("[HOST]", "PROFILE"), ("try",)),
    "trials.open": (("[RUN]",), ("history", "runs")),
    "facts.read": (("[HOST]",), ("reconnect", "refresh")),
    "live.span": (("[SPAN]",), ()),
    "live.pause": ((), ("freeze",)),
    "fleet.open": ((), ("hosts",)),
    "host.open": (("[HOST]",), ("go", "open")),
    "log.open": (("[HOST]",), ("logs",)),
    "command_log.open": ((), ("did",)),
    "host.add": ((), ("new",)),
    "source.open": (("[HOST]",), ("inspect", "tree")),
    "profiles.open": (("[HOST]",), ("check",)),
    "drift.show": (("[SERVER]",), ()),
    "filter.open": (("[TERMS]",), ()),
    "alerts.open": ((), ("alarms",)),
    "order.choose": (("[ORDER]", "[WAY]"), ("sort",)),
    "fleet.group": (("[LABEL]",), ()),
    "mouse.toggle": (("[SWITCH]",), ()),
    "bell.toggle": (("[SWITCH]",), ()),
    "help.open": ((), ("keys",)),
    "host.toggle_readonly": (("SWITCH",), ("ro",)),
    "host.trust": (("[HOST]",), ()),
    "host.forward": (("[SERVER]",), ()),
    "server.flush": (("[SERVER]",), ()),
    "server.abort": (("[SERVER]",), ()),
    "theme.choose": (("THEME",), ()),
    "app.quit": ((), ("q", "exit")),
}
_NAMES = {
    "facts.read": "read", "live.span": "span", "live.pause": "pause", "fleet.open": "fleet",
    "host.open": "host", "log.open": "log", "filter.open": "filter", "order.choose": "order",
    "source.open": "source", "profiles.open": "profiles", "drift.show": "drift",
    "trials.open": "trials", "command_log.open": "commands",
    "alerts.open": "alerts", "fleet.group": "group",
    "mouse.toggle": "mouse", "bell.toggle": "bell",
    "help.open": "help", "host.toggle_readonly": "readonly", "theme.choose": "theme",
    "app.quit": "quit", "server.flush": "flush", "server.abort": "abort",
}  # fmt: skip

COMMANDS = tuple(
    Command(_NAMES.get(a.id) or a.verb, a.id, *_ARGUMENTS[a.id][:1], a.help, _ARGUMENTS[a.id][1])
    for a in ACTIONS
    if a.id in _ARGUMENTS
)
BY_NAME = {name: c for c in COMMANDS for name in (c.name, *c.aliases)}


@dataclass(frozen=True, slots=True)
class Known:
    """The names that can complete an argument."""

    hosts: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    """`HOST/SERVER`, and the host alone where it has one server."""

    profiles: tuple[str, ...] = ()
    notes: Mapping[str, str] | None = None
    """What is known of a name, shown beside it."""

    labels: tuple[str, ...] = ()
    """By which hosts can stand in groups."""

    runs: tuple[str, ...] = ()
    """Ids of the ledger, the newest first."""

    def of(self, kind: str) -> tuple[str, ...]:
        """The names of one kind of argument."""
        return {
            "HOST": self.hosts,
            "SERVER": self.servers,
            "PROFILE": self.profiles,
            "THEME": NAMES,
            "SWITCH": ("on", "off"),
            "ORDER": ORDERS,
            "WAY": ("rising", "falling"),
            "LABEL": self.labels,
            "RUN": self.runs,
            "SPAN": ("1", "5", "30"),
        }.get(kind.strip("[]"), ())


@dataclass(frozen=True, slots=True)
class Completion:
    """One way to go on."""

    text: str
    """The whole line after it was taken."""

    typed: str
    """What of its last word was typed already."""

    word: str
    note: str = ""


def named(word: str) -> Command | None:
    """The command of a name, of an alias, or of the beginning of one name alone."""
    begun = [c for c in COMMANDS if c.name.startswith(word)]
    return BY_NAME.get(word) or (begun[0] if len(begun) == 1 else None)


def usage(text: str) -> str:
    """The usage of the command being typed, or what can be typed."""
    words = text.split()
    command = named(words[0]) if words else None
    return command.usage if command else "COMMAND"


def complete(text: str, known: Known) -> list[Completion]:
    """Every way to complete the last word."""
    before, _, last = text.rpartition(" ")
    words = before.split()
    if not words:
        names = sorted(c.name for c in COMMANDS)
        notes = {c.name: c.help for c in COMMANDS}
        also = {a: f"{c.name}: {c.help}" for c in COMMANDS for a in c.aliases if last}
        return _matching("", last, [*names, *sorted(also)], notes | also)
    command = named(words[0])
    if command is None:
        return []
    given = words[1:]
    names = list(
        dict.fromkeys(n for kind in _open_kinds(command, given, known) for n in known.of(kind))
    )
    return _matching(before + " ", last, names, known.notes or {})


def _open_kinds(command: Command, given: Sequence[str], known: Known) -> list[str]:
    """Kinds the next argument may be of: optional ones, up to the first that is needed."""
    kinds = list(command.arguments)
    for word in given:
        while kinds and word not in known.of(kinds[0]):
            kinds.pop(0)
        if kinds:
            kinds.pop(0)
    out: list[str] = []
    for kind in kinds:
        out.append(kind)
        if not kind.startswith("["):
            break
    return out


def _matching(
    before: str, last: str, names: Sequence[str], notes: Mapping[str, str]
) -> list[Completion]:
    starts = [n for n in names if n.startswith(last)]
    inside = [n for n in names if last and last in n and n not in starts]
    return [Completion(before + n, last, n, notes.get(n, "")) for n in [*starts, *inside]]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command with its arguments by kind."""

    command: Command
    values: Mapping[str, str]


def parse(text: str, known: Known) -> Parsed:
    """The command of a line; `UsageError` names the nearest word that would do."""
    words = text.split()
    if not words:
        raise UsageError("No command was typed.", hint="tab shows what can be typed.")
    command = named(words[0])
    if command is None:
        raise UsageError(f"No command {words[0]!r}.", hint=_nearest(words[0], tuple(BY_NAME)))
    values: dict[str, str] = {}
    kinds = list(command.arguments)
    for at, word in enumerate(words[1:], 1):
        if kinds[:1] == ["[TERMS]"]:
            values["TERMS"] = " ".join(words[at:])
            break
        _take(command, kinds, word, known, values)
    needed = [kind for kind in kinds if not kind.startswith("[")]
    if needed:
        raise UsageError(f"{command.name} needs {needed[0]}.", hint=f"Usage: {command.usage}")
    return Parsed(command, values)


def _take(
    command: Command, kinds: list[str], word: str, known: Known, values: dict[str, str]
) -> None:
    """Give `word` to the first argument it can be; those before it are left out."""
    tried: list[str] = []
    while kinds:
        kind = kinds.pop(0)
        if word in known.of(kind):
            values[kind.strip("[]")] = word
            return
        tried.append(kind)
        if not kind.startswith("["):
            break
    if not tried:
        raise UsageError(f"{command.name} takes no {word!r}.", hint=f"Usage: {command.usage}")
    kind = tried[-1].strip("[]")
    raise UsageError(f"No {kind.lower()} {word!r}.", hint=_nearest(word, known.of(tried[-1])))


def _nearest(word: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.4)
    if near:
        return f"Nearest: {near[0]}"
    return f"Known: {' '.join(names[:8])}" if names else "None is known yet."
