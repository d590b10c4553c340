"""The shape of the command line for shells to complete, read off click's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from specctl.domain.completion import CHOICE, DIRECTORY, FILE, kinds_of

if TYPE_CHECKING:
    from specctl.domain.completion import Shape


def shape_of(command: click.Command, lists: dict[str, list[str]]) -> Shape:
    """A command with everything below it; `lists` has the words of what only a name says."""
    options: dict[str, tuple[list[str], bool, str]] = {"--help": ([], False, "Show the help.")}
    places: list[list[str]] = []
    repeats = False
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            if not parameter.hidden:
                options |= _spellings(parameter, lists)
        elif isinstance(parameter, click.Argument):
            places += _places(parameter, lists)
            repeats = parameter.nargs == -1
    return {
        "options": options,
        "arguments": places,
        "repeats": repeats,
        "commands": _below(command, lists),
    }


def _below(command: click.Command, lists: dict[str, list[str]]) -> dict[str, tuple[Shape, str]]:
    if not isinstance(command, click.Group):
        return {}
    context = click.Context(command)
    found = {}
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            found[name] = (shape_of(inner, lists), _note(inner))
    return found


def _note(command: click.Command) -> str:
    """What its help says in the first line."""
    return command.short_help or (command.help or "").strip().partition("\n")[0]


def _spellings(
    option: click.Option, lists: dict[str, list[str]]
) -> dict[str, tuple[list[str], bool, str]]:
    takes_value = not (option.is_flag or option.count)
    kinds = _kinds(option, option.opts[-1], lists) if takes_value else []
    note = (option.help or "").partition(". ")[0].partition("; ")[0].rstrip(".")
    names = [*option.opts, *option.secondary_opts]
    return dict.fromkeys(names, (kinds, takes_value, note))


def _places(argument: click.Argument, lists: dict[str, list[str]]) -> list[list[str]]:
    metavar = argument.metavar or (argument.name or "").upper()
    if len(metavar.split()) > 1:
        return [list(kinds) for kinds in kinds_of(metavar)]
    return [_kinds(argument, metavar, lists)]


def _kinds(parameter: click.Parameter, name: str, lists: dict[str, list[str]]) -> list[str]:
    if isinstance(parameter.type, click.Choice):
        return [f"{CHOICE}{word}" for word in parameter.type.choices]
    found = [f"{CHOICE}{word}" for word in lists.get(name, ())]
    if isinstance(parameter.type, click.File):
        return [*found, FILE]
    if isinstance(parameter.type, click.Path):
        return [*found, FILE if parameter.type.file_okay else DIRECTORY]
    metavar = parameter.metavar or (parameter.name or "").upper()
    kinds = kinds_of(metavar)
    return [*found, *(kinds[0] if kinds else ())]


def whole_shape() -> Shape:
    """Of the whole command line; imports every command."""
    from specctl.adapters.workloads import bundled_names
    from specctl.cli.main import COMMANDS, cli
    from specctl.lab.faults import FAULTS
    from specctl.lab.scenarios import scenario_names

    lists: dict[str, Any] = {
        "--workload": list(bundled_names()),
        "--trained-on": list(bundled_names()),
        "--scenario": list(scenario_names()),
        "--fault": list(FAULTS),
        "NAME[:KEY=VALUE,…]": list(FAULTS),
    }
    shape = shape_of(cli, lists)
    for section in COMMANDS.values():
        for name, entry in section.items():
            shape["commands"][name] = (shape["commands"][name][0], entry.help)
    return shape
