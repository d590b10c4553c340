"""The pre-commit hook that this repository offers, and how its guide says it is used elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOK = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/workspace.md").read_text(encoding="utf-8")


def _key(name: str, text: str) -> str:
    """The first value of a key; plain YAML scalars are all there is."""
    found = re.search(rf"^\s*(?:- )?{name}: (.+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("path", ["profiles/a.toml", "remotes/gpu8.toml"])
def test_it_runs_for_files_of_the_workspace_at_the_root(path):
    assert re.search(_key("files", HOOK), path)


@pytest.mark.parametrize(
    "path",
    ["deploy/llm/profiles/a.toml", "profiles/a.md", "profiles/old/a.toml", "docs/remotes/a.toml"],
)
def test_it_does_not_run_for_what_check_would_not_read(path):
    assert not re.search(_key("files", HOOK), path)


def test_the_guide_names_the_same_folder_for_the_files_and_for_the_check():
    guided = GUIDE[GUIDE.index("```yaml") :]
    folder = re.search(r"specctl -C (\S+) check", _key("entry", guided))
    assert folder is not None
    files = _key("files", guided)
    assert _key("id", guided) == _key("id", HOOK)
    assert re.search(files, f"{folder[1]}/profiles/a.toml")
    assert not re.search(files, "profiles/a.toml")
