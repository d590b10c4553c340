"""Workspaces on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specctl.adapters import paths
from specctl.adapters.workspace import Workspace, find_workspace
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.host import Host


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPECCTL_WORKSPACE", raising=False)
    (tmp_path / "remotes").mkdir()
    (tmp_path / "profiles").mkdir()
    write(tmp_path, "remotes/gpu8", 'ssh = "gpu8"\ngpus = [0, 1]\nenv.A = 1\nenv.T = "secret:t"')
    write(tmp_path, "remotes/here", 'transport = "local"\npython = "{workspace}/bin/python"')
    write(tmp_path, "profiles/base", 'model = "m"\n[arguments]\ntp-size = 2')
    return tmp_path


def write(root, name, text):
    (root / f"{name}.toml").write_text(text)


def test_a_workspace_is_found_upwards_or_named(root, tmp_path_factory, monkeypatch):
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    assert find_workspace(deep).root == root
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert find_workspace(elsewhere, str(root)).root == root
    monkeypatch.setenv("SPECCTL_WORKSPACE", str(root))
    assert find_workspace(elsewhere).root == root
    with pytest.raises(UsageError, match="is not a directory"):
        find_workspace(elsewhere, str(elsewhere / "none"))
    monkeypatch.delenv("SPECCTL_WORKSPACE")
    own = tmp_path_factory.mktemp("config")
    monkeypatch.setattr(paths, "config_dir", lambda: own)
    with pytest.raises(UsageError, match="no workspace here"):
        find_workspace(elsewhere)
    (own / "workspace" / "remotes").mkdir(parents=True)
    assert find_workspace(elsewhere).root == own / "workspace"


def test_hosts(root):
    workspace = Workspace(root)
    gpu8 = workspace.host("gpu8")
    assert (gpu8.ssh, gpu8.gpus, gpu8.transport) == ("gpu8", (0, 1), "ssh")
    assert gpu8.environment == {"A": "1"}
    assert gpu8.secrets == {"env:T": "t"}
    assert gpu8.file == "remotes/gpu8.toml"
    assert workspace.host("here").python == f"{root}/bin/python"
    assert not gpu8.read_only
    assert Workspace(root, read_only=True).host("gpu8").read_only


def test_files_are_shown_as_the_user_would_type_them(root, monkeypatch, tmp_path_factory):
    deep = root / "profiles"
    monkeypatch.chdir(deep)
    assert Workspace(root).profile("base").file == "../profiles/base.toml"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert Workspace(root).profile("base").file == f"{root}/profiles/base.toml"


def test_a_broken_file_takes_only_itself_and_its_children_down(root):
    write(root, "profiles/broken", "model = \n")
    write(root, "profiles/child", 'extends = "broken"')
    write(root, "profiles/.#draft", "model = \n")
    write(root, "profiles/bad name", 'model = "m"')
    workspace = Workspace(root)
    assert sorted(workspace.profiles()) == ["base"]
    assert [(p.file, p.line) for p in workspace.problems] == [
        ("profiles/bad name.toml", None),
        ("profiles/broken.toml", 1),
        ("profiles/child.toml", 1),
    ]
    with pytest.raises(InvalidFileError) as caught:
        workspace.profile("broken")
    assert caught.value.problems[0].file == "profiles/broken.toml"
    with pytest.raises(InvalidFileError):
        workspace.profile("child")


@pytest.mark.parametrize(
    ("ask", "message", "hint"),
    [
        (lambda w: w.host("gpu9"), "no host called gpu9", "nearest: gpu8"),
        (lambda w: w.profile("bas"), "no profile called bas", "nearest: base"),
        (
            lambda w: w.profile("zzz"),
            "no profile called zzz",
            "specctl profiles lists them; profiles/ holds one file each",
        ),
        (
            lambda w: w.host("zzzzzzzz"),
            "no host called zzzzzzzz",
            "specctl hosts lists them; remotes/ holds one file each",
        ),
        (lambda w: w.profile("base", "gpu"), "no host called gpu", "nearest: gpu8"),
        (lambda w: w.check(["bas"]), "no profile called bas", "nearest: base"),
    ],
)
def test_what_does_not_exist_is_named_with_the_nearest(root, ask, message, hint):
    with pytest.raises(UsageError) as caught:
        ask(Workspace(root))
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_check_looks_at_every_host_that_is_overridden(root):
    write(
        root,
        "profiles/p",
        'extends = "base"\nbaseline = "bsae"\n[on.gpu8.placement]\ngpus = [0]\n[on.gpu9]\n'
        'model = "x"\n[placement]\ngpus = [0, 1]\n',
    )
    found = [(p.line, p.key, p.is_warning, p.nearest) for p in Workspace(root).check(["p"])]
    assert found == [
        (2, "baseline", False, "base"),
        (4, "placement.gpus", False, ""),
        (5, "on.gpu9", True, "gpu8"),
    ]


def test_a_baseline_that_speculates_is_a_warning(root):
    write(root, "profiles/n", 'extends = "base"\nspeculation.algorithm = "NGRAM"')
    write(root, "profiles/p", 'extends = "base"\nbaseline = "n"')
    (problem,) = Workspace(root).check(["p"])
    assert problem.is_warning
    assert problem.message == "n speculates too (NGRAM)"


def test_a_host_written_is_the_host_read(root):
    host = Host(
        "new.host-1", address="192.0.2.7", port=2222, user="ops", python="/p", enter=("a", "b c"),
        environment={"A": 'x"y'}, secrets={"env:T": "t"}, state_dir="/s", model_dirs=("/m",),
        hf_home="/h", gpus=(1,), labels={"rack": "4"}, read_only=True, notes="é\n",
        file="remotes/new.host-1.toml",
    )  # fmt: skip
    path = Workspace(root).write_host(host, comments=["found by doctor"])
    assert path.read_text().startswith("# found by doctor\n")
    workspace = Workspace(root)
    assert not workspace.problems
    assert workspace.host("new.host-1") == host


def test_nothing_is_written_over(root):
    before = (root / "profiles/base.toml").read_text()
    with pytest.raises(UsageError, match=r"profiles/base\.toml exists already"):
        Workspace(root).write_profile("base", {"model": "other"})
    assert (root / "profiles/base.toml").read_text() == before
    assert sorted(os.listdir(root / "profiles")) == ["base.toml"]
    with pytest.raises(UsageError, match="is no name"):
        Workspace(root).write_profile("../escape", {"model": "m"})


def test_the_workspace_of_the_repository_has_no_problem():
    workspace = Workspace(Path(__file__).parents[3])
    assert workspace.check() == ()
    assert {"local", "cpu", "example-8gpu"} <= set(workspace.hosts())
    algorithms = {p.speculation and p.speculation.algorithm for p in workspace.profiles().values()}
    assert {None, "NGRAM", "EAGLE", "EAGLE3", "NEXTN", "STANDALONE"} <= algorithms


def test_a_host_misspelt_once_is_one_warning_of_all_that_inherit_it(root):
    write(root, "profiles/child", 'extends = "base"\n[on.gpu9.arguments]\ntp-size = 1')
    write(root, "profiles/grandchild", 'extends = "child"\nbaseline = "bas"')
    write(root, "profiles/last", 'extends = "grandchild"')
    warned, wrong = Workspace(root).check(["last"])
    assert (warned.file, warned.line, warned.nearest) == ("profiles/child.toml", 2, "gpu8")
    assert (wrong.file, wrong.line, wrong.nearest) == ("profiles/grandchild.toml", 2, "base")
    assert Workspace(root).check(["last"], on="gpu8") == (wrong,)
