"""The JSON Schemas agree with what specctl itself accepts."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from specctl.adapters.examples import schema_files
from specctl.adapters.files import parse_toml
from specctl.adapters.schema import json_schema
from specctl.adapters.validation import problems_of

ROOT = Path(__file__).parents[3]
FILES = [*sorted(ROOT.glob("profiles/*.toml")), *sorted(ROOT.glob("remotes/*.toml"))]


@pytest.mark.parametrize("kind", ["profile", "remote"])
def test_the_published_schema_is_current(kind):
    published = (ROOT / f"schema/{kind}.json").read_text()
    assert published == schema_files()[f"schema/{kind}.json"], f"specctl schema {kind}"
    Draft7Validator.check_schema(json.loads(published))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_file_follows_its_schema_and_names_it(path):
    kind = "profile" if path.parent.name == "profiles" else "remote"
    Draft7Validator(json_schema(kind)).validate(tomllib.loads(path.read_text()))
    assert path.read_text().startswith(f"#:schema ../schema/{kind}.json\n")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("profile", "nonsense = 1"),
        ("profile", "arguments.tp_size = 1"),
        ("profile", "arguments.enable-metrics = 'yes'"),
        ("profile", "arguments.tp-size = true"),
        ("profile", "speculation.num_steps = 1"),
        ("profile", "placement.port = 0"),
        ("profile", "expectation.accept_length = 0.5"),
        ("profile", "corpora = [{ name = 'a' }]"),
        ("profile", "on.h.extends = 'x'"),
        ("profile", "env.A = true"),
        ("remote", "ssh = 'a'\nread_only = 'no'"),
        ("remote", "ssh = 'a'\ntransport = 'telnet'"),
    ],
)
def test_both_refuse_the_same(kind, text):
    assert not Draft7Validator(json_schema(kind)).is_valid(tomllib.loads(text))
    assert problems_of(kind, parse_toml(text.encode(), "f.toml"))
