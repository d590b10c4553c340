"""From what a span means to how it looks, in one theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from specctl.tui.themes import BARE, BARE_GROUNDS, ON_GROUND, STYLES

if TYPE_CHECKING:
    from collections.abc import Mapping


class Palette:
    """Span token to style, from one theme's variables."""

    def __init__(
        self, theme: str, variables: Mapping[str, str], *, has_colour: bool = True
    ) -> None:
        self.theme = theme
        self.has_colour = has_colour
        self._variables = variables
        self._styles: dict[str, Style] = {}

    def __call__(self, token: str) -> Style:
        """The style of `token`, or of `token on ground`."""
        style = self._styles.get(token)
        if style is None:
            make = self._make if self.has_colour else self._bare
            style = self._styles[token] = make(token)
        return style

    def _make(self, token: str) -> Style:
        name, _, ground = token.partition(" on ")
        colour, *flags = STYLES[name or "text"].split()
        if "reverse" in flags:
            return Style(
                color=self._variables["background"],
                bgcolor=self._variables[colour],
                bold="bold" in flags,
            )
        seen = ON_GROUND.get(colour, colour) if ground else colour
        return Style(
            color=self._variables[seen],
            bgcolor=self._variables[self._ground(ground)] if ground else None,
            bold="bold" in flags or None,
            italic="italic" in flags or None,
            strike="strike" in flags or None,
        )

    @staticmethod
    def _bare(token: str) -> Style:
        """What stands for the colours of `token`: brightness, lines and reversal."""
        name, _, ground = token.partition(" on ")
        flags = {*STYLES[name or "text"].split()[1:], *BARE.get(name, "").split()}
        if ground:
            flags.update(BARE_GROUNDS.get(ground, "reverse").split())
        return Style(
            bold="bold" in flags or None,
            dim="dim" in flags or None,
            italic="italic" in flags or None,
            underline="underline" in flags or None,
            strike="strike" in flags or None,
            reverse="reverse" in flags or None,
        )

    @staticmethod
    def _ground(name: str) -> str:
        return STYLES[name].split()[0] if name in STYLES else name
