"""The texts the lab's model continues, by category; written for it."""

from __future__ import annotations

from importlib import resources

CATEGORIES = ("chat", "code", "structured", "quote", "maths", "repetition", "novel")
"""As the workloads name them."""

_BETWEEN = "\n%%\n"


def read_documents(category: str) -> tuple[str, ...]:
    """The documents of a category; raises FileNotFoundError for one there is not."""
    folder = resources.files("specctl.lab.corpus")
    text = (folder / f"{category}.txt").read_text(encoding="utf-8")
    return tuple(text.rstrip("\n").split(_BETWEEN))


def read_classes() -> tuple[tuple[str, ...], ...]:
    """Words that can stand for each other, a class each."""
    text = (resources.files("specctl.lab.corpus") / "classes.txt").read_text(encoding="utf-8")
    return tuple(tuple(line.split()) for line in text.splitlines())
