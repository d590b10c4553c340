"""Trees on a host: listed, hashed and sent within bounds, whatever lies in them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import threading
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from specctl.agent import source_reading, source_tree
from specctl.agent.protocol import LINE_MAX_BYTES, OpError
from specctl.facts.source import wanted
from tests.unit.facts.source.small import WHOLE

if TYPE_CHECKING:
    from pathlib import Path

NEVER = threading.Event()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A checkout's package: `python/sglang`."""
    root = tmp_path / "clone" / "python" / "sglang"
    for name, text in {**WHOLE, "__init__.py": ""}.items():
        write(root / name, text)
    write(
        root / "srt/models/mine.py", "import torch\n\nEntryClass = [MineEagle3]\n" + "x = 1\n" * 9
    )
    return root


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def ask(root: Path | None = None, cancelled: threading.Event = NEVER, **params):
    """(place, texts part, rows by name, end)."""
    asked = {**wanted.request(), **({"root": str(root)} if root else {}), **params}
    stream = source_tree.tree(asked, cancelled)
    place = next(stream)["place"]
    texts: dict[str, Any] = {}
    rows: list[Any] = []
    packed = b""
    while True:
        try:
            item = next(stream)
        except StopIteration as stop:
            return place, texts, dict(zip(texts.get("names", ()), rows, strict=True)), stop.value
        assert len(json.dumps(item)) < LINE_MAX_BYTES
        packed += base64.b64decode(item["data"])
        if item["is_last"]:
            content = json.loads(zlib.decompress(packed))
            packed = b""
            rows += content.pop("files", ())
            for name, value in content.items():
                if isinstance(value, dict):
                    value = {**texts.get(name, {}), **value}
                elif name == "pristine":
                    value = [*texts.get(name, ()), *value]
                texts[name] = value


def limits(end) -> list[str]:
    return [f"{one['path']}: {one['words']}" for one in end["limits"]]


def test_texts_that_are_wanted_lines_of_others_and_digests_of_all(package):
    place, found, rows, end = ask(package)
    assert place["path"] == str(package)
    assert end == {"limits": [], "is_cancelled": False}
    assert set(WHOLE) <= set(found["texts"])
    assert found["excerpts"] == {"srt/models/mine.py": "\n\nEntryClass = [MineEagle3]"}
    text = (package / "srt/server_args.py").read_bytes()
    digest = hashlib.sha256(text).hexdigest()[:32]
    assert rows["srt/server_args.py"] == [len(text), digest, text.count(b"\n")]
    assert rows["srt/models/mine.py"][2] == 12


def test_what_is_known_is_not_sent_again(package):
    place, _, rows, _ = ask(package)
    again, found, _, _ = ask(package, stamp=place["stamp"])
    assert again["is_unchanged"]
    assert found == {}
    write(package / "srt/server_args.py", "changed = 1\n")
    have = [row[1] for row in rows.values()]
    changed, found, _, _ = ask(package, stamp=place["stamp"], have=have)
    assert not changed["is_unchanged"]
    assert found["texts"] == {"srt/server_args.py": "changed = 1\n"}
    assert found["had"]["srt/models/mine.py"] == rows["srt/models/mine.py"][1]


def test_a_file_of_the_same_size_and_time_is_seen_to_have_changed(package):
    file = package / "version.py"
    before, _, _, _ = ask(package)
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.write_text('__version__ = "0.5.8"\n')
    os.utime(file, ns=times)
    after, _, _, _ = ask(package, stamp=before["stamp"])
    assert not after["is_unchanged"]


def test_bytes_that_are_no_text_arrive_as_they_are(package):
    (package / "srt/server_args.py").write_bytes(b"x = '\xff\xfe'\r\n")
    _, found, rows, _ = ask(package)
    data = found["texts"]["srt/server_args.py"].encode("utf-8", "surrogateescape")
    assert hashlib.sha256(data).hexdigest()[:32] == rows["srt/server_args.py"][1]


@pytest.mark.parametrize("inside", [".", "python", "python/sglang"])
def test_a_checkout_its_python_folder_and_the_package_lead_to_the_same(package, inside):
    place, _, _, _ = ask(package.parents[1] / inside)
    assert place["path"] == str(package)


