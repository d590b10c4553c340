"""Searches files for a pattern, in a process of its own that can be killed: no other stops `re`.

Reads one JSON request, writes JSON lines: `{"at": file}` before each file, `{"file", "line",
"text"}` for each match.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Dict

LINE_MAX = 2000
"""Characters of a line that are looked at."""

SHOWN_MAX = 400


def main() -> None:
    """Search until all files are seen or enough is found."""
    os.nice(10)
    request: Dict[str, Any] = json.load(sys.stdin)
    pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    left = request["matches_max"]
    for name in request["files"]:
        _say({"at": name})
        for number, line in _lines(os.path.join(request["root"], name), request["bytes_max"]):
            if pattern.search(line, 0, LINE_MAX):
                if left <= 0:
                    _say({"truncated": "matches"})
                    return
                left -= 1
                _say({"file": name, "line": number, "text": line[:SHOWN_MAX]})


def _lines(path: str, limit: int) -> Any:
    try:
        with open(path, "rb") as file:
            data = file.read(limit)
    except OSError:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        yield number, line.rstrip("\r")


def _say(message: Dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
