from __future__ import annotations

import json
import os
import sys
import threading

import pytest

from specctl.agent.interpreters import describe, find_layout, interpreters

NEVER = threading.Event()


@pytest.fixture
def venv(tmp_path):
    """A virtual environment as its files show it; its Python could not even start."""
    python = tmp_path / "venv" / "bin" / "python"
    site = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    python.parent.mkdir(parents=True)
    site.mkdir(parents=True)
    python.write_text("#!/bin/false\n")
    python.chmod(0o755)
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    return python, site


def _install(site, version="0.5.23"):
    (site / "sglang").mkdir()
    (site / "sglang" / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    metadata = site / f"sglang-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n")
    return metadata


def test_c06_an_installed_sglang_is_found_without_running_anything(venv):
    python, site = venv
    _install(site)
    assert describe(str(python), "named") == {
        "path": str(python),
        "version": "3.11.7",
        "sglang": {"version": "0.5.23", "path": str(site / "sglang"), "how": "installed"},
        "how": "named",
    }


def test_c06_a_python_without_sglang_is_told_apart_from_no_python(venv, tmp_path):
    python, _ = venv
    found = describe(str(python), "named")
    assert found is not None
    assert found["sglang"] is None
    assert describe(str(tmp_path / "nope" / "python3"), "named") is None


def _tree(root):
    package = root / "python" / "sglang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text('__version__ = "0.5.24.dev12+g0123abc"\n')
    return package


@pytest.mark.parametrize("how", ["direct_url", "pth", "finder", "egg-link"])
def test_editable_installs_give_the_trees_own_version(venv, tmp_path, how):
    python, site = venv
    package = _tree(tmp_path / "my tree")
    root = package.parent
    if how == "direct_url":
        metadata = site / "sglang-0.5.20.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Version: 0.5.20\n")
        record = {"url": root.as_uri(), "dir_info": {"editable": True}}
        (metadata / "direct_url.json").write_text(json.dumps(record))
    elif how == "pth":
        (site / "__editable__.sglang-0.5.20.pth").write_text(f"{root}\n")
    elif how == "finder":
        text = f"MAPPING = {{'sglang': '{package}'}}\n"
        (site / "__editable___sglang_0_5_20_finder.py").write_text(text)
    else:
        (site / "sglang.egg-link").write_text(f"{root}\n.\n")
    row = describe(str(python), "named")
    assert row is not None
    assert row["sglang"] == {
        "version": "0.5.24.dev12+g0123abc",
        "path": str(package),
        "how": "editable",
    }


def test_a_broken_direct_url_is_no_reason_to_fail(venv):
    python, site = venv
    metadata = site / "sglang-1.dist-info"
    metadata.mkdir()
    (metadata / "direct_url.json").write_text("[1, 2]")
    row = describe(str(python), "named")
    assert row is not None
    assert row["sglang"] is None


def test_a_venv_may_lean_on_its_base(tmp_path, venv):
    python, _ = venv
    base = tmp_path / "base"
    site = base / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    _install(site)
    settings = f"home = {base}/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n"
    (python.parent.parent / "pyvenv.cfg").write_text(settings)
    row = describe(str(python), "named")
    assert row is not None
    assert row["sglang"]["version"] == "0.5.23"


def test_c06_homes_and_path_are_searched_and_what_was_tried_is_told(venv, tmp_path, monkeypatch):
    python, site = venv
    _install(site)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    answer = interpreters({}, NEVER)
    with_sglang = [row["path"] for row in answer["found"] if row["sglang"]]
    assert str(python) in with_sglang
    assert [row["path"] for row in answer["found"]][: len(with_sglang)] == with_sglang
    assert "/usr/bin/python3" in answer["tried"]
    assert sys.executable in answer["tried"]


def test_a_named_folder_or_python_comes_first(venv):
    python, site = venv
    _install(site)
    folder = str(python.parent.parent)
    assert interpreters({"extra": [folder]}, NEVER)["tried"][0] == str(python)
    assert interpreters({"extra": [str(python)]}, NEVER)["found"][0]["how"] == "named"


def test_the_layout_is_that_of_the_real_interpreter():
    layout = find_layout(sys.executable)
    assert layout is not None
    version, folders = layout
    assert version.startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    site = os.path.dirname(os.path.dirname(pytest.__file__))
    assert os.path.realpath(site) in [os.path.realpath(folder) for folder in folders]
