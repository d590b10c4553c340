"""Lays a lab host's stand-in SGLang into the packages of its Python."""

from __future__ import annotations

import shutil
from pathlib import Path

import specctl
from specctl.lab.declaring import declare_flags
from specctl.lab.dialects import VERSIONS

NEWEST = VERSIONS[0]
_HERE = Path(__file__).parent
_COMMAND = """\
#!{python}
import sys

from sglang.cli.main import main

sys.exit(main())
"""


def lay_tree(site_packages: Path, version: str = NEWEST) -> Path:
    """Make `import sglang` and `sglang serve` of the Python that owns `site_packages` the lab's.

    Lays the small source tree, its flags in that version's own form, the distribution's
    metadata, what renders chat as transformers does, and a link to specctl, whose `lab.server`
    is the program behind it. Returns the path of the package.
    """
    package = site_packages / "sglang"
    shutil.copytree(_HERE / "tree" / version / "sglang", package, ignore=_no_caches)
    for name, text in declare_flags(version).items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if (package / "srt/arg_groups").is_dir():
        rules = (_HERE / "server/speculation_rules.py").read_text()
        (package / "srt/arg_groups/speculative_hook.py").write_text(rules)
    _lay_metadata(site_packages, version)
    shutil.copytree(_HERE / "tree/shared", site_packages, ignore=_no_caches, dirs_exist_ok=True)
    link = site_packages / "specctl"
    if not link.exists():
        link.symlink_to(Path(specctl.__file__).resolve().parent)
    _lay_command(site_packages, package)
    return package


def _no_caches(_folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__"}


def _lay_metadata(site_packages: Path, version: str) -> None:
    folder = site_packages / f"sglang-{version}.dist-info"
    folder.mkdir()
    summary = "Summary: SIMULATED: the stand-in of specctl's lab"
    text = f"Metadata-Version: 2.1\nName: sglang\nVersion: {version}\n{summary}\n"
    (folder / "METADATA").write_text(text)
    (folder / "INSTALLER").write_text("specctl lab\n")


def _lay_command(site_packages: Path, package: Path) -> None:
    programs = site_packages.parents[2] / "bin"
    if not (package / "cli").is_dir() or not programs.is_dir():
        return
    path = programs / "sglang"
    path.write_text(_COMMAND.format(python=programs / "python"))
    path.chmod(0o755)