def test_an_environment_and_its_editable_install(package, tmp_path, monkeypatch):
    site = tmp_path / "venv/lib/python3.11/site-packages"
    metadata = site / "sglang-0.5.9.dist-info"
    write(
        metadata / "direct_url.json",
        json.dumps({"url": f"file://{package.parents[0]}", "dir_info": {"editable": True}}),
    )
    write(metadata / "METADATA", "Name: sglang\nVersion: 0.5.9\n")
    write(tmp_path / "venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
    write(tmp_path / "venv/bin/python3", "").chmod(0o755)
    by_folder, _, _, _ = ask(tmp_path / "venv")
    by_python, _, _, _ = ask(python=str(tmp_path / "venv/bin/python3"))
    by_home, _, _, _ = ask(python=str(tmp_path / "venv"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'venv/bin'}:/usr/bin")
    by_name, _, _, _ = ask(python="python3")
    for place in (by_folder, by_python, by_home, by_name):
        assert (place["path"], place["how"]) == (str(package), "editable")
        assert place["metadata"] == ["sglang-0.5.9.dist-info"]


@pytest.mark.parametrize("params", [{"root": "/nonexistent"}, {"python": "/nonexistent/python"}])
def test_what_is_not_there_is_said(params):
    with pytest.raises(OpError) as caught:
        ask(**params)
    assert caught.value.kind == "not_found"
    assert "/nonexistent" in str(caught.value)


def test_a_folder_without_it_is_said(tmp_path):
    with pytest.raises(OpError, match="there is no sglang in"):
        ask(tmp_path)


# ------------------------------------------------------------------ checkouts


def git(folder: Path, *words: str) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *words]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_checkout_has_a_commit_a_tag_and_edits(package):
    clone = package.parents[1]
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "one")
    git(clone, "tag", "v0.5.9")
    commit = git(clone, "rev-parse", "HEAD").strip()
    place, _, _, _ = ask(package)
    assert place["checkout"] == {
        "top": str(clone), "commit": commit, "is_dirty": False, "described": "v0.5.9", "why": None,
    }  # fmt: skip
    write(clone / "README.md", "not of the package")
    assert ask(package)[0]["checkout"]["is_dirty"] is False
    write(package / "version.py", "edited = 1\n")
    assert ask(package)[0]["checkout"]["is_dirty"] is True
    git(clone, "pack-refs", "--all")
    assert ask(package)[0]["checkout"]["commit"] == commit


def test_a_repository_that_names_a_program_does_not_run_it(package):
    clone = package.parents[1]
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "one")
    program = write(clone / "run-me", "#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    git(clone, "config", "core.fsmonitor", str(program))
    ask(package)
    assert not (clone / "ran").exists()
    assert not (package / "ran").exists()


def test_without_git_the_commit_is_known_and_the_edits_are_not(package, monkeypatch):
    clone = package.parents[1]
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "one")
    monkeypatch.setattr("specctl.agent.checkout.find_command", lambda _name: None)
    checkout = ask(package)[0]["checkout"]
    assert checkout["commit"]
    assert (checkout["is_dirty"], checkout["why"]) == (None, "git is not installed")


def test_an_installed_package_has_no_checkout(package, tmp_path):
    place, _, _, _ = ask(package)
    assert place["checkout"] is None
    del tmp_path


def recorded(file: Path) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode()
    return f"sha256={digest.rstrip('=')},{file.stat().st_size}"


def test_files_that_are_not_as_installed_are_named(package):
    site = package.parent
    lines = [f"sglang/{f.relative_to(package)},{recorded(f)}\n" for f in package.rglob("*.py")]
    write(site / "sglang-0.5.9.dist-info/RECORD", "".join(lines) + "sglang/x.pyc,,\n")
    _, found, _, _ = ask(site)
    assert found["edited"] == []
    assert set(found["pristine"]) == set(found["texts"])
    write(package / "version.py", "edited = 1\n")
    write(package / "srt/added.py", "")
    _, found, _, _ = ask(site)
    assert found["edited"] == ["version.py", "srt/added.py"]
    assert "version.py" not in found["pristine"]


# ------------------------------------------------------------------ plugins


def test_plugins_are_found_by_their_entry_points(tmp_path):
    site = tmp_path / "venv/lib/python3.11/site-packages"
    write(site / "sglang/__init__.py", "")
    write(site / "sglang/srt/x.py", "")
    write(
        site / "mine-1.0.dist-info/entry_points.txt",
        "[console_scripts]\nx = y:z\n\n[sglang.srt.plugins]\nmine = mine.plug:load\n",
    )
    write(site / "mine/plug.py", 'SpeculativeAlgorithm.register("MINE")\n')
    write(site / "mine/other.py", "nothing\n")
    _, found, _, _ = ask(tmp_path / "venv")
    assert found["plugins"] == [
        {
            "distribution": "mine-1.0", "group": "sglang.srt.plugins", "name": "mine",
            "value": "mine.plug:load",
            "texts": {"mine/plug.py": 'SpeculativeAlgorithm.register("MINE")\n'},
        }
    ]  # fmt: skip
    before, _, _, _ = ask(tmp_path / "venv")
    write(site / "mine/plug.py", 'SpeculativeAlgorithm.register("HERS")\n')
    after, _, _, _ = ask(tmp_path / "venv", stamp=before["stamp"])
    assert not after["is_unchanged"]


