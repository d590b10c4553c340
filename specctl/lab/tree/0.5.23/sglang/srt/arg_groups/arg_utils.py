"""How a field of a flag group says what its flag is like."""

from typing import Annotated, Any

import msgspec

A = Annotated


class Arg(msgspec.Struct, frozen=True):
    """What the annotation of a field adds to its type."""

    help: str = ""
    choices: list | None = None
    aliases: list | None = None
    cli_name: str | None = None
    no_cli: bool = False
    action: Any = None
    type_parser: Any = None
    nargs: str | None = None
