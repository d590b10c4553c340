"""The one place that turns argv into text for a login shell, whichever shell that is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BARE = re.compile(r"[A-Za-z0-9_./:,+@-]+", re.ASCII)
"""No shell gives these a meaning of its own."""

_AGREED = re.compile(r"(?:(?!['\\!])[ -~])*", re.ASCII)
"""All shells read these alike in single quotes; fish differs on `\\`, csh on `!`."""

_RUN = 'exec "$@"'
"""Not the login shell's own function, alias or builtin of that name: the program."""

_DECODE_AND_RUN = 'eval "$(printf %b "$@")"'
_WORD_CHARS = 500
"""The words of a command stay under the 1024 characters that BSD csh holds in one."""


def quote_for_any_shell(argv: Sequence[str]) -> str:
    """One simple command that sh, bash, zsh, ksh, fish, csh and tcsh all read as `argv`."""
    if all(_AGREED.fullmatch(argument) for argument in argv):
        return " ".join(_quote(word) for word in ("/bin/sh", "-c", _RUN, "sh", *argv))
    return " ".join(("/bin/sh", "-c", _quote(_DECODE_AND_RUN), "sh", *_encode(argv)))


def _quote(word: str) -> str:
    return word if _BARE.fullmatch(word) else f"'{word}'"


def _encode(argv: Sequence[str]) -> Iterator[str]:
    r"""`exec` and `argv` as /bin/sh reads them, in words that `printf %b` puts together again.

    Outside quotes every shell takes `\\` for one backslash, so an escape is `\\0ooo`.
    """
    word = ""
    for byte in _posix_command(argv).encode("utf-8", "surrogateescape"):
        character = chr(byte)
        word += character if _BARE.fullmatch(character) else f"\\\\0{byte:03o}"
        if len(word) > _WORD_CHARS:
            yield word
            word = ""
    if word:
        yield word


def _posix_command(argv: Sequence[str]) -> str:
    return "exec " + " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in argv)
