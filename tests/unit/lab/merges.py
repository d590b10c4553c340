"""Learn the tokenizer's merges again, after a text of the corpus changed.

python -m tests.unit.lab.merges
"""

from __future__ import annotations

from pathlib import Path

import specctl.lab.data
from specctl.lab.corpus import CATEGORIES, read_classes, read_documents
from specctl.lab.merging import Pair, learn_merges
from specctl.lab.tokenizer import split_words

MOST = 9000
FILE = Path(specctl.lab.data.__path__[0]) / "merges.txt"


def learn() -> list[Pair]:
    """From every document, and from every word that may take another's place."""
    words = [
        word
        for category in CATEGORIES
        for document in read_documents(category)
        for word in split_words(document)
    ]
    for equals in read_classes():
        for word in equals:
            words += [*split_words(f" {word}"), *split_words(word.capitalize())]
    return learn_merges(words, MOST)


if __name__ == "__main__":
    FILE.write_text("".join(f"{first} {second}\n" for first, second in learn()), encoding="utf-8")
