"""What is known an installed tree by, where it can be read in passing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.services.inspection import open_tree

if TYPE_CHECKING:
    from specctl.services.connection import Connection

PATIENCE_S = 20.0


async def hash_of_tree(connection: Connection, python: str | None = None) -> str | None:
    """The hash of the sources that `python` would run; None where they are not to be had.

    A tenth of a second for a tree that was looked at before, a second or more for a new one.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            return (await open_tree(connection, python=python)).tree.tree_hash
    except (SpecctlError, TimeoutError, OSError):  # it is evidence that nothing waits for
        return None
