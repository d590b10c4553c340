"""A profile from launch text of any kind that is understood."""

from __future__ import annotations

from specctl.adapters.compose import launch_of_compose, looks_like_compose
from specctl.domain.importing import Draft, draft_from_launch, draft_from_text
from specctl.domain.systemd_unit import looks_like_unit


def draft_from_any(text: str) -> Draft:
    """Choose the reader by what the text looks like."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not looks_like_unit(text) and looks_like_compose(text):
        return draft_from_launch(launch_of_compose(text))
    return draft_from_text(text)
