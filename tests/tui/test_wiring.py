"""The services behind the screens, on a real workspace and this machine as its host."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from specctl.domain.errors import RefusedError, UsageError
from specctl.domain.events import LinkChanged
from specctl.domain.lint.finding import Severity
from specctl.domain.state import Link, Store
from specctl.tui import wiring
from specctl.tui.reading import Git
from specctl.tui.wiring import open_services
from tests.tui import parts
from tests.unit.facts.source.small import WHOLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from specctl.tui.wiring import WorkspaceServices

PROFILE = """model = "models/tiny"

[arguments]
tp-size = 2

[speculation]
algorithm = "NGRAM"
no-such-flag = 3
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has a small SGLang."""
    home = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    for name, text in {"__init__.py": "", **WHOLE}.items():
        (packages / "sglang" / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / "sglang" / name).write_text(dedent(text))
    return home / "bin" / "python"


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=op", "-c", "user.email=op@example.org")
    subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path, python: Path) -> Path:
    (tmp_path / "remotes").mkdir()
    (tmp_path / "profiles").mkdir()
    here = f'transport = "local"\npython = "{python}"\nstate_dir = "{tmp_path / "state"}"\n'
    (tmp_path / "remotes" / "here.toml").write_text(here)
    (tmp_path / "profiles" / "tiny.toml").write_text(PROFILE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return tmp_path


@pytest.fixture
async def services(root: Path) -> AsyncIterator[WorkspaceServices]:
    store = Store()
    found = await open_services(root, store, read_only=False)
    yield found
    await found._fleet.close()


async def test_a_tree_its_files_and_what_is_searched_in_it(services: WorkspaceServices) -> None:
    tree = await services.read_source("here")

    assert tree.algorithms
    assert tree.flags
    place = next(a.place for a in tree.algorithms if a.place is not None)
    text = await services.read_source_file("here", place.file)
    assert text.count("\n") > 1
    hits = await services.find_in_source("here", "class .*Algorithm")
    assert any(hit.place.file == place.file for hit in hits.found)
    assert hits.note == ""


async def test_a_new_connection_looks_at_the_tree_again(services: WorkspaceServices) -> None:
    tree = await services.read_source("here")
    place = next(a.place for a in tree.algorithms if a.place is not None)
    await services._fleet.drop("here")

    hits = await services.find_in_source("here", "class .*Algorithm")

    assert any(hit.place.file == place.file for hit in hits.found)


async def test_a_pattern_that_is_none_is_told_before_the_host_is_asked(
    services: WorkspaceServices,
) -> None:
    with pytest.raises(UsageError, match="no regular expression"):
        await services.find_in_source("nowhere", "(")


async def test_a_file_outside_the_tree_is_refused(services: WorkspaceServices) -> None:
    with pytest.raises(UsageError):
        await services.read_source_file("here", "../../../etc/passwd")


async def test_profiles_are_listed_as_their_files_are_now(
    services: WorkspaceServices, root: Path
) -> None:
    first = await services.list_profiles()
    assert [(e.name, e.git, e.is_usable) for e in first.entries] == [("tiny", Git.CLEAN, True)]
    assert len(first.commit) == 7

    (root / "profiles" / "tiny.toml").write_text(PROFILE + "# edited\n")
    (root / "profiles" / "broken.toml").write_text("model\n")
    later = await services.list_profiles()

    assert {e.name: (e.git, e.is_usable) for e in later.entries} == {
        "tiny": (Git.EDITED, True),
        "broken": (Git.NEW, False),
    }
    assert [choice.name for choice in services.profiles("here")] == ["tiny"]


async def test_without_a_host_a_profile_is_checked_for_its_shape(
    services: WorkspaceServices,
) -> None:
    sheet = await services.read_profile("tiny", None)

    assert sheet.text == PROFILE
    assert sheet.against == ""
    assert sheet.recipe is not None
    assert "--speculative-algorithm NGRAM" in sheet.recipe.command


async def test_with_a_host_it_is_checked_against_its_build(services: WorkspaceServices) -> None:
    await services._connection("here")
    services._store.apply(LinkChanged("here", parts.NOW_S, "up"))

    sheet = await services.read_profile("tiny", "here")

    assert sheet.against.startswith("SGLang ")
    assert sheet.unchecked == ""
    wrong = next(f for f in sheet.findings if "no-such-flag" in f.message)
    assert (wrong.severity, wrong.line) == (Severity.ERROR, 8)


async def test_a_host_that_is_not_connected_leaves_the_build_unasked(
    services: WorkspaceServices,
) -> None:
    sheet = await services.read_profile("tiny", "here")

    assert sheet.against == ""
    assert "here is not connected" in sheet.unchecked


async def test_a_file_that_cannot_be_used_shows_its_text_and_why(
    services: WorkspaceServices, root: Path
) -> None:
    (root / "profiles" / "broken.toml").write_text('model = "x"\narguments\n')
    await services.list_profiles()

    sheet = await services.read_profile("broken", None)

    assert sheet.recipe is None
    assert sheet.text == 'model = "x"\narguments\n'
    assert [finding.severity for finding in sheet.findings] == [Severity.ERROR]
    assert services.profile_path("broken") == root / "profiles" / "broken.toml"


async def test_drift_at_hand_is_told_without_asking(services: WorkspaceServices) -> None:
    argv = ("python", "-m", "sglang.launch_server", "--model-path", "models/tiny", "--tp-size", "4")
    server = parts.server(profile="tiny", argv=argv, launch_id=None)

    drift = services.drift_at_hand("here", server, None)

    assert drift is not None
    assert "tp-size" in {row.key for row in drift.rows}
    assert services.drift_at_hand("here", server, None) is drift, "kept while nothing changes"
    assert services.drift_at_hand("gone", server, None) is None


async def test_a_new_profile_extends_another_and_replaces_none(
    services: WorkspaceServices, root: Path
) -> None:
    file = await services.new_profile("mine", "tiny")

    assert file.endswith("profiles/mine.toml")
    assert 'extends = "tiny"' in (root / "profiles" / "mine.toml").read_text()
    with pytest.raises(UsageError, match="exists already"):
        await services.new_profile("mine", "tiny")
    listed = await services.list_profiles()
    assert [entry.algorithm for entry in listed.entries] == ["NGRAM", "NGRAM"]


async def test_a_profile_is_rewritten_only_as_it_was_seen(
    services: WorkspaceServices, root: Path
) -> None:
    file = root / "profiles" / "tiny.toml"
    file.chmod(0o640)

    await services.rewrite_profile("tiny", PROFILE, PROFILE + "# fixed\n")

    assert file.read_text() == PROFILE + "# fixed\n"
    assert file.stat().st_mode & 0o777 == 0o640
    with pytest.raises(RefusedError, match="has changed meanwhile"):
        await services.rewrite_profile("tiny", PROFILE, "")
    assert [path.name for path in (root / "profiles").iterdir()] == ["tiny.toml"]


async def test_hosts_that_come_and_go_are_noticed(
    services: WorkspaceServices, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "NOTICED_EVERY_S", 0.02)
    here = (root / "remotes" / "here.toml").read_text()
    store = services._store
    watching = asyncio.ensure_future(services.monitor())
    try:
        await until_true(lambda: store.state.host("here").link is Link.UP)
        (root / "remotes" / "there.toml").write_text(here)
        await until_true(lambda: store.state.host("there").link is Link.UP)
        assert list(services.hosts()) == ["here", "there"]
        (root / "remotes" / "there.toml").write_text(here + "\n[labels]\nrack = '7'\n")
        await until_true(lambda: store.state.host("there").labels == {"rack": "7"})
        (root / "remotes" / "there.toml").unlink()
        await until_true(lambda: "there" not in store.state.hosts)
        assert list(services.hosts()) == ["here"]
        assert store.state.host("here").link is Link.UP
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def test_a_workspace_that_is_gone_is_told_and_its_hosts_are_watched_on(
    services: WorkspaceServices, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(wiring, "NOTICED_EVERY_S", 0.02)
    mark, looked = wiring._mark, [root]

    def look(folder: Path) -> tuple[tuple[str, int], ...]:
        looked.append(folder)
        return mark(folder)

    monkeypatch.setattr(wiring, "_mark", look)
    here, link = root / "remotes/here.toml", lambda: services._store.state.host("here").link
    text = here.read_text()
    watching = asyncio.ensure_future(services.monitor())
    try:
        await until_true(lambda: link() is Link.UP)
        shutil.rmtree(root)
        looks = len(looked)
        await until_true(lambda: len(looked) > looks + 5)
        assert not watching.done()
        assert list(services.hosts()) == ["here"]
        with pytest.raises(UsageError, match="is gone"):
            await services.list_profiles()
        with pytest.raises(UsageError, match=r"tiny\.toml is gone"):
            services.profile_path("tiny")
        sheet = await services.read_profile("tiny", None)
        assert (sheet.text, sheet.recipe is not None) == ("", True)
        here.parent.mkdir(parents=True)
        here.write_text(text)
        assert (await services.list_profiles()).entries == ()
        assert link() is Link.UP
    finally:
        watching.cancel()
        await asyncio.wait([watching])


async def until_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)
