from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.git import file_states, read_file_states, read_status, workspace_commit

if TYPE_CHECKING:
    from pathlib import Path

OID = "4f0c" * 10


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=op", "-c", "user.email=op@example.org")
    argv = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile in a workspace of its own that is no repository yet."""
    file = tmp_path / "ws" / "profiles" / "tiny.toml"
    file.parent.mkdir(parents=True)
    file.write_text('model = "tiny"\n')
    return file


@pytest.fixture
def committed(profile: Path) -> Path:
    root = profile.parent.parent
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return profile


async def test_a_clean_workspace_is_at_its_commit(committed):
    (committed.parent.parent / "notes.txt").write_text("no part of what is launched\n")
    assert await workspace_commit(str(committed)) == git(committed.parent, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["profiles/tiny.toml", "profiles/new.toml", "remotes/new.toml"])
async def test_a_changed_or_new_file_makes_it_dirty(committed, name):
    path = committed.parent.parent / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# changed\n")
    head = git(committed.parent, "rev-parse", "HEAD")
    assert await workspace_commit(str(committed)) == f"{head}-dirty"


async def test_no_repository_no_git_no_file_no_commit(profile, monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert await workspace_commit(str(profile)) is None
    git(profile.parent.parent, "init", "-q")
    assert await workspace_commit(str(profile)) is None  # nothing committed yet
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await workspace_commit(str(profile)) is None
    assert await workspace_commit("") is None


@pytest.mark.parametrize(
    ("text", "commit"),
    [
        (f"# branch.oid {OID}\n# branch.head main\n", OID),
        (f"# branch.oid {OID}\n? profiles/x.toml\n", f"{OID}-dirty"),
        ("# branch.oid (initial)\n# branch.head main\n", None),
        ("", None),
    ],
)
def test_what_git_prints(text, commit):
    assert read_status(text) == commit


async def test_files_are_edited_new_or_as_committed(committed):
    folder = committed.parent
    (folder / "same.toml").write_text("")
    (folder / "ä b.toml").write_text("")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "second")
    committed.write_text("# changed\n")
    (folder / "ä b.toml").write_text("# changed\n")
    (folder / "new.toml").write_text("")
    (folder / "staged.toml").write_text("")
    git(folder, "add", "staged.toml")
    (folder / "below").mkdir()
    (folder / "below" / "deep.toml").write_text("")

    states = await file_states(folder)

    assert states is not None
    assert states.commit == git(folder, "rev-parse", "HEAD")
    assert states.edited == {"tiny.toml", "ä b.toml"}
    assert states.new == {"new.toml", "staged.toml"}


async def test_a_renamed_file_is_an_edited_one(committed):
    git(committed.parent, "mv", "tiny.toml", "other.toml")

    states = await file_states(committed.parent)

    assert states is not None
    assert states.edited == {"other.toml"}
    assert states.new == set()


async def test_a_workspace_inside_a_larger_repository_has_its_own_names(committed):
    root = committed.parent.parent
    inner = root / "inner" / "profiles"
    inner.mkdir(parents=True)
    (inner / "tiny.toml").write_text("")

    states = await file_states(inner)

    assert states is not None
    assert states.new == {"tiny.toml"}


async def test_without_a_repository_nothing_is_known_of_files(tmp_path):
    assert await file_states(tmp_path) is None


def test_a_repository_without_a_commit_has_none():
    states = read_file_states("# branch.oid (initial)\0# branch.head main\0? a.toml\0", "")
    assert states.commit is None
    assert states.new == {"a.toml"}
