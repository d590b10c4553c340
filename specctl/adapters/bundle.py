"""What is streamed to a host: the agent's sources, packed, and the command that unpacks them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import secrets
import zlib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.adapters.closure import closure
from specctl.agent.bootstrap import BOOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

AGENT_PACKAGE = "specctl_agent"
"""What `specctl.agent` is called on a host."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One program to start on a host."""

    argv: tuple[str, ...]
    marker: str
    """Stands before its first message; what is printed before is not its own."""

    payload: bytes
    """To be written to its stdin first."""


def agent_bundle(python: Sequence[str]) -> Bundle:
    """The agent, run by `python`."""
    packed = _packed(f"{AGENT_PACKAGE}.main")
    return _bundle(python, packed, unbuffered=True)


def oneshot_bundle(python: Sequence[str], name: str, request: Mapping[str, Any]) -> Bundle:
    """The one-shot action `name` with its request, run by `python`."""
    return _bundle(python, _packed(f"{AGENT_PACKAGE}.oneshot.{name}", dict(request)))


def holder_bundle(python: Sequence[str], name: str, request: Mapping[str, Any]) -> Bundle:
    """The one-shot action `name`, which answers its request line and goes on until stdin ends."""
    bundle = _bundle(python, _packed(f"{AGENT_PACKAGE}.oneshot.{name}"), unbuffered=True)
    line = json.dumps(request).encode("ascii") + b"\n"
    return replace(bundle, payload=bundle.payload + line)


def pack(python: Sequence[str], content: Mapping[str, Any], *, unbuffered: bool = False) -> Bundle:
    """`content` as `specctl.agent.bootstrap` reads it: a JSON header line, then packed JSON."""
    return _bundle(
        python, zlib.compress(json.dumps(content).encode("ascii"), 9), unbuffered=unbuffered
    )


def _bundle(python: Sequence[str], packed: bytes, *, unbuffered: bool = False) -> Bundle:
    header = {"size": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}
    marker = f"specctl-{secrets.token_hex(12)}"
    options = ("-I", "-u") if unbuffered else ("-I",)
    return Bundle(
        argv=(*python, *options, "-c", BOOT, marker),
        marker=marker,
        payload=json.dumps(header).encode("ascii") + b"\n" + packed,
    )


def _packed(main: str, request: Mapping[str, Any] | None = None) -> bytes:
    """A program and its request, compressed; only the request is compressed anew."""
    head, packer = _packed_modules(main)
    rest = "}" if request is None else f', "request": {json.dumps(request)}}}'
    packer = packer.copy()
    return head + packer.compress(rest.encode("ascii")) + packer.flush()


@cache
def _packed_modules(main: str) -> tuple[bytes, zlib._Compress]:
    """Everything before the request, and the compressor as it is there: 10 ms of work."""
    modules = modules_of(main)
    text = json.dumps({"modules": modules, "main": main})
    packer = zlib.compressobj(9)
    head = packer.compress(text[:-1].encode("ascii")) + packer.flush(zlib.Z_SYNC_FLUSH)
    return head, packer


def modules_of(main: str) -> dict[str, str]:
    """The agent has all its ops' modules; a one-shot what it imports, for it starts often."""
    if ".oneshot." not in main:
        return agent_modules()
    return closure((main, f"{AGENT_PACKAGE}.bootstrap"), {**agent_modules(), **oneshot_modules()})


@cache
def agent_modules() -> dict[str, str]:
    """The sources of the agent by the names they have on a host, without the one-shot actions."""
    return _modules(resources.files("specctl.agent"), AGENT_PACKAGE)


@cache
def oneshot_modules() -> dict[str, str]:
    """The sources of the one-shot actions by the names they have on a host."""
    return _modules(
        resources.files("specctl.agent").joinpath("oneshot"), f"{AGENT_PACKAGE}.oneshot"
    )


def _modules(folder: Traversable, package: str) -> dict[str, str]:
    found = {}
    for file in folder.iterdir():
        if file.is_file() and file.name.endswith(".py"):
            stem = file.name.removesuffix(".py")
            name = package if stem == "__init__" else f"{package}.{stem}"
            found[name] = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    found.setdefault(package, "")
    return dict(sorted(found.items()))


def pynvml_source() -> str | None:
    """The `pynvml` module of the nvidia-ml-py installed here; None when it is not.

    Read through the distribution: another package of that name may shadow it on the path.
    """
    try:
        files = importlib.metadata.files("nvidia-ml-py") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "pynvml.py":
            return Path(file.locate()).read_text(encoding="utf-8")
    return None
