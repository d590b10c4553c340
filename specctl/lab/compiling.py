"""The lab's C sources, built with gcc: the NVML library and the host's shim."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NVML_LIBRARY = "libnvidia-ml.so.1"
SHIM_LIBRARY = "libspecctl-lab.so"
FLAGS = (
    "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-format-truncation",
    "-Wno-misleading-indentation", "-shared", "-fPIC",
)  # fmt: skip
BUILD_S = 120

_DEFINED = re.compile(r"^(?:API |(?:TEXT|U32|U64|TWO|PICK|LINK)\()", re.MULTILINE)
_NAME = re.compile(r"\bnvml[A-Z][A-Za-z0-9_]+")
_KINDS = ("Compute", "Graphics", "MPSCompute")


class BuildError(Exception):
    """The C sources could not be built; says what gcc said."""


def has_compiler() -> bool:
    """Gcc is installed."""
    return shutil.which("gcc") is not None


def build_nvml(folder: Path, *, hidden: Iterable[str] = (), options: Sequence[str] = ()) -> Path:
    """The stand-in for libnvidia-ml.so.1, built into `folder`.

    Symbols of newer drivers can be `hidden`, so that it is an older one's. Raises BuildError.
    """
    sources = resources.files("specctl.lab").joinpath("nvml")
    with resources.as_file(sources) as directory:
        stubs = _stubs(directory)
        (folder / "stubs.inc").write_text("".join(f"STUB({name})\n" for name in stubs))
        (folder / "symbols.map").write_text(_symbol_map(hidden))
        arguments = (
            "-fvisibility=hidden", "-Wl,-Bsymbolic", f"-Wl,-soname,{NVML_LIBRARY}",
            f"-Wl,--version-script={folder / 'symbols.map'}", f"-I{folder}", *options,
        )  # fmt: skip
        files = sorted(directory.glob("*.c"))
        return _compile(folder / NVML_LIBRARY, files, arguments, libraries=("-lm", "-lpthread"))


def build_shim(folder: Path) -> Path:
    """What every process of a lab host is started with (LD_PRELOAD), built into `folder`."""
    sources = resources.files("specctl.lab").joinpath("shim")
    with resources.as_file(sources) as directory:
        files = sorted(directory.glob("*.c"))
        return _compile(folder / SHIM_LIBRARY, files, (), libraries=("-ldl", "-lpthread"))


def _compile(
    library: Path, files: Sequence[Path], arguments: Sequence[str], *, libraries: Sequence[str]
) -> Path:
    draft = library.with_name(f"{library.name}.new")
    argv = ["gcc", *FLAGS, *arguments, "-o", str(draft), *map(str, files), *libraries]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=BUILD_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"gcc: {error}") from error
    if done.returncode:
        raise BuildError(done.stderr.strip() or f"gcc ended with status {done.returncode}")
    draft.replace(library)
    return library


def _stubs(directory: Path) -> list[str]:
    """Functions that some nvidia-ml-py asks for and the sources do not define."""
    texts = [file.read_text() for file in directory.glob("*.c")]
    defined = {name for text in texts for name in _defined(text)}
    defined |= {
        f"nvmlDeviceGet{kind}RunningProcesses{suffix}"
        for kind in _KINDS
        for suffix in ("", "_v2", "_v3")
    }
    asked = (directory / "stubs.txt").read_text().split()
    return sorted(set(asked) - defined - {"nvmlErrorString"})


def _defined(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if _DEFINED.match(line)]
    return [name for line in lines for name in _NAME.findall(line)]


def _symbol_map(hidden: Iterable[str]) -> str:
    local = "".join(f"  {name};\n" for name in hidden)
    return "{ global: nvml*; local:\n" + local + "  *; };\n"
