"""A tree that arrives from an agent, read while the rest of it is still on its way."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from specctl.adapters.source_answers import Parts
from specctl.adapters.source_cache import pack
from specctl.domain.errors import AgentError
from specctl.facts.source.answers import (
    digest_of,
    hash_of,
    read_files,
    read_names,
    read_texts,
)
from specctl.facts.source.reading import TreeText, complete, read_source
from specctl.facts.source.texts import Texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from concurrent.futures import Executor, Future

    from specctl.domain.source import Tree, TreeFile
    from specctl.facts.source.answers import FoundPlace


class Incoming:
    """A tree that arrives: read as soon as its texts are here, while its list still comes."""

    def __init__(
        self, host: str, place: FoundPlace, known: Tree | None, known_texts: Mapping[str, str]
    ) -> None:
        self._host, self._place, self._known = host, place, known
        self._known_texts = known_texts
        self.parts = Parts(host)
        self.texts: dict[str, str] = {}
        self.excerpts: dict[str, str] = {}
        self.plugins: Any = ()
        self.edited: Any = None
        self._all: dict[str, str] = {}
        self._parsed = Texts(self._all)
        self._names: list[object] = []
        self._has_known = False
        self._reading: Future[Tree] | None = None

    async def read(self, items: AsyncIterator[dict[str, Any]]) -> Tree:
        """The tree with its list; raises AgentError for an answer that stops early."""
        files: Mapping[str, TreeFile] | None = None
        read: Tree | None = None
        reader = ThreadPoolExecutor(1, "reading a tree")
        try:
            with uncollected():
                async for item in items:
                    part = self.parts.take(item)
                    if part == "texts":
                        self._take(self.parts.open(part), reader)
                    elif part == "files":
                        content = self.parts.open(part)
                        files = read_files(self._names, content.get("files"))
                        self.edited = content.get("edited")
                if self._reading is not None:
                    read = await asyncio.wrap_future(self._reading)
        finally:
            reader.shutdown(wait=False, cancel_futures=True)
        if read is None or files is None:
            raise AgentError(f"host {self._host}: the agent's answer about the tree stops early")
        return complete(read, files, hash_of(files))

    def packed(self) -> bytes:
        """Texts and excerpts as they are kept: as they came, where all of them came."""
        if not self._has_known:
            return b"".join(self.parts.packed["texts"])
        return pack({"texts": self.texts, "excerpts": self.excerpts})

    def _take(self, content: dict[str, Any], reader: Executor) -> None:
        """Some of the texts, to be parsed at once; with the names of all files, everything."""
        texts = read_texts(content.get("texts"))
        excerpts = read_texts(content.get("excerpts"))
        for name, digest in read_texts(content.get("had")).items():
            self._has_known = True
            text = self._known_texts.get(digest)
            if text is not None:
                (texts if digest_of(text) == digest else excerpts)[name] = text
        self.texts |= texts
        self.excerpts |= excerpts
        self._all |= {**excerpts, **texts}
        reader.submit(self._parsed.prepare, tuple(texts), read_names(content.get("pristine")))
        if "names" in content:
            self._names = _list(content["names"])
            self.plugins = content.get("plugins") or ()
            self._reading = reader.submit(self._read)

    def _read(self) -> Tree:
        parsed, self._parsed = self._parsed, Texts({})  # it is large: nobody keeps it
        names = read_names(self._names)
        return read_source(TreeText(self._place.path, self.texts, self.excerpts, names), parsed)


def _list(value: Any) -> list[object]:
    return value if isinstance(value, list) else []


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector: it would visit a growing syntax tree again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
