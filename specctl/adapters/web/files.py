"""What the page is made of: textual-serve's terminal, and three files of our own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_JS, _CSS, _FONT, _SVG = "text/javascript", "text/css", "font/ttf", "image/svg+xml"


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is sent."""

    content_type: str
    body: bytes


def read_files() -> dict[str, File]:
    """Everything that can be asked for by name; there is nothing else."""
    theirs, ours = files("textual_serve") / "static", files("specctl.adapters.web") / "page"
    found: dict[str, tuple[str, Traversable]] = {
        "textual.js": (_JS, theirs / "js/textual.js"),
        "xterm.css": (_CSS, theirs / "css/xterm.css"),
        "RobotoMono.ttf": (_FONT, theirs / "fonts/RobotoMono-VariableFont_wght.ttf"),
        "RobotoMono-Italic.ttf": (_FONT, theirs / "fonts/RobotoMono-Italic-VariableFont_wght.ttf"),
        "page.js": (_JS, ours / "page.js"),
        "page.css": (_CSS, ours / "page.css"),
        "icon.svg": (_SVG, ours / "icon.svg"),
    }
    return {name: File(kind, path.read_bytes()) for name, (kind, path) in found.items()}


def read_page() -> Template:
    """The page, with places for `nonce` and `mode`."""
    return Template((files("specctl.adapters.web") / "page/page.html").read_text("utf-8"))
