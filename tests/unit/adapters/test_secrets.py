"""The operator's secrets."""

from __future__ import annotations

import pickle

import pytest

from specctl.adapters.secrets import Secrets
from specctl.domain.errors import InvalidFileError, UsageError

VALUE = "hush-hush"


@pytest.fixture
def write(tmp_path):
    def _write(text, mode=0o600):
        path = tmp_path / "secrets.toml"
        path.write_text(text)
        path.chmod(mode)
        return path

    return _write


def test_no_file_is_no_names(tmp_path):
    secrets = Secrets.load(tmp_path / "none.toml")
    with pytest.raises(UsageError, match=r"no secret called hf in .*none\.toml") as caught:
        secrets.resolve("hf")
    assert 'hf = { env = "VARIABLE" }' in caught.value.hint


def test_values_come_from_a_variable_a_file_or_the_host(tmp_path, write, monkeypatch):
    (tmp_path / "key").write_text(f"{VALUE}\n")
    (tmp_path / "key").chmod(0o600)
    monkeypatch.setenv("MY_TOKEN", VALUE)
    secrets = Secrets.load(
        write(
            f'a = {{ env = "MY_TOKEN" }}\nb = {{ file = "{tmp_path}/key" }}\n'
            '[c]\nhost_file = "/etc/key"\n'
        )
    )
    assert secrets.resolve("a").reveal() == VALUE
    assert secrets.resolve("b").reveal() == VALUE
    on_host = secrets.resolve("c")
    assert (on_host.reveal(), on_host.host_file) == (None, "/etc/key")
    assert secrets.describe("a") == "variable MY_TOKEN"
    assert secrets.describe("c") == "the host's file /etc/key"


def test_a_secret_never_shows_itself(write, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", VALUE)
    secret = Secrets.load(write('a = { env = "MY_TOKEN" }')).resolve("a")
    for shown in (str(secret), repr(secret), f"{secret}", f"{[secret]}", "%s" % secret):  # noqa: UP031
        assert VALUE not in shown
        assert "a" in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        vars(secret)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_others_can_read_is_refused(write, mode):
    with pytest.raises(UsageError, match="can be read by others") as caught:
        Secrets.load(write("", mode))
    assert caught.value.hint.startswith("chmod 600 ")


def test_a_value_file_others_can_read_is_refused(tmp_path, write):
    (tmp_path / "key").write_text(VALUE)
    (tmp_path / "key").chmod(0o644)
    secrets = Secrets.load(write(f'b = {{ file = "{tmp_path}/key" }}'))
    with pytest.raises(UsageError, match="can be read by others") as caught:
        secrets.resolve("b")
    assert VALUE not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        f'hf = "{VALUE}"',
        f'hf = {{ value = "{VALUE}" }}',
        'hf = { env = "A", file = "b" }',
        "hf = { env = 3 }",
        f'hf = "{VALUE}',
    ],
)
def test_a_wrong_file_is_refused_without_showing_what_it_holds(write, text):
    with pytest.raises(InvalidFileError) as caught:
        Secrets.load(write(text))
    assert VALUE not in str(caught.value)
    assert caught.value.problems[0].line == 1


def test_what_cannot_be_read_is_said(tmp_path, write, monkeypatch):
    monkeypatch.delenv("MY_TOKEN", raising=False)
    (tmp_path / "empty").touch(mode=0o600)
    secrets = Secrets.load(
        write(
            f'a = {{ env = "MY_TOKEN" }}\nb = {{ file = "{tmp_path}/none" }}\n'
            f'c = {{ file = "{tmp_path}/empty" }}'
        )
    )
    for name, words in (("a", "MY_TOKEN is not set"), ("b", "No such file"), ("c", "is empty")):
        with pytest.raises(UsageError, match=words):
            secrets.resolve(name)
