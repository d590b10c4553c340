from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.editing import edit, editor_words
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, ["vi"]),
        ({"EDITOR": "nano"}, ["nano"]),
        ({"EDITOR": "nano", "VISUAL": "code --wait"}, ["code", "--wait"]),
        ({"EDITOR": "nano", "VISUAL": " "}, ["nano"]),
        ({"EDITOR": "'/opt/my editor/ed' -x"}, ["/opt/my editor/ed", "-x"]),
    ],
)
def test_the_editor_is_the_users(environ: dict[str, str], words: list[str]) -> None:
    assert editor_words(environ) == words


def test_an_editor_that_cannot_be_read_is_named() -> None:
    with pytest.raises(UsageError, match="EDITOR cannot be read"):
        editor_words({"EDITOR": "vi 'unclosed"})


def program(folder: Path, text: str) -> str:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


async def test_the_file_is_edited_while_other_work_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "a b.toml"
    editor = program(tmp_path, 'until [ -e "$1.go" ]; do sleep 0.01; done; echo done > "$1"')
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1
            if beats == 5:
                (tmp_path / "a b.toml.go").touch()

    async with asyncio.TaskGroup() as group:
        other = group.create_task(beat())
        status = await edit(file, {"EDITOR": editor})
        other.cancel()

    assert (status, file.read_text()) == (0, "done\n")
    assert beats >= 5


async def test_how_it_ended_is_told(tmp_path: Path) -> None:
    assert await edit(tmp_path / "x", {"EDITOR": program(tmp_path, "exit 3")}) == 3


async def test_an_editor_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="/nowhere/ed cannot be started") as caught:
        await edit(tmp_path / "x", {"EDITOR": "/nowhere/ed"})
    assert "$EDITOR" in caught.value.hint


async def test_an_interrupt_is_the_editors_alone(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    editor = program(tmp_path, f"kill -INT {os.getpid()}; kill -INT $$; sleep 30")

    status = await edit(tmp_path / "x", {"EDITOR": editor})

    assert status == -signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is before
