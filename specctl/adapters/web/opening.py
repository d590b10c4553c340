"""A link opened in the user's browser, out of sight of other users of the machine."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PAGE = (
    '<!DOCTYPE html><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={link}">\n'
)


@asynccontextmanager
async def opened(link: str) -> AsyncIterator[bool]:
    """The browser is sent to a file that only this user can read, and by that to `link`.

    Yields whether there is a browser.

    A program's arguments can be read by every user of the machine: the link is not among them.
    The file is there while the block runs.
    """
    with TemporaryDirectory(prefix="specctl-web-") as folder:
        page = Path(folder) / "open.html"
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(link=escape(link)), encoding="utf-8")
        yield _has_display() and await asyncio.to_thread(webbrowser.open, page.as_uri())


def _has_display() -> bool:
    """Without one a browser for terminals would take this one."""
    names = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform != "linux" or any(os.environ.get(name) for name in names)
