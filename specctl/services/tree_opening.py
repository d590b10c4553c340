"""One look at a tree: asked for, unpacked, read while the rest arrives, and kept."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from specctl.adapters.source_answers import Parts
from specctl.adapters.source_cache import Look, SourceCache
from specctl.domain.errors import AgentError, UsageError
from specctl.facts.source import wanted
from specctl.facts.source.answers import (
    digest_of,
    is_name,
    read_edited,
    read_limits,
    read_place,
    read_plugins,
    read_texts,
)
from specctl.facts.source.placing import placed
from specctl.services.tree_incoming import Incoming

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from specctl.domain.source import Tree
    from specctl.facts.source.answers import FoundPlace

OPEN_S = 120.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What looking at a tree took."""

    seconds: float
    received_bytes: int
    """Of texts and listings, as they came; 0 for a tree that had not changed."""

    is_from_cache: bool


class Stream(Protocol):
    """The items of one op, on a host or here."""

    @property
    def end(self) -> dict[str, Any] | None:
        """What was said at the end; None before it."""
        ...

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]: ...

    async def aclose(self) -> None:
        """Stop it."""
        ...


class Opening(Protocol):
    """The way back to a tree's machine."""

    @property
    def cache(self) -> SourceCache:
        """Where its texts are kept."""
        ...

    def ask(self, op: str, **params: Any) -> Stream:
        """The items of one op there."""
        ...

    async def fetch(self, tree: Tree, name: str) -> str:
        """One file."""
        ...


@dataclass
class OpenTree:
    """A tree that was read, with its texts at hand."""

    tree: Tree
    cost: Cost
    _opening: Opening
    _texts: tuple[dict[str, str], dict[str, str]] | None = field(default=None, repr=False)

    @property
    def texts(self) -> Mapping[str, str]:
        """Path relative to the package to text: arguments, speculation, and what they need."""
        if self._texts is None:
            self._texts = self._opening.cache.texts(self.tree.tree_hash or "") or ({}, {})
        return self._texts[0]

    async def file(self, name: str) -> str:
        """Any file of the tree; raises UsageError for one that is not inside it."""
        if name in self.texts:
            return self.texts[name]
        return await self._opening.fetch(self.tree, name)

    def search(
        self, pattern: str, *, ignore_case: bool = False, matches_max: int = 1000,
        seconds_max: float = 20.0,
    ) -> Stream:  # fmt: skip
        """The lines of its files that match, as the host finds them: `{file, line, text}` each."""
        return self._opening.ask(
            "tree_search",
            root=self.tree.path,
            pattern=pattern,
            ignore_case=ignore_case,
            matches_max=matches_max,
            seconds_max=seconds_max,
            listed=wanted.LISTED,
            not_entered=wanted.NOT_ENTERED,
        )


