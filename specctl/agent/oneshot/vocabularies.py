"""Two directories' vocabulary files compared where they lie: they are too large to be sent."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import Any, Dict, List, Optional, Tuple

FILES = ("tokenizer.json", "tiktoken.model", "tokenizer.model", "vocab.json")
"""Of a directory the first that is there counts."""

LARGEST_BYTES = 64 << 20
EXAMPLES = 3


class VocabularyError(Exception):
    """A file that cannot be read as a vocabulary."""


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Compare `request["target"]` with `request["draft"]`, both directories.

    Answer: same_file, entries (of each), differing (ids), examples, hashed_bytes, why; None where
    it cannot be told, and `why` not.
    """
    answer: Dict[str, Any] = {
        "same_file": None, "entries": None, "differing": None, "examples": [],
        "hashed_bytes": 0, "why": None,
    }  # fmt: skip
    try:
        found = [_read(request[side]) for side in ("target", "draft")]
        answer["hashed_bytes"] = sum(len(data) for _, data in found)
        answer["same_file"] = _sha256(found[0][1]) == _sha256(found[1][1])
        if not answer["same_file"]:
            _compare(answer, found)
    except (VocabularyError, OSError) as error:
        answer["why"] = _words(error)
    return answer


def _words(error: Exception) -> str:
    if isinstance(error, OSError):
        return "%s: %s" % (error.filename, error.strerror)
    return str(error)


def _read(directory: str) -> Tuple[str, bytes]:
    for name in FILES:
        path = os.path.join(os.path.expanduser(directory), name)
        if not os.path.exists(path):
            continue
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_BYTES:
            raise VocabularyError("%s is no file, or larger than %d bytes" % (path, LARGEST_BYTES))
        with open(path, "rb") as file:
            return name, file.read(LARGEST_BYTES)
    raise VocabularyError("%s has no vocabulary file" % directory)


def _compare(answer: Dict[str, Any], found: List[Tuple[str, bytes]]) -> None:
    (name, first), (other, second) = found
    if name != other or not name.endswith(".json"):
        answer["why"] = "%s and %s differ and cannot be taken apart here" % (name, other)
        return
    mine, theirs = ids_of(first), ids_of(second)
    differing = sorted(i for i in mine.keys() | theirs.keys() if mine.get(i) != theirs.get(i))
    answer["entries"] = [len(mine), len(theirs)]
    answer["differing"] = len(differing)
    answer["examples"] = [
        "%d is %s in the target, %s in the draft" % (i, _shown(mine.get(i)), _shown(theirs.get(i)))
        for i in differing[:EXAMPLES]
    ]


def _shown(token: Optional[str]) -> str:
    return "nothing" if token is None else json.dumps(token[:24])


def ids_of(data: bytes) -> Dict[int, str]:
    """Id to token, of a tokenizer.json or a vocab.json."""
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise VocabularyError("no JSON: %s" % error) from error
    if not isinstance(found, dict):
        raise VocabularyError("no JSON object")
    model = found.get("model", {"vocab": found})
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    ids = {i: token for token, i in _pairs(vocabulary) if type(i) is int}
    for row in found.get("added_tokens") or []:
        if isinstance(row, dict) and type(row.get("id")) is int:
            ids[row["id"]] = str(row.get("content"))
    if not ids:
        raise VocabularyError("no vocabulary in it")
    return ids


def _pairs(vocabulary: Any) -> List[Tuple[str, Any]]:
    """A mapping of tokens to ids, or (Unigram) a list of tokens and scores."""
    if isinstance(vocabulary, dict):
        return list(vocabulary.items())
    rows = vocabulary if isinstance(vocabulary, list) else []
    return [(str(row[0]), i) for i, row in enumerate(rows) if isinstance(row, list) and row]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
