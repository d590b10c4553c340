"""A link opened in the user's browser, out of sight of other users of the machine."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from specctl.adapters.browser import show_page
from specctl.domain.errors import SpecctlError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PAGE = (
    '<!DOCTYPE html><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0; url={link}">\n'
)


@asynccontextmanager
async def opened(link: str) -> AsyncIterator[str]:
    """The browser is sent to a file that only this user can read, and by that to `link`.

    Yields why there is no browser, or nothing. A program's arguments can be read by every user
    of the machine: the link is not among them. The file is there while the block runs.
    """
    with TemporaryDirectory(prefix="specctl-web-") as folder:
        page = Path(folder) / "open.html"
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(link=escape(link)), encoding="utf-8")
        try:
            await asyncio.to_thread(show_page, page)
        except SpecctlError as error:
            yield error.message
        else:
            yield ""
