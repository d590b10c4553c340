"""Whatever a command says of a practice host says that it is simulated, whichever command it is."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace

import click
import pytest

from specctl.adapters import workspace as files
from specctl.adapters.ledger import Ledger
from specctl.adapters.paths import ledger_file
from specctl.cli import diagnostics, main
from specctl.cli.documents import DOCUMENTS, SCHEMAS
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN, WORD
from specctl.domain.host import Host
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.domain.trial.trial_json import block_json, plan_json
from tests.unit.cli.examples import EXAMPLES
from tests.unit.domain.trial.runs import trial_blocks, trial_plan

LAB = "lab-1"
PROFILES = ("base", "other")
ABOUT_A_HOST = {"host", "hosts", "target", "place", "on"}
NEEDS_NO_HOST = {
    "completion",
    "hosts",
    "init",
    "add",
    "import",
    "schema",
    "breakeven",
    "lab",
    "check",
    "web",
}
"""They are about files, numbers or a machine that is no host yet."""

RUN = "5c0ffee2"
OF_KEPT_RUNS = {"runs", "expect", "advise", "replay", "commands"}
"""They say of a run, or a recording, what was kept of its host."""


def leaves(name, command, before=()):
    """(words, commands from the outermost on) of every command that is no group."""
    chain = (*before, command)
    if isinstance(command, click.Group):
        for inner, below in command.commands.items():
            yield from leaves(f"{name} {inner}", below, chain)
    else:
        yield name, chain


def every_command():
    table = main.Commands()
    for name in table.list_commands(click.Context(table)):
        command = table.get_command(click.Context(table), name)
        yield from leaves(name, command)


def words_of(name, chain):
    """A command line about the practice host, or None where no parameter takes a host."""
    words, is_about_a_host = [], False
    for part, command in zip(name.split(), chain, strict=True):
        words.append(part)
        for parameter in command.params:
            shown = (parameter.metavar or "").split()
            takes_host = parameter.name in ABOUT_A_HOST or shown[:1] == ["HOST"]
            is_about_a_host |= takes_host
            words += said(parameter, takes_host=takes_host)
    is_told_apart = words[0] in {
        "lab",
        "runs",
        "commands",
    }  # by the lab itself, and by what a run was kept as
    return words if is_about_a_host and not is_told_apart else None


def said(parameter, *, takes_host):
    if isinstance(parameter, click.Option):
        if takes_host:
            return [parameter.opts[0], LAB]
        usual = [parameter.opts[0], "base"] if parameter.required else []
        return {"yes": ["--yes"], "for_s": ["--for", "0.2"]}.get(parameter.name, usual)
    if not (parameter.required or takes_host):
        return []
    if takes_host:
        return [LAB, *PROFILES[: len((parameter.metavar or "").split()[1:])]]
    if isinstance(parameter.type, click.File | click.Path):
        return ["texts.jsonl"]
    return ["4242"] if isinstance(parameter.type, click.IntRange) else ["base"]


COMMANDS = dict(every_command())
ABOUT = {name: words for name, chain in COMMANDS.items() if (words := words_of(name, chain))}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A workspace whose one host is a practice host that does not answer."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    (tmp_path / "remotes").mkdir()
    (tmp_path / "profiles").mkdir()
    (tmp_path / f"remotes/{LAB}.toml").write_text(f'host = "127.0.0.1"\nport = {port}\n')
    for name in PROFILES:
        (tmp_path / f"profiles/{name}.toml").write_text('model = "some/model"\n')
    (tmp_path / "texts.jsonl").write_text('{"prompt": "once", "output": "upon a time"}\n')
    read = files._host
    monkeypatch.setattr(files, "_host", lambda *d: replace(read(*d), is_simulated=True))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    SHOWN.forget()


def first_lines(capfd):
    out, err = capfd.readouterr()
    return [text.partition("\n")[0] for text in (out, err.removeprefix("specctl: ")) if text]


def test_every_command_is_known_to_be_about_a_host_or_not():
    assert {name.split()[0] for name in COMMANDS} == {
        *(name.split()[0] for name in ABOUT),
        *((NEEDS_NO_HOST | OF_KEPT_RUNS) & {name.split()[0] for name in COMMANDS}),
    }


@pytest.mark.parametrize("name", ABOUT)
def test_whatever_a_command_says_of_it_begins_so(name, lab, capfd):
    main.run(ABOUT[name])
    lines = first_lines(capfd)
    assert lines
    assert [
        line for line in lines if not line.startswith(f"{WORD}: {LAB} is a practice host")
    ] == []


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["show", RUN], ["recompute", RUN], ["diff", RUN, RUN]],
)
def test_a_run_on_a_practice_host_stays_one_when_it_is_long_gone(arguments, lab, capfd):
    plan, blocks = trial_plan(3, host=LAB, is_simulated=True), trial_blocks(3, speedup=1.3)
    names, provenance = ("base", "eagle3"), Provenance("0.1.0", "op@laptop", LAB, is_simulated=True)
    ledger = Ledger(ledger_file())
    ledger.add(
        Run(plan.id, RunKind.TRIAL, LAB, names, 1.0, 2.0, "faster", provenance, plan_json(plan))
    )
    for block in blocks:
        ledger.add_block(plan.id, block_json(block))
    ledger.close()
    assert main.run(["runs", *arguments]) == 0
    assert all(line.startswith(f"{WORD}: {LAB} is a practice host") for line in first_lines(capfd))


@pytest.mark.parametrize(
    "arguments", [["status"], ["doctor"], ["hosts"], ["watch", "--for", "0.2"]]
)
def test_hosts_that_were_not_named_are_told_too(arguments, lab, capfd):
    main.run(arguments)
    assert all(line.startswith(f"{WORD}: {LAB} ") for line in first_lines(capfd))


@pytest.mark.parametrize(
    "arguments", [["status", "--json"], ["doctor", "--json"], ["watch", "--json", "--for", "0.2"]]
)
def test_json_carries_it_and_nothing_else_stands_beside(arguments, lab, capfd):
    main.run(arguments)
    out = capfd.readouterr().out
    documents = [json.loads(out)] if out.startswith("{\n") else map(json.loads, out.splitlines())
    assert {document["simulated"] for document in documents} == {True}


def test_another_host_of_the_same_run_is_what_it_is(capsys):
    SHOWN.forget()
    SHOWN.notice(Host(LAB, is_simulated=True))
    SHOWN.notice(Host("gpu8"))
    for host in (LAB, "gpu8"):
        write_json("event", {"host": host}, lines=True)
    write_json("status", {"hosts": {}}, lines=True)
    SHOWN.forget()
    documents = map(json.loads, capsys.readouterr().out.splitlines())
    assert [document["simulated"] for document in documents] == [True, False, True]


def test_it_is_said_once_on_each_stream_and_for_each_host(capsys):
    SHOWN.forget()
    SHOWN.notice(Host(LAB, is_simulated=True))
    write("one")
    write("two")
    diagnostics.say("three")
    SHOWN.notice(Host("lab-2", is_simulated=True))
    SHOWN.notice(Host("lab-3", is_simulated=True))
    write("four")
    SHOWN.forget()
    out, err = capsys.readouterr()
    assert [line.split(" ")[:2] for line in out.splitlines()] == [
        [f"{WORD}:", LAB], ["one"], ["two"], [f"{WORD}:", "lab-2"], ["four"]
    ]  # fmt: skip
    assert "lab-2 and lab-3 are practice hosts" in out
    assert err.splitlines()[0].startswith(f"specctl: {WORD}: {LAB} is a practice host")
    assert err.splitlines()[1:] == ["specctl: three"]


def test_two_streams_that_lead_to_one_place_say_it_once(tmp_path, monkeypatch):
    SHOWN.forget()
    SHOWN.notice(Host(LAB, is_simulated=True))
    with (tmp_path / "both").open("w") as both:
        monkeypatch.setattr(sys, "stdout", both)
        monkeypatch.setattr(sys, "stderr", both)
        diagnostics.say("words")
        write("data")
    SHOWN.forget()
    assert (tmp_path / "both").read_text().count(WORD) == 1


@pytest.mark.parametrize("name", [name for name, one in DOCUMENTS.items() if not one.is_file])
def test_every_printed_object_has_to_say_whether_it_is(name):
    schema = SCHEMAS[name]()
    objects = [schema["$defs"][ref["$ref"].rpartition("/")[2]] for ref in schema.get("oneOf", ())]
    for one in objects or [schema]:
        assert one["properties"]["simulated"]["type"] == "boolean"
        assert "simulated" in one["required"]
    SHOWN.forget()
    examples = EXAMPLES[name]()
    for document in examples.splitlines() if name == "event" else [examples]:
        assert json.loads(document)["simulated"] is False


def test_the_file_a_launch_leaves_on_a_practice_host_says_it():
    assert SCHEMAS["launch"]()["properties"]["simulated"]["type"] == "boolean"
