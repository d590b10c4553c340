"""The `tree` op: a source tree in one round trip - listed, hashed, and the asked-for texts.

What is asked for are patterns; nothing is known here of what the files say. The answer's data is
zlib-compressed JSON in parts, each cut into pieces: some of `{texts, excerpts, had, pristine}`, so
that the asker can read one while the next is made, the last of them with `{names, plugins}`; then
`{files: [[size, digest, lines]], edited}`, the files in the order of the names. A tree whose files
have not changed since a stamp that the asker knows has none of them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Generator, Iterator, List, Optional, Pattern, Set, Tuple

from . import asked
from .files import open_regular
from .protocol import CHUNK_MAX_BYTES, OpError, describe
from .source_place import find_place, find_plugins, read_record
from .source_walk import Found, SourceWalk

DIGEST_DIGITS = 32
READERS = 4
BATCH = 32
SOME_BYTES = 512 << 10
"""Of text in one part."""

EXCERPT_BYTES_MAX = 1 << 20
LEVEL = 1
"""Of compression: at 6 it takes four times as long for a fifth less."""


def tree(params: Dict[str, Any], cancelled: Any) -> Generator[Dict[str, Any], None, Dict[str, Any]]:
    """The place first, then the data; the end says what was left out."""
    place = find_place(asked.optional_text(params, "python"), asked.optional_text(params, "root"))
    groups, wanted = asked.texts(params, "plugin_groups"), _pattern(params, "plugin_text")
    folders = place.pop("folders")
    plugins = find_plugins(folders, groups, wanted)
    record = read_record(folders, place["metadata"]) if place["how"] != "editable" else {}
    reader = Reader(params, place, record, cancelled)
    stamp = reader.stamp(plugins)
    is_unchanged = stamp == params.get("stamp")
    yield {"place": {**place, "stamp": stamp, "is_unchanged": is_unchanged}}
    if not is_unchanged:
        for content in reader.read_wanted():
            yield from pieces("texts", content)
        yield from pieces("texts", {"names": reader.names(), "plugins": plugins})
        yield from pieces("files", {"files": reader.rows(), "edited": reader.edited()})
    return {"limits": reader.limits, "is_cancelled": cancelled.is_set()}


def pieces(part: str, content: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """`content` as items that each fit one line; the last of a part says so."""
    packed = zlib.compress(json.dumps(content).encode("ascii"), LEVEL)
    for start in range(0, len(packed), CHUNK_MAX_BYTES):
        piece = packed[start : start + CHUNK_MAX_BYTES]
        yield {
            "part": part,
            "data": base64.b64encode(piece).decode("ascii"),
            "is_last": start + CHUNK_MAX_BYTES >= len(packed),
        }


def digest_of(data: bytes) -> str:
    """How a file's bytes are known: the first half of their SHA-256."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_DIGITS]


def recorded_form(digest: bytes) -> str:
    """A SHA-256 as a RECORD has it."""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _pattern(params: Dict[str, Any], name: str) -> Pattern[str]:
    try:
        return re.compile(asked.text(params, name))
    except re.error as error:
        raise OpError("bad_request", "%s is no pattern: %s" % (name, error)) from error


