"""How code that arrived on stdin becomes importable modules: the first thing that runs on a host.

The operator starts `PYTHON -I -u -c BOOT MARKER` and writes one JSON line `{"size", "sha256"}`
followed by that many bytes: zlib-compressed JSON `{"modules": {name: source}, "main": name}`.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import linecache
import sys
from typing import Any, Dict, Optional

BOOT = (
    "import hashlib,json,os,sys,zlib;"
    'os.chdir("/");'
    "i=sys.stdin.buffer;"
    "h=json.loads(i.readline());"
    'b=i.read(h["size"]);'
    'hashlib.sha256(b).hexdigest()==h["sha256"] or sys.exit("the agent arrived damaged");'
    "p=json.loads(zlib.decompress(b));"
    'n="specctl_agent.bootstrap";'
    'm={"__name__":n};'
    'exec(compile(p["modules"][n],n,"exec"),m);'
    'm["start"](p,sys.argv[1])'
)
"""One line without single quote, backslash, dollar, backtick or exclamation mark: single-quoted,
every login shell passes it on unchanged."""


class MemoryFinder:
    """Imports modules from source texts; tracebacks show their lines.

    A finder and a loader without their abstract classes: importing those takes
    a quarter of the time of a one-shot.
    """

    def __init__(self, modules: Dict[str, str]) -> None:
        self.modules = dict(modules)

    def add(self, modules: Dict[str, str]) -> None:
        """Make more modules importable."""
        self.modules.update(modules)

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """The spec of a module held here, or None."""
        del path, target
        if fullname not in self.modules:
            return None
        loader: Any = self
        is_package = any(name.startswith(fullname + ".") for name in self.modules)
        return importlib.machinery.ModuleSpec(
            fullname, loader, origin=_file_of(fullname), is_package=is_package
        )

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The module is made as any other."""
        del spec

    def exec_module(self, module: Any) -> None:
        """Compile and run the source of `module`."""
        source = self.modules[module.__name__]
        file = _file_of(module.__name__)
        module.__file__ = file
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), module.__dict__)  # noqa: S102


def _file_of(name: str) -> str:
    return "<" + name + ">"


def start(payload: Dict[str, Any], marker: str) -> None:
    """Make the streamed modules importable and run the main one until it returns.

    A payload with a `request` is a one-shot: its main module's `main(request)` returns the answer.
    """
    sys.meta_path.insert(0, MemoryFinder(payload["modules"]))
    try:
        _run(payload, marker)
    except Exception:
        import traceback

        traceback.print_exc()  # unlike the interpreter's own, it shows streamed lines
        sys.exit(1)


def _run(payload: Dict[str, Any], marker: str) -> None:
    module = importlib.import_module(payload["main"])
    if "request" in payload:
        _answer_once(marker, module, payload["request"])
    else:
        module.main(marker, sys.stdin.buffer, sys.stdout.buffer)


def _answer_once(marker: str, module: Any, request: Dict[str, Any]) -> None:
    try:
        answer: Dict[str, Any] = {"ok": module.main(request)}
    except Exception as error:
        answer = {"error": {"kind": "error", "message": explain(error)}}
    frame = "\n" + marker + " " + json.dumps(answer, ensure_ascii=True) + "\n"
    sys.stdout.buffer.write(frame.encode("ascii"))
    sys.stdout.buffer.flush()


def explain(error: BaseException) -> str:
    """An error in words: a call that failed with its file, ours as they are, others by kind."""
    if isinstance(error, OSError) and error.strerror:
        where = ": %s" % error.filename if error.filename else ""
        return error.strerror + where
    words = [str(error)]
    if type(error).__module__ == "builtins" or not words[0]:
        words.insert(0, type(error).__name__)
    return ": ".join(word for word in words if word)