# ------------------------------------------------------------------ hostile trees


def test_a_hundred_thousand_files_are_bounded_and_said(package):
    folder = package / "srt/many"
    folder.mkdir()
    first = [write(folder / f"a{number}.py", "") for number in range(2)]
    for number in range(100_000):  # a file system allows so many links to one file
        os.link(first[number % 2], folder / f"f{number}.py")
    _, found, rows, end = ask(package)
    assert len(rows) <= wanted.FILES_MAX
    assert any("more than 40000 entries" in words for words in limits(end))
    assert "srt/server_args.py" in found["texts"]


def test_a_huge_file_is_listed_and_not_read(package):
    huge = package / "srt/speculative/huge.py"
    with huge.open("wb") as file:
        file.truncate(1 << 30)
    _, found, rows, end = ask(package)
    assert rows["srt/speculative/huge.py"] == [1 << 30, None, None]
    assert "srt/speculative/huge.py" not in found["texts"]
    assert limits(end) == ["srt/speculative/huge.py: 1073741824 bytes: listed, not read"]


def test_links_that_loop_or_lead_out_are_not_followed(package, tmp_path):
    outside = write(tmp_path / "secret.py", "password = 1\n")
    speculative = package / "srt/speculative"
    (speculative / "loop").symlink_to(speculative)
    (speculative / "self.py").symlink_to("self.py")
    (speculative / "out.py").symlink_to(outside)
    (speculative / "away").symlink_to(tmp_path)
    (speculative / "in.py").symlink_to(speculative / "shared.py")
    _, found, rows, end = ask(package)
    assert "srt/speculative/in.py" in found["texts"]
    assert not any("secret" in name or "loop" in name or "away" in name for name in rows)
    assert "srt/speculative/out.py: a link that leads out of the tree: not read" in limits(end)
    assert not any("password" in text for text in found["texts"].values())


def test_deep_folders_pipes_and_unreadable_ones(package):
    deep = package / "srt"
    for _ in range(40):
        deep = deep / "d"
    write(deep / "x.py", "")
    os.mkfifo(package / "srt/speculative/pipe.py")
    _, found, rows, end = ask(package)
    assert any("deeper than 24 folders" in words for words in limits(end))
    assert "srt/speculative/pipe.py" not in rows
    assert "srt/server_args.py" in found["texts"]


def test_too_much_text_in_all_is_bounded(package):
    for number in range(8):
        write(package / f"srt/speculative/big{number}.py", "x = 1\n" * 10_000)
    _, found, _, end = ask(package, sent_bytes_max=200_000)
    assert sum(map(len, found["texts"].values())) <= 200_000
    assert any("too much text: not sent" in words for words in limits(end))
    _, _, rows, end = ask(package, hashed_bytes_max=100_000)
    assert any("the tree is too large: not read" in words for words in limits(end))
    assert any(row[1] is None for row in rows.values())


def test_a_look_that_is_cancelled_says_so(package):
    cancelled = threading.Event()
    cancelled.set()
    _, found, _, end = ask(package, cancelled)
    assert end["is_cancelled"]
    assert not found.get("texts")


# ------------------------------------------------------------------ single files


def fetch(root: Path, *files: str, **params):
    items = list(source_reading.read({"root": str(root), "files": list(files), **params}, NEVER))
    data = b"".join(base64.b64decode(item["data"]) for item in items)
    return json.loads(zlib.decompress(data))


def test_only_files_inside_the_tree_are_read(package, tmp_path):
    write(tmp_path / "secret.py", "password = 1\n")
    (package / "srt/out.py").symlink_to(tmp_path / "secret.py")
    found = fetch(package, "version.py", "../../../secret.py", "srt/out.py", "/etc/passwd", "srt")
    assert found["texts"] == {"version.py": WHOLE["version.py"]}
    assert set(found["errors"]) == {"../../../secret.py", "srt/out.py", "/etc/passwd", "srt"}
    assert "is not inside" in found["errors"]["srt/out.py"]
    assert (
        "larger than 4 bytes"
        in fetch(package, "version.py", file_bytes_max=4)["errors"]["version.py"]
    )
