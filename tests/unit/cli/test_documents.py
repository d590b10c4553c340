"""Every JSON object that is printed has a published schema, and an example that follows it."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess

import pytest
from jsonschema import Draft202012Validator

from specctl.adapters.document_schema import Document, document_schema
from specctl.cli.documents import DOCUMENTS, FILES, SCHEMAS
from specctl.domain import doctor, plan
from specctl.domain.unplain import KINDS, event_of
from tests.schemas import assert_valid
from tests.unit.cli.examples import EVENTS, EXAMPLES, ROOT, golden, schema_text

REWRITE = "python -m tests.unit.cli.examples writes it again"


def named_in_source():
    """Every NAME in a call of `write_json` and in a `"schema": "specctl/NAME/1"`."""
    for path in (ROOT / "specctl/cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "write_json":
                assert isinstance(node.args[0], ast.Constant), f"{path.name}: a name that varies"
                yield node.args[0].value
    for path in (ROOT / "specctl/agent").rglob("*.py"):
        for found in re.findall(r'"specctl/([a-z%]+)/\d+"', path.read_text()):
            yield from ("ready", "stop") if found == "%s" else (found,)


def test_every_name_that_is_printed_is_published_and_no_other():
    assert set(named_in_source()) == set(DOCUMENTS)
    assert {path.stem for path in (ROOT / "schema").iterdir()} == set(SCHEMAS)
    assert set(SCHEMAS) == {*DOCUMENTS, *FILES}


def test_the_page_about_json_names_every_schema():
    page = (ROOT / "docs/json.md").read_text()
    assert set(re.findall(r"\(\.\./schema/([a-z]+)\.json\)", page)) == set(SCHEMAS)


JQ = re.findall(
    r"^specctl (\w+).*? --json \| jq (-\w+ )?'(.*)'$",
    (ROOT / "docs/json.md").read_text(),
    re.MULTILINE,
)
PRINTS = {"watch": "event", "stop": "outcome"}


@pytest.mark.parametrize(("command", "options", "program"), JQ, ids=[one[0] for one in JQ])
def test_the_jq_programs_of_that_page_say_something(command, options, program):
    jq = shutil.which("jq")
    assert jq, "jq is missing: tests/system.sh installs it"
    example = golden(PRINTS.get(command, command))
    done = subprocess.run(
        [jq, *options.split(), program, example], capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if command == "stop" else 0), done.stderr
    assert done.stdout.strip()
    assert done.stderr == ""


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_current(name):
    assert (ROOT / f"schema/{name}.json").read_text() == schema_text(name), REWRITE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_one_and_says_what_it_is_of(name):
    schema = SCHEMAS[name]()
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:specctl:{name}:1"
    assert schema["description"] == DOCUMENTS[name].words


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_example_is_printed_as_it_was(name):
    assert EXAMPLES[name]() == golden(name).read_text(), REWRITE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_example_follows_its_schema(name):
    text = golden(name).read_text()
    for document in text.splitlines() if name == "event" else [text]:
        assert_valid(json.loads(document))


def test_there_is_an_example_of_every_kind_of_event_and_each_can_be_read_back():
    documents = [json.loads(line) for line in golden("event").read_text().splitlines()]
    assert [one["event"] for one in documents] == list(KINDS)
    assert [event_of(one) for one in documents] == list(EVENTS)


def properties(schema):
    """(name, schema) of every property, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        for value in schema.values():
            yield from properties(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from properties(value)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_text_of_a_request_is_printed_except_in_an_event(name):
    assert ("text" in dict(properties(SCHEMAS[name]()))) is (name in {"event", "status"})


def changed(name, **changes):
    return {**json.loads(golden(name).read_text()), **changes}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (changed("doctor", schema="specctl/doctor/2"), "no schema is published"),
        (changed("doctor", level="FINE"), r"specctl/doctor/1 \$.level: 'FINE' is not one of"),
        (changed("doctor", extra=1), "'extra' was unexpected"),
        (changed("corpora", corpora={"a": "many"}), r"\$.corpora.a: 'many' is not of type"),
        (changed("outcome", reached={"lunch": 1}), r"\$.reached: 'lunch' is not one of"),
        (changed("probe", missing={"step_s": "no idea"}), r"missing.step_s: 'no idea' does not"),
        ({"schema": "specctl/event/1", "event": "Exploded"}, r"specctl/event/1 \$"),
    ],
)
def test_what_does_not_follow_its_schema_is_found(document, words):
    with pytest.raises(AssertionError, match=words):
        assert_valid(document)


def test_a_reader_learns_what_a_number_is_and_when_it_is_null():
    gpu = SCHEMAS["status"]()["$defs"]["GpuSample"]["properties"]
    assert gpu["energy_j"]["type"] == ["number", "null"]
    assert gpu["energy_j"]["description"].startswith("Since the driver was loaded. Null when")
    state = SCHEMAS["status"]()["$defs"]["ServerState"]
    assert "busy" in state["enum"]
    link = SCHEMAS["status"]()["$defs"]["Link"]
    assert "`refused`: Retrying will not help until the user acts" in link["description"]
    assert not [name for name in SCHEMAS if re.search(r"\bNone\b", schema_text(name))]


def test_two_classes_of_one_name_cannot_share_a_document():
    document = Document("odd", plan.Check | doctor.Row, "", "")
    with pytest.raises(TypeError, match="two classes called Level in specctl/odd/1"):
        document_schema(document)
