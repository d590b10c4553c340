"""Reads workloads: JSON lines, one prompt a line, an optional header line first."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.adapters.files import read_plain
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.nearest import nearest
from specctl.domain.probe import Prompt
from specctl.domain.problem import Problem
from specctl.domain.training import refuse_shared
from specctl.domain.workload import Sampling, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MOST_FILES = 200
MAX_BYTES = 64 * 1024 * 1024
MOST_PROBLEMS = 20
PROMPT_KEYS = ("prompt", "messages", "category", "max_tokens", "repeats")
HEADER_KEYS = ("description", "temperature", "top_p", "top_k", "max_tokens", "repeats", "category")
ROLES = ("system", "user", "assistant", "tool", "developer")
WARM_UP = "warm-up"
DEFAULT_MAX_TOKENS = 128
IDS_REFUSED = (
    "token ids are no prompt here: acceptance on random ids means nothing, and whether ids are "
    'random cannot be seen; write the text as "prompt" or "messages"'
)


def bundled_names() -> tuple[str, ...]:
    """The workloads that come with specctl, without the warm-up set."""
    names = (
        entry.name.removesuffix(".jsonl")
        for entry in _bundle().iterdir()
        if entry.name.endswith(".jsonl")
    )
    return tuple(sorted(name for name in names if name != WARM_UP))


def workload_files(root: Path) -> tuple[str, ...]:
    """JSONL files of a workspace as they would be typed there: two folders deep, none hidden."""
    found: list[str] = []
    for pattern in ("*.jsonl", "*/*.jsonl", "*/*/*.jsonl"):
        parts = (path.relative_to(root) for path in sorted(root.glob(pattern)))
        found += [str(p) for p in parts if not any(name.startswith(".") for name in p.parts)]
        if len(found) >= MOST_FILES:
            break
    return tuple(found[:MOST_FILES])


def read_workload(name_or_file: str, *, root: Path | None = None) -> Workload:
    """A bundled workload by its name, or a file; raises UsageError or InvalidFileError."""
    if name_or_file in bundled_names():
        return read_bundled(name_or_file)
    path = _place(name_or_file, root)
    try:
        raw = read_plain(path, MAX_BYTES)
    except ValueError as error:
        raise UsageError(f"{name_or_file} {error}", hint=_hint(name_or_file)) from error
    except OSError as error:
        raise UsageError(
            f"no workload {name_or_file}: {error.strerror or error}", hint=_hint(name_or_file)
        ) from error
    return parse_workload(raw, name=path.stem, file=name_or_file)


def read_training(
    name_or_file: str,
    measured: Sequence[Prompt],
    *,
    root: Path | None = None,
    most: int | None = None,
) -> Workload:
    """A workload to train on, at most so many prompts; none of them may be `measured`."""
    found = read_workload(name_or_file, root=root)
    prompts = found.prompts[:most]
    refuse_shared(measured, prompts)
    return replace(found, prompts=prompts)


def lasting_name(name_or_file: str, root: Path) -> str:
    """A name or file that means the same workload from any folder."""
    if name_or_file in bundled_names():
        return name_or_file
    path, root = _place(name_or_file, root).resolve(), root.resolve()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _place(file: str, root: Path | None) -> Path:
    """Where a file is: from the folder one is in, else from the workspace."""
    path = Path(file).expanduser()
    return path if root is None or path.exists() else root / path


def read_bundled(name: str) -> Workload:
    """One of the workloads that come with specctl."""
    raw = (_bundle() / f"{name}.jsonl").read_bytes()
    return parse_workload(raw, name=name, file=f"{name}.jsonl")


def read_warm_up(measured: Sequence[Prompt] = ()) -> Workload:
    """What is sent before measuring; disjoint from every bundled workload.

    No answer is longer than the longest of what is `measured`.
    """
    found = read_bundled(WARM_UP)
    most = max((prompt.max_tokens for prompt in measured), default=None)
    if most is None:
        return found
    prompts = (replace(one, max_tokens=min(one.max_tokens, most)) for one in found.prompts)
    return replace(found, prompts=tuple(prompts))


def parse_workload(raw: bytes, *, name: str, file: str) -> Workload:
    """The workload in `raw`; raises InvalidFileError with every problem in it."""
    reader = _Reader(file)
    prompts = [prompt for line in reader.lines(raw) if (prompt := reader.prompt(line)) is not None]
    if not prompts and not reader.problems:
        reader.problems.append(Problem(file, None, "", "holds no prompt"))
    if reader.problems:
        raise _invalid(reader.problems)
    header = reader.header
    return Workload(
        name=name,
        prompts=tuple(prompts),
        sha256=hashlib.sha256(raw).hexdigest(),
        sampling=Sampling(header.get("temperature", 0.0), header.get("top_p"), header.get("top_k")),
        description=header.get("description", ""),
    )


def _invalid(problems: Sequence[Problem]) -> InvalidFileError:
    """The first problems; of a file that is no workload at all every line is one."""
    shown = tuple(problems[:MOST_PROBLEMS])
    more = len(problems) - len(shown)
    hint = f"{more:,} more lines of it are wrong: is it a workload at all?" if more else ""
    return InvalidFileError(shown, hint=hint)


def _bundle() -> Any:
    return resources.files("specctl") / "workloads"


def _hint(name: str) -> str:
    known = bundled_names()
    close = nearest(name, known)
    return f"Nearest: {close}." if close else f"Give a file, or one of {', '.join(known)}."


class _Reader:
    """One file being read: its header, the line it is at, and every problem so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.header: Mapping[str, Any] = {}
        self.problems: list[Problem] = []
        self._number = 0
        self._has_begun = False

    def lines(self, raw: bytes) -> Iterator[dict[str, Any]]:
        """The lines that are prompts; the header is taken in as it passes."""
        for self._number, text in enumerate(raw.split(b"\n"), start=1):
            if not text.strip():
                continue
            try:
                line = json.loads(text)
            except ValueError as error:
                self._add("", f"not JSON: {error}")
                continue
            except RecursionError:
                self._add("", "is nested too deeply")
                continue
            if not isinstance(line, dict):
                self._add("", "not a JSON object")
            elif "workload" in line:
                self._take_header(line["workload"])
            else:
                yield line
            self._has_begun = True

    def prompt(self, line: Mapping[str, Any]) -> Prompt | None:
        """The prompt of one line; None when something is wrong with it."""
        before = len(self.problems)
        if "input_ids" in line:
            self._add("input_ids", IDS_REFUSED)
            return None
        self._check(line, PROMPT_KEYS)
        text, messages = self._text(line), self._messages(line.get("messages"))
        if len(self.problems) > before:
            return None
        header = self.header
        return Prompt(
            text=text,
            messages=messages,
            category=line.get("category", header.get("category", "all")),
            max_tokens=line.get("max_tokens", header.get("max_tokens", DEFAULT_MAX_TOKENS)),
            is_repetition_asked=line.get("repeats", header.get("repeats", False)),
        )

    def _add(self, key: str, message: str, close: str = "") -> None:
        self.problems.append(Problem(self.file, self._number, key, message, close))

    def _take_header(self, header: Any) -> None:
        if self._has_begun or not isinstance(header, dict):
            self._add("workload", 'a header comes first and is an object: {"workload": {...}}')
            return
        self._check(header, HEADER_KEYS)
        self.header = header

    def _text(self, line: Mapping[str, Any]) -> str | None:
        if ("prompt" in line) == ("messages" in line):
            self._add("", "needs either prompt or messages")
            return None
        text = line.get("prompt")
        if "prompt" in line and not (isinstance(text, str) and text):
            self._add("prompt", "must be a text that is not empty")
            return None
        return text

    def _messages(self, value: Any) -> tuple[tuple[str, str], ...]:
        if value is None:
            return ()
        if not isinstance(value, list) or not value:
            self._add("messages", "must be a list of messages")
            return ()
        pairs = []
        for place, message in enumerate(value):
            found = message if isinstance(message, dict) else {}
            role, content = found.get("role"), found.get("content")
            if role in ROLES and isinstance(content, str):
                pairs.append((role, content))
            else:
                words = 'must be {"role": …, "content": "text"}; roles: ' + ", ".join(ROLES)
                self._add(f"messages.{place}", words)
        return tuple(pairs)

    def _check(self, line: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key, value in line.items():
            if key not in known:
                self._add(key, "unknown key", nearest(key, known))
            elif key in RULES and not RULES[key][0](value):
                self._add(key, f"must be {RULES[key][1]}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "max_tokens": (_is_count, "a whole number above 0"),
    "temperature": (lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
    "top_p": (lambda v: _is_number(v) and 0 < v <= 1, "a number above 0, at most 1"),
    "top_k": (_is_count, "a whole number above 0"),
    "repeats": (lambda v: isinstance(v, bool), "true or false"),
    "category": (lambda v: isinstance(v, str) and bool(v), "a text that is not empty"),
    "description": (lambda v: isinstance(v, str), "a text"),
}