class TreeOpening:
    """The way to one tree."""

    def __init__(
        self,
        host: str,
        place: str,
        params: dict[str, str],
        ask: Callable[..., Any],
        *,
        cache: SourceCache | None = None,
    ) -> None:
        self._host, self._place, self._params = host, place, params
        self._ask = ask
        self.cache = cache or SourceCache()

    @property
    def _where(self) -> str:
        """As `specctl inspect` is told it."""
        root = self._params.get("root")
        return self._host if root is None else f"--tree {root}"

    def ask(self, op: str, **params: Any) -> Stream:
        """The items of one op at the tree's machine."""
        stream: Stream = self._ask(op, **params)
        return stream

    async def open(self) -> OpenTree:
        """Look; raises AgentError or AgentAnswerError."""
        begun_s = time.monotonic()
        look = self.cache.look(self._host, self._place)
        known = self.cache.tree(look.tree_hash) if look is not None else None
        params = {**wanted.request(), **self._params}
        if look is not None and known is not None:
            params |= {"stamp": look.stamp, "have": _digests(known)}
        stream = self.ask("tree", **params)
        try:
            async with asyncio.timeout(OPEN_S):
                found = await self._look(stream, look, known)
        finally:
            await stream.aclose()
        tree, parts, texts = found
        is_from_cache = parts is None
        received = parts.received_bytes if parts is not None else 0
        cost = Cost(time.monotonic() - begun_s, received, is_from_cache)
        return OpenTree(tree, cost, self, texts)

    async def _look(
        self, stream: Stream, look: Look | None, known: Tree | None
    ) -> tuple[Tree, Parts | None, tuple[dict[str, str], dict[str, str]] | None]:
        items = aiter(stream)
        first: dict[str, Any] = await anext(items, {})
        place = read_place(first.get("place"))
        if place is None:
            raise AgentError(f"host {self._host}: the agent did not say where the tree is")
        if place.is_unchanged and look is not None and known is not None:
            async for _ in items:
                pass
            return _placed(known, place, look.plugins, look.edited), None, None
        incoming = Incoming(self._host, place, known, self._known_texts(known))
        tree = await incoming.read(items)
        problems = read_limits((stream.end or {}).get("limits"))
        tree = replace(tree, problems=(*problems, *tree.problems))
        self._keep(tree, place, incoming)
        whole = _placed(tree, place, incoming.plugins, incoming.edited)
        return whole, incoming.parts, (incoming.texts, incoming.excerpts)

    def _known_texts(self, known: Tree | None) -> dict[str, str]:
        """Digest to text, of the tree that this place held before."""
        found = self.cache.texts(known.tree_hash or "") if known is not None else None
        files = known.files if known is not None else {}
        texts = {**found[1], **found[0]} if found is not None else {}
        return {
            digest: text
            for name, text in texts.items()
            if name in files and (digest := files[name].digest) is not None
        }

    def _keep(self, tree: Tree, place: FoundPlace, incoming: Incoming) -> None:
        if tree.tree_hash is None:
            return
        self.cache.keep(tree, incoming.packed())
        found = (incoming.plugins, incoming.edited)
        look = Look(place.path, place.stamp, tree.tree_hash, *found)
        self.cache.keep_look(self._host, self._place, look)

    async def fetch(self, tree: Tree, name: str) -> str:
        """One file, from the cache or the tree's machine."""
        if not is_name(name):
            raise UsageError(f"{name} is no file of the tree", hint="A path below the package.")
        listed = tree.files.get(name)
        digest = listed.digest if listed is not None else None
        if digest is not None and (text := self.cache.file(digest)) is not None:
            return text
        content = await self._fetched(tree, name)
        texts, errors = read_texts(content.get("texts")), read_texts(content.get("errors"))
        if name not in texts:
            words = errors.get(name, "it was not sent")
            raise UsageError(
                f"{name} cannot be read: {words}", hint=f"specctl inspect {self._where} --find NAME"
            )
        if digest is not None and digest_of(texts[name]) == digest:
            self.cache.keep_file(digest, texts[name])
        return texts[name]

    async def _fetched(self, tree: Tree, name: str) -> dict[str, Any]:
        parts = Parts(self._host)
        stream = self.ask("tree_read", root=tree.path, files=[name])
        try:
            async with asyncio.timeout(OPEN_S):
                async for item in stream:
                    if parts.take(item) is not None:
                        return parts.open("texts")
        finally:
            await stream.aclose()
        raise AgentError(f"host {self._host}: the agent did not send {name}")


class KeptOpening:
    """A tree that is only kept here: its machine is not asked."""

    def __init__(self, cache: SourceCache) -> None:
        self.cache = cache

    def ask(self, op: str, **params: Any) -> Stream:
        """Refused."""
        del params
        raise UsageError(f"{op} needs the tree itself", hint="Name its host or directory.")

    async def fetch(self, tree: Tree, name: str) -> str:
        """One file that was fetched before."""
        listed = tree.files.get(name)
        digest = listed.digest if listed is not None else None
        text = self.cache.file(digest) if digest is not None else None
        if text is None:
            raise UsageError(
                f"{name} of SGLang {tree.version} was not fetched and is not kept here",
                hint="Name a host or directory that has it.",
            )
        return text


def _placed(tree: Tree, place: FoundPlace, plugins: Any, edited: Any) -> Tree:
    return replace(placed(tree, place, read_plugins(plugins)), edited=read_edited(edited))


def _digests(tree: Tree) -> list[str]:
    """Of the files that would be sent."""
    return [f.digest for name, f in tree.files.items() if f.digest and wanted.is_sent(name)]
