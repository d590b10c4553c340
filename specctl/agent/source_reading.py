"""The `tree_read` op: whole files of a tree, only those whose real path is inside it."""

from __future__ import annotations

from typing import Any, Dict, Generator

from . import asked
from .files import open_regular
from .protocol import OpError, describe
from .source_tree import pieces
from .source_walk import real_inside

FILES_MAX = 500


def read(params: Dict[str, Any], cancelled: Any) -> Generator[Dict[str, Any], None, Dict[str, Any]]:
    """Packed as the `tree` op packs: `{texts: {name: text}, errors: {name: words}}`."""
    del cancelled
    root = asked.text(params, "root")
    limit = asked.integer(params, "file_bytes_max", 4 << 20)
    texts: Dict[str, str] = {}
    errors: Dict[str, str] = {}
    for name in asked.texts(params, "files")[:FILES_MAX]:
        try:
            with open_regular(real_inside(root, name)) as file:
                data = file.read(limit + 1) or b""
        except (OSError, OpError) as error:
            errors[name] = describe(error)["message"]
        except ValueError as error:
            errors[name] = str(error)
        else:
            if len(data) > limit:
                errors[name] = "larger than %d bytes" % limit
            else:
                texts[name] = data.decode("utf-8", "surrogateescape")
    yield from pieces("texts", {"texts": texts, "errors": errors})
    return {}
