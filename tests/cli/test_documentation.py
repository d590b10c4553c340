"""What the pages tell to type can be typed; what help tells is an example that fits."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from specctl.cli.completion_shape import whole_shape
from specctl.cli.main import COMMANDS, Commands
from tests import pictures

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
SHAPE = whole_shape()
WIDTH = 80
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)]+\.svg)\)")


def fenced(text):
    """(language, lines) of every fenced block."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield found[1], found[2].splitlines()


def commands_in(text):
    """Every command line of specctl, in blocks and between backticks."""
    for _, lines in fenced(text):
        for line in lines:
            command = line.removeprefix("$ ").split(" | ")[0]
            if command.startswith("specctl "):
                yield re.split(r"\s{2,}|\s#\s", command)[0]
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for found in re.finditer(r"`(specctl [^`]+)`", outside):
        yield found[1].replace("\n", " ").replace("\\|", "|")


TOLD = [
    (page.name, command)
    for page in PAGES
    for command in dict.fromkeys(commands_in(page.read_text()))
]


def problem_of(command):
    """What specctl would not take of it, or nothing."""
    words = shlex.split(command.replace("\\", ""))[1:]
    shape, place, waiting = SHAPE, 0, False
    for word in words:
        if waiting:
            waiting = False
        elif word.startswith("-") and word != "-":
            name = word.partition("=")[0]
            if name not in shape["options"]:
                return f"no option {name}"
            waiting = shape["options"][name][1] and "=" not in word
        elif place >= len(shape["arguments"]) and shape["commands"]:
            for name in word.split("|"):
                if name not in shape["commands"]:
                    return f"no command {name}"
            shape, place = shape["commands"][word.split("|")[0]][0], 0
        elif place >= len(shape["arguments"]) and not shape["repeats"]:
            return f"no place for {word}"
        else:
            place += 1
    return "a value is missing" if waiting else ""


@pytest.mark.parametrize("command", [command for _, command in TOLD], ids=range(len(TOLD)))
def test_a_command_of_the_pages_can_be_typed(command):
    without_blanks = re.sub(r" …(?=\s|$)", "", command).replace("[", "").replace("]", "")
    assert problem_of(without_blanks) == "", command


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("specctl strat h200", "no command strat"),
        ("specctl start h200 x --dri-run", "no option --dri-run"),
        ("specctl start h200 x y", "no place for y"),
        ("specctl show x --on", "a value is missing"),
        ("specctl runs sow x", "no command sow"),
    ],
)
def test_what_cannot_be_typed_is_found(command, words):
    assert problem_of(command) == words


def test_every_verb_is_told_somewhere():
    told = {command.split()[1] for _, command in TOLD if len(command.split()) > 1}
    verbs = {name for section in COMMANDS.values() for name in section}
    written = "".join(page.read_text() for page in PAGES)
    assert [verb for verb in sorted(verbs - told) if f"specctl {verb}" not in written] == []
    assert {"first-hour.md", "deciding.md", "README.md"} <= {page for page, _ in TOLD}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_picture_is_shown_on_a_page_and_drawn_again():
    shown = {Path(found).stem for page in PAGES for found in PICTURE.findall(page.read_text())}
    assert shown == {path.stem for path in pictures.FOLDER.iterdir()} == set(pictures.NAMES)


def every_command(name, command):
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from every_command(f"{name} {inner}", found)


def leaves():
    table = Commands()
    for name in table.list_commands(click.Context(table)):
        command = table.get_command(click.Context(table), name)
        assert command is not None
        yield from every_command(f"specctl {name}", command)


HELPED = dict(leaves())


@pytest.mark.parametrize("name", HELPED)
def test_every_help_has_an_example_that_can_be_typed_and_fits(name):
    text = HELPED[name].get_help(
        click.Context(HELPED[name], info_name=name, max_content_width=WIDTH)
    )
    start = name.split()[:2] if name.startswith("specctl server") else name.split()
    shown = text.split("Options:")[0]
    examples = [line.strip() for line in shown.splitlines() if "Usage:" not in line]
    examples = [line for line in examples if re.match(r"(eval \"\$\()?" + " ".join(start), line)]
    assert examples, f"{name} has no example"
    assert all(len(line) <= WIDTH for line in text.splitlines())
    for line in examples:
        command = re.split(r"\s{2,}|\s&&\s|\s\|\s|\s>\s", line.removeprefix('eval "$('))[0]
        assert problem_of(command.rstrip(')"')) == "", line
