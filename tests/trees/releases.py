"""Releases of SGLang on this machine: fetched once with pip, kept outside the repository."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs
import pytest

FOLDER = Path(platformdirs.user_cache_dir("specctl-tests")) / "trees"
DOWNLOAD_S = 600
LEFT_OUT = ("sglang/multimodal_gen/", "sglang/test/")
"""Never read, and half of the files."""

VERSIONS = (
    "0.4.1", "0.4.2", "0.4.3.post4", "0.4.4", "0.4.6.post5", "0.4.7.post1", "0.4.9",
    "0.4.10.post2", "0.5.2", "0.5.3", "0.5.3.post3", "0.5.4.post3", "0.5.5", "0.5.6.post2",
    "0.5.7", "0.5.8", "0.5.9", "0.5.10.post1", "0.5.11", "0.5.12", "0.5.13.post1", "0.5.14",
    "0.5.15.post1", "0.5.16", "0.5.17", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23",
)  # fmt: skip
ERAS = ("0.4.1", "0.4.6.post5", "0.5.5", "0.5.16", "0.5.23")
"""One of each way in which algorithms and flags were declared; the one before there were any."""


def release(version: str) -> Path:
    """The unpacked release, its package at `sglang`; downloaded when it is not here yet."""
    place = FOLDER / version
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=FOLDER) as made:
                _unpack(_download(version, Path(made)), Path(made) / "tree")
                (Path(made) / "tree").rename(place)
    return place


def _download(version: str, folder: Path) -> Path:
    argv = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
        "--disable-pip-version-check", "--dest", str(folder), f"sglang=={version}",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=DOWNLOAD_S)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        pytest.fail(f"sglang {version} could not be downloaded: {done.stderr.strip()[-500:]}")
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        wanted = [
            name
            for name in archive.namelist()
            if not name.startswith(LEFT_OUT) and not name.endswith((".so", ".json"))
        ]
        archive.extractall(folder, wanted)


def copied(version: str, folder: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(release(version), folder / version))
