"""Looking at trees: what a second look costs, and what a host may not make of the cache."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from pathlib import Path
from textwrap import dedent

import pytest

from specctl.adapters.source_cache import SourceCache
from specctl.domain.errors import AgentError, RemoteFailedError, UsageError
from specctl.domain.host import Host
from specctl.services import inspection, tree_opening
from specctl.services.fleet import close_host, open_host
from specctl.services.tree_opening import TreeOpening
from tests.unit.facts.source.small import ARGUMENTS, WHOLE

STAMP = "ab" * 16


@pytest.fixture
def cache(tmp_path: Path) -> SourceCache:
    return SourceCache(tmp_path / "cache")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "clone/python/sglang"
    for name, text in {**WHOLE, "srt/models/a.py": "\nEntryClass = [AEagle3]\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text))
    return root


async def look(package, cache):
    return await inspection.open_tree_here(package, cache=cache)


async def test_a_second_look_at_an_unchanged_tree_transfers_nothing(package, cache):
    first = await look(package, cache)
    again = await look(package, cache)
    assert first.cost.received_bytes > 1000
    assert (again.cost.received_bytes, again.cost.is_from_cache) == (0, True)
    assert again.tree == first.tree
    assert dict(again.texts) == dict(first.texts)


async def test_only_what_changed_is_sent(package, cache):
    first = await look(package, cache)
    padding = "".join(f"# {number * 7919}\n" for number in range(3000))
    (package / "srt/speculative/big.py").write_text(padding)
    with_padding = await look(package, cache)
    (package / "version.py").write_text('__version__ = "0.5.10"\n')
    changed = await look(package, cache)
    assert changed.tree.version == "0.5.10"
    assert changed.cost.received_bytes < with_padding.cost.received_bytes / 2
    assert set(changed.texts) == {*first.texts, "srt/speculative/big.py"}
    assert changed.tree.algorithms == with_padding.tree.algorithms
    eagle3 = changed.tree.algorithm("EAGLE3")
    assert eagle3 is not None
    assert eagle3.draft_architectures == ("AEagle3",)


async def test_what_another_reader_made_of_a_tree_is_made_anew(package, cache, monkeypatch):
    await look(package, cache)
    monkeypatch.setattr("specctl.adapters.source_cache.reader_digest", lambda: "other")
    again = await look(package, cache)
    assert not again.cost.is_from_cache


async def test_two_places_of_one_tree_share_it_and_keep_their_own(package, cache, tmp_path):
    other = tmp_path / "elsewhere" / "sglang"
    other.parent.mkdir()
    shutil.copytree(package, other)
    one, two = await look(package, cache), await look(other, cache)
    assert one.tree.tree_hash == two.tree.tree_hash
    assert (one.tree.path, two.tree.path) == (str(package), str(other))
    assert len(list((tmp_path / "cache").glob("*.tree"))) == 1


async def test_a_cache_that_is_damaged_or_cannot_be_written_is_no_failure(package, cache, tmp_path):
    first = await look(package, cache)
    for file in (tmp_path / "cache").iterdir():
        file.write_bytes(b"\x00broken")
    assert (await look(package, cache)).tree == first.tree
    (tmp_path / "flat").write_text("a file where the folder should be")
    nowhere = SourceCache(tmp_path / "flat" / "cache")
    assert (await look(package, nowhere)).tree == first.tree


async def test_any_file_is_fetched_once_and_none_outside(package, cache):
    (package / "srt/layers").mkdir()
    (package / "srt/layers/x.py").write_text("layer = 1\n")
    opened = await look(package, cache)
    assert await opened.file("srt/layers/x.py") == "layer = 1\n"
    (package / "srt/layers/x.py").unlink()
    assert await opened.file("srt/layers/x.py") == "layer = 1\n"
    for name in ("../../x", "/etc/passwd", "srt/none.py"):
        with pytest.raises(UsageError):
            await opened.file(name)


async def test_a_version_that_was_looked_at_can_be_had_again(package, cache, monkeypatch):
    await look(package, cache)
    monkeypatch.setattr(inspection, "SourceCache", lambda: cache)
    assert inspection.kept_versions() == ("0.5.9",)
    kept = inspection.kept_tree("0.5.9")
    assert kept is not None
    assert kept.tree.flag("--model") is not None
    assert ARGUMENTS in kept.texts
    with pytest.raises(UsageError, match="was not fetched"):
        await kept.file("srt/models/a.py")
    with pytest.raises(UsageError, match="needs the tree itself"):
        kept.search("x")
    assert inspection.kept_tree("0.9") is None


async def test_old_trees_leave_the_cache(package, cache, monkeypatch, tmp_path):
    monkeypatch.setattr("specctl.adapters.source_cache.TREES_MAX", 2)
    for number in range(4):
        (package / "version.py").write_text(f'__version__ = "0.5.{number}"\n')
        await look(package, cache)
    assert len(list((tmp_path / "cache").glob("*.tree"))) == 2
    assert len(list((tmp_path / "cache").glob("*.texts"))) == 2


# ------------------------------------------------------------------ what a host may answer


class Answers:
    """A stream of these items."""

    end: dict[str, object] = {}

    def __init__(self, *items):
        self._items = iter(items)

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self._items)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self):
        pass


def piece(part, content, *, is_last=True, data=None):
    packed = data if data is not None else zlib.compress(json.dumps(content).encode())
    return {"part": part, "data": base64.b64encode(packed).decode(), "is_last": is_last}


PLACE = {"place": {"path": "/x/sglang", "stamp": STAMP, "how": "installed"}}
TEXTS = piece("texts", {"names": ["version.py"], "texts": {"version.py": "__version__ = '1'\n"}})
FILES = piece("files", {"files": [[18, None, 1]]})


async def opened_from(cache, *items):
    opening = TreeOpening(
        "evil", "/p", {"python": "/p"}, lambda _op, **_: Answers(*items), cache=cache
    )
    return await opening.open()


async def test_a_plain_answer_is_read(cache):
    found = await opened_from(cache, PLACE, TEXTS, FILES)
    assert (found.tree.version, found.tree.path) == ("1", "/x/sglang")


@pytest.mark.parametrize(
    "items",
    [
        (),
        ({"place": {"path": 3}},),
        (PLACE,),
        (PLACE, TEXTS),
        (PLACE, FILES),
        (PLACE, {"part": 3}),
        (PLACE, {"part": "texts", "data": "!!!", "is_last": True}),
        (PLACE, piece("texts", None, data=b"not zlib")),
        (PLACE, piece("texts", [1]), FILES),
        (PLACE, piece("texts", None, data=zlib.compress(b"[" * 200_000)), FILES),
    ],
)  # fmt: skip
async def test_an_answer_that_is_none_is_an_error_of_the_agent(cache, items):
    with pytest.raises(AgentError, match="host evil"):
        await opened_from(cache, *items)


async def test_a_bomb_is_not_unpacked(cache, monkeypatch):
    monkeypatch.setattr("specctl.adapters.source_answers.UNPACKED_BYTES_MAX", 1 << 20)
    bomb = piece("texts", None, data=zlib.compress(b'{"x": "' + b"0" * (8 << 20) + b'"}'))
    with pytest.raises(AgentError, match="unpacked"):
        await opened_from(cache, PLACE, bomb, FILES)
    monkeypatch.setattr("specctl.adapters.source_answers.PACKED_BYTES_MAX", 100)
    with pytest.raises(AgentError, match="more than"):
        await opened_from(cache, PLACE, piece("texts", None, data=b"x" * 200), FILES)


async def test_a_host_cannot_claim_that_an_unknown_tree_is_unchanged(cache):
    claim = {"place": {**PLACE["place"], "is_unchanged": True}}
    with pytest.raises(AgentError, match="stops early"):
        await opened_from(cache, claim)


async def test_names_that_lead_out_are_left_out(cache):
    texts = {"../x.py": "bad = 1", "a\x1b[2J.py": "x", "version.py": "__version__ = '1'\n"}
    names = ["../x.py", "version.py"]
    found = await opened_from(
        cache, PLACE, piece("texts", {"names": names, "texts": texts}),
        piece("files", {"files": [[1, None, 1], [18, None, 1]]}),
    )  # fmt: skip
    assert set(found.texts) == {"version.py"}
    assert set(found.tree.files) == {"version.py"}


async def test_a_file_that_differs_from_what_was_listed_is_not_kept(cache, monkeypatch):
    digest = "cd" * 16
    files = piece("files", {"files": [[18, None, 1], [3, digest, 1]]})
    texts = piece("texts", {"names": ["version.py", "a.py"], "texts": {}})
    found = await opened_from(cache, PLACE, texts, files)
    other = Answers(piece("texts", {"texts": {"a.py": "other"}}))
    monkeypatch.setattr(tree_opening.TreeOpening, "ask", lambda *_, **__: other)
    assert await found.file("a.py") == "other"
    assert cache.file(digest) is None


# ------------------------------------------------------------------ a host


@pytest.fixture
async def connection(host):
    opened = await open_host(host)
    yield opened
    await close_host(opened)


async def test_the_tree_of_the_hosts_interpreter_is_the_active_one(connection, python, cache):
    found = await inspection.open_tree(connection, cache=cache)
    assert found.tree.path.startswith(str(Path(python).parents[1]))
    assert found.tree.version == "0.5.23"
    installs = await inspection.find_installs(connection)
    (active,) = [one for one in installs if one.is_active]
    assert (active.python, active.path, active.version) == (python, found.tree.path, "0.5.23")


async def test_an_interpreter_without_sglang_is_said(connection, cache):
    with pytest.raises(RemoteFailedError) as caught:
        await inspection.open_tree(connection, python="/nonexistent/python", cache=cache)
    assert "/nonexistent/python" in caught.value.message
    assert "remotes/here.toml" in caught.value.hint


async def test_several_without_a_word_which_would_run_are_listed(monkeypatch, cache):
    host = Host("bare", transport="local")
    opened = await open_host(host)

    async def call(_op, **_):
        row = {"how": "PATH", "version": "3.11"}
        package = {"path": "/x/sglang", "version": "0.5.9", "how": "installed"}
        return {
            "found": [{**row, "path": p, "sglang": package} for p in ("/a/python", "/b/python")]
        }

    try:
        monkeypatch.setattr(opened.agent, "call", call)
        with pytest.raises(UsageError, match=r"/a/python .*, /b/python"):
            await inspection.open_tree(opened, cache=cache)
    finally:
        await close_host(opened)