class Reader:
    """One look at one tree."""

    def __init__(
        self, params: Dict[str, Any], place: Dict[str, Any], record: Dict[str, str], cancelled: Any
    ) -> None:
        self._record = record
        bounds = {
            "files_max": asked.integer(params, "files_max", 40_000),
            "depth_max": asked.integer(params, "depth_max", 24),
            "seconds_max": asked.seconds(params, "seconds_max", 60.0, 0.1),
        }
        self._sent = _pattern(params, "sent")
        self._first = _pattern(params, "first")
        self._excerpts = [
            (re.compile(files), literal, re.compile(pattern))
            for files, literal, pattern in params["excerpts"]
        ]
        self._pristine: Set[str] = set()
        self._rows: Dict[str, Tuple[int, Optional[str], Optional[int]]] = {}
        self._file_bytes_max = asked.integer(params, "file_bytes_max", 4 << 20)
        self._hashed_left = asked.integer(params, "hashed_bytes_max", 512 << 20)
        self._sent_left = asked.integer(params, "sent_bytes_max", 48 << 20)
        self._have = frozenset(asked.texts(params, "have"))
        self._cancelled = cancelled
        self._walk = SourceWalk(
            place["path"],
            _pattern(params, "listed"),
            _pattern(params, "not_entered"),
            bounds,
            cancelled.is_set,
        )
        self._files = list(self._walk.files())

    @property
    def limits(self) -> List[Dict[str, str]]:
        """What was left out, and why."""
        return self._walk.limits

    def stamp(self, plugins: List[Any]) -> str:
        """Changes when a file of the tree or a plugin does; no file of the tree is read for it."""
        lines = sorted("%s %s" % (file.name, file.stamp) for file in self._files)
        lines.append(json.dumps([plugins, self.limits]))
        return digest_of("\n".join(lines).encode("utf-8", "surrogateescape"))

    def read_wanted(self) -> Iterator[Dict[str, Any]]:
        """The texts and excerpts that are wanted, some at a time, those wanted first first."""
        wanted = [file for file in self._files if self._is_wanted(file)]
        wanted.sort(key=lambda file: not self._first.search(file.name))
        some = _Some()
        for file, digest, data in self._each(wanted, keep=True):
            if data is None:
                continue
            if digest in self._have:
                some.had[file.name] = digest
            elif self._sent.search(file.name):
                some.pristine += [file.name] if file.name in self._pristine else []
                some.bytes += self._take(some.texts, file.name, data)
            else:
                some.bytes += self._take_excerpt(some.excerpts, file.name, data)
            if some.bytes >= SOME_BYTES:
                yield some.content()
                some = _Some()
        yield some.content()

    def edited(self) -> Optional[List[str]]:
        """Files that are not as they were recorded; None without a record."""
        if not self._record:
            return None
        read = [file.name for file in self._files if self._rows[file.name][1] is not None]
        return [name for name in read if name not in self._pristine]

    def names(self) -> List[str]:
        """Of every file."""
        return [file.name for file in self._files]

    def rows(self) -> List[Tuple[int, Optional[str], Optional[int]]]:
        """(size, digest, lines) of every file, in the order of the names."""
        rest = [file for file in self._files if file.name not in self._rows]
        for _ in self._each(rest, keep=False):
            pass
        return [self._rows[file.name] for file in self._files]

    def _is_wanted(self, file: Found) -> bool:
        return bool(self._sent.search(file.name)) or self._excerpt(file.name) is not None

    def _excerpt(self, name: str) -> Optional[Tuple[str, Pattern[str]]]:
        for files, literal, pattern in self._excerpts:
            if files.search(name):
                return literal, pattern
        return None

    def _each(
        self, files: List[Found], *, keep: bool
    ) -> Iterator[Tuple[Found, Optional[str], Optional[bytes]]]:
        """Files with their digest, read in batches by a few threads, in order."""
        batches = [files[start : start + BATCH] for start in range(0, len(files), BATCH)]
        with ThreadPoolExecutor(READERS) as pool:
            for done in pool.map(lambda batch: [self._read(f, keep=keep) for f in batch], batches):
                yield from done

    def _read(self, file: Found, *, keep: bool) -> Tuple[Found, Optional[str], Optional[bytes]]:
        data = self._bytes(file)
        if data is None:
            self._rows[file.name] = (file.size, None, None)
            return file, None, None
        full = hashlib.sha256(data).digest()
        digest = full.hex()[:DIGEST_DIGITS]
        if self._record.get(file.name) == recorded_form(full):
            self._pristine.add(file.name)
        self._rows[file.name] = (file.size, digest, data.count(b"\n"))
        return file, digest, data if keep else None

    def _bytes(self, file: Found) -> Optional[bytes]:
        """The file's bytes, within the bounds; None with a note."""
        if self._cancelled.is_set():
            return None
        if file.size > self._file_bytes_max:
            self._walk.note(file.name, "%d bytes: listed, not read" % file.size)
            return None
        self._hashed_left -= file.size
        if self._hashed_left < 0:
            self._walk.note(file.name, "the tree is too large: not read")
            return None
        try:
            with open_regular(file.path) as opened:
                data = opened.read(self._file_bytes_max + 1) or b""
        except (OSError, OpError) as error:
            self._walk.note(file.name, describe(error)["message"])
            return None
        if len(data) > self._file_bytes_max:
            self._walk.note(file.name, "it grows: not read")
            return None
        return bytes(data)

    def _take(self, texts: Dict[str, str], name: str, data: bytes) -> int:
        """Keep one text; the bytes of it."""
        if len(data) > self._sent_left:
            self._walk.note(name, "too much text: not sent")
            return 0
        self._sent_left -= len(data)
        texts[name] = data.decode("utf-8", "surrogateescape")
        return len(data)

    def _take_excerpt(self, excerpts: Dict[str, str], name: str, data: bytes) -> int:
        found = self._excerpt(name)
        if found is None or found[0].encode("utf-8") not in data:
            return 0
        text = data[:EXCERPT_BYTES_MAX].decode("utf-8", "surrogateescape")
        excerpt = excerpt_of(text, *found)
        return self._take(excerpts, name, excerpt.encode("utf-8", "surrogateescape"))


class _Some:
    """What goes into one part."""

    def __init__(self) -> None:
        self.bytes = 0
        self.texts: Dict[str, str] = {}
        self.excerpts: Dict[str, str] = {}
        self.had: Dict[str, Optional[str]] = {}
        self.pristine: List[str] = []

    def content(self) -> Dict[str, Any]:
        """As it is packed."""
        return {
            "texts": self.texts,
            "excerpts": self.excerpts,
            "had": self.had,
            "pristine": self.pristine,
        }


def excerpt_of(text: str, literal: str, pattern: Pattern[str]) -> str:
    """What matches at lines that begin with `literal`, each on its own line, the rest left empty.

    To look for the literal first is ten times as fast as to look for the pattern.
    """
    found: List[str] = []
    line = ended = counted = 0
    for place in _line_starts(text, literal):
        match = pattern.match(text, place)
        if match is None or place < counted:
            continue
        line += text.count("\n", counted, place)
        found += ["\n" * (line - ended), match.group(0)]
        ended = line + match.group(0).count("\n")
        counted = place
    return "".join(found)


def _line_starts(text: str, literal: str) -> Iterator[int]:
    if text.startswith(literal):
        yield 0
    place = text.find("\n" + literal)
    while place >= 0:
        yield place + 1
        place = text.find("\n" + literal, place + 1)
