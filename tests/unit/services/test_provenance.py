"""Where what is run comes from, though its files were edited since they were read."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from specctl.adapters.workspace import Workspace
from specctl.domain.trial.points import at_point
from specctl.services.provenance import read_provenance


def git(root, *arguments):
    identity = ("-c", "user.name=op", "-c", "user.email=op@example.org")
    argv = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "ws"
    (root / "profiles").mkdir(parents=True)
    (root / "profiles/base.toml").write_text('model = "m"\n')
    (root / "profiles/ngram.toml").write_text(
        'extends = "base"\n[speculation]\nalgorithm = "NGRAM"\n[on.here.env]\nA = "1"\n'
    )
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def commit_of(connection):
    async def read(*profiles):
        return (await read_provenance(connection, profiles)).workspace_commit

    return read


def read_profiles(root, host):
    workspace = Workspace(root)
    return [workspace.profile(name, host) for name in ("base", "ngram")]


async def test_what_the_files_say_is_of_their_commit(root, host, commit_of):
    head = git(root, "rev-parse", "HEAD")
    base, ngram = read_profiles(root, host)
    assert ngram.environment == {"A": "1"}
    assert await commit_of(base, ngram) == head
    assert await commit_of(base, at_point(ngram, {"num-draft-tokens": 4})) == head
    assert await commit_of(base, replace(ngram, name="ngram~3", environment={"X": "3"})) == head


@pytest.mark.parametrize(
    "text", ['extends = "base"\nenv.B = "2"\n', "no TOML", None], ids=["edited", "invalid", "gone"]
)
async def test_what_was_committed_since_is_not_what_is_run(root, host, commit_of, text):
    profiles = read_profiles(root, host)
    file = root / "profiles/ngram.toml"
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    dirty = await commit_of(*profiles)
    assert dirty == git(root, "rev-parse", "HEAD") + "-dirty"
    git(root, "commit", "-q", "-a", "-m", "second")
    assert await commit_of(*profiles) == git(root, "rev-parse", "HEAD") + "-dirty"


async def test_a_workspace_that_is_gone_has_no_commit(root, host, commit_of, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    profiles = read_profiles(root, host)
    root.rename(tmp_path / "elsewhere")
    assert await commit_of(*profiles) is None
