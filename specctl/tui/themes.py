"""The five themes: every colour on the screen comes from this table, by token."""

from __future__ import annotations

from textual.theme import Theme

NAMES = ("dark", "light", "contrast", "cvd", "mono")

TOKENS: dict[str, tuple[str, str, str, str, str]] = {
    # token          dark       light      contrast   cvd        mono
    "background": ("#0f1216", "#fbfaf8", "#000000", "#0f1216", "#101010"),
    "surface": ("#15191f", "#f2f0ec", "#000000", "#15191f", "#181818"),
    "panel": ("#1b2129", "#e8e5df", "#1a1a1a", "#1b2129", "#222222"),
    "foreground": ("#d6dce4", "#23282f", "#ffffff", "#d6dce4", "#dadada"),
    "bright": ("#f4f7fa", "#0b0e12", "#ffffff", "#f4f7fa", "#ffffff"),
    "dim": ("#9aa5b3", "#4d5661", "#d0d0d0", "#9aa5b3", "#a8a8a8"),
    "faint": ("#76828f", "#656e78", "#b0b0b0", "#76828f", "#808080"),
    "stale": ("#85909e", "#606a75", "#bcbcbc", "#85909e", "#8e8e8e"),
    "border": ("#38424e", "#b9bfc7", "#8a8a8a", "#38424e", "#4a4a4a"),
    "focus": ("#5d83bd", "#4a74c0", "#7fc4ff", "#9aa3ad", "#b0b0b0"),
    "track": ("#2e3641", "#c6cbd1", "#6a6a6a", "#2e3641", "#404040"),
    "select": ("#1c2838", "#dbe6f5", "#003a75", "#1c2838", "#363636"),
    "primary": ("#79a8f0", "#2358b8", "#7fc4ff", "#e6e9ed", "#ffffff"),
    "data": ("#4aa39a", "#2b8a7e", "#35c9ba", "#7089a0", "#b4b4b4"),
    "data-2": ("#7d8fa8", "#71839b", "#9fb4d1", "#61768c", "#808080"),
    "ref": ("#c39ae8", "#7a3cae", "#e3b3ff", "#f0cbe2", "#ffffff"),
    "success": ("#8ed08f", "#26732d", "#5dff6b", "#56b4e9", "#e4e4e4"),
    "warning": ("#e3b04b", "#875900", "#ffd23e", "#f0e442", "#f4f4f4"),
    "error": ("#ea5f68", "#bf2734", "#ff7b7b", "#f07c3a", "#ffffff"),
    "warn-fill": ("#2e2615", "#faf0d7", "#332a00", "#2d2c12", "#2a2a2a"),
    "syn-word": ("#a9b8cc", "#3d4f66", "#ffffff", "#a9b8cc", "#d8d8d8"),
    "syn-text": ("#8fbcae", "#22695f", "#9ff5e8", "#9fb1c4", "#bdbdbd"),
    "syn-num": ("#b7a6d6", "#6a4391", "#e3b3ff", "#cbb4c4", "#cfcfcf"),
    "bad-fill": ("#331a1e", "#fbe3e4", "#3d0000", "#331d10", "#333333"),
}

SHARED = {"background", "surface", "panel", "foreground", "primary", "success", "warning", "error"}
"""Tokens that every Textual theme has too; the others are ours."""

STYLES = {
    # span token: theme variable, then flags of rich's Style
    "text": "foreground",
    "title": "foreground bold",
    "bright": "bright bold",
    "strong": "bright",
    "dim": "dim",
    "faint": "faint",
    "stale": "stale italic",
    "border": "border",
    "focus": "focus",
    "track": "track",
    "accent": "primary",
    "key": "primary bold",
    "prompt": "primary bold",
    "crumb": "dim",
    "here": "bright bold",
    "tab": "faint",
    "button": "foreground",
    "chosen": "primary bold reverse",
    "data": "data",
    "data2": "data-2",
    "ref": "ref",
    "ok": "success",
    "warn": "warning",
    "bad": "error",
    "okb": "success bold",
    "warnb": "warning bold",
    "badb": "error bold",
    "badge": "foreground reverse",
    "warnbadge": "warning bold reverse",
    "keybox": "primary bold reverse",
    "strike": "faint strike",
    "word": "syn-word bold",
    "string": "syn-text",
    "num": "syn-num",
    "comment": "faint italic",
}

ON_GROUND = {"faint": "dim", "stale": "dim"}
"""On the ground of a chosen or marked row these would be too weak to read."""

BARE = {
    # span token: flags that stand for its colour where the terminal is to have none
    "strong": "bold", "accent": "bold", "focus": "bold", "warn": "bold", "bad": "bold underline",
    "badb": "underline", "faint": "dim", "stale": "dim", "border": "dim", "track": "dim",
    "tab": "dim", "data2": "dim", "strike": "dim", "comment": "dim",
}  # fmt: skip
BARE_GROUNDS = {"panel": "underline", "bad-fill": ""}
"""The same for grounds; every other one is reversed text."""


def column(name: str) -> dict[str, str]:
    """Token to colour of the theme called `name`."""
    index = NAMES.index(name)
    return {token: colours[index] for token, colours in TOKENS.items()}


def theme(name: str) -> Theme:
    """The Textual theme of that name, registered as `specctl-NAME`."""
    colours = column(name)
    return Theme(
        name=f"specctl-{name}",
        dark=name != "light",
        primary=colours["primary"],
        secondary=colours["data-2"],
        accent=colours["primary"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        variables={token: colour for token, colour in colours.items() if token not in SHARED},
    )


def own_defaults() -> dict[str, str]:
    """Our own tokens for themes that do not have them, such as Textual's."""
    return {token: colour for token, colour in column("dark").items() if token not in SHARED}
