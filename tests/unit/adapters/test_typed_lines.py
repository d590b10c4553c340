from __future__ import annotations

import pytest

from specctl.adapters.typed_lines import MOST, TypedLines
from specctl.domain.errors import SpecctlError


def test_lines_are_kept_for_the_next_session_and_for_nobody_else(tmp_path):
    path = tmp_path / "state" / "typed"
    assert TypedLines(path).read() == []
    TypedLines(path).add("host lab-1")
    TypedLines(path).add("filter \x1b[2Jgpu\nutil<5")
    assert [line.isprintable() for line in TypedLines(path).read()] == [True] * 2
    assert TypedLines(path).read()[0] == "host lab-1"
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_newest_are_kept(tmp_path):
    kept = TypedLines(tmp_path / "typed")
    for n in range(2 * MOST + 1):
        kept.add(f"host lab-{n}")
    lines = kept.read()
    assert len(lines) == MOST
    assert lines[-1] == f"host lab-{2 * MOST}"
    assert len((tmp_path / "typed").read_text().splitlines()) == MOST
    assert (tmp_path / "typed").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["typed"]


def test_a_file_that_cannot_be_read_or_written_says_so(tmp_path):
    for ask in (lambda kept: kept.read(), lambda kept: kept.add("x")):
        with pytest.raises(SpecctlError, match="Is a directory") as caught:
            ask(TypedLines(tmp_path))
        assert "for this session only" in caught.value.hint
