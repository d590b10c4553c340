"""Screens as pictures: `python -m tests.tui.shoot OUT_DIR [NAME…]`."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cairosvg
from rich.console import Console

from tests.tui.all_scenes import SCENES

if TYPE_CHECKING:
    from textual.app import App

CELL_W, CELL_H, FONT_SIZE, EDGE = 12.2, 24.4, 20.2, 12.2
CELL = r"(?:[\u2800-\u28ff]|&#160;)*"
BRAILLE = re.compile(
    rf'<text class="([^"]*)" x="([\d.]+)" y="([\d.]+)"[^>]*>({CELL}[\u2800-\u28ff]{CELL})</text>'
)
"""DejaVu Sans Mono has no braille: it is drawn."""

BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))

FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", monospace; font-size: 20.2px;
  line-height: {line_height}px; font-variant-ligatures: none; white-space: pre; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect fill="GROUND" x="0" y="0" width="100%" height="100%"/>
<g transform="translate(12.2, 12.2)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>"""


def svg(app: App[int], size: tuple[int, int]) -> str:
    """What the compositor would send to a terminal, as SVG without web fonts."""
    console = Console(
        width=size[0],
        height=size[1],
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
        safe_box=False,
    )
    update = app.screen._compositor.render_update(full=True, screen_stack=app._background_screens)
    console.print(update)
    ground = app.get_css_variables()["background"]
    text = console.export_svg(title="", code_format=FORMAT.replace("GROUND", ground))
    width, height = size[0] * CELL_W + 2 * EDGE, size[1] * CELL_H + 2 * EDGE
    text = BRAILLE.sub(_dots, text)
    head, _, tail = text.partition('viewBox="')
    box = f'viewBox="0 0 {width:.1f} {height:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return head + box + tail[tail.index('"') + 1 :]


def _dots(match: re.Match[str]) -> str:
    """A run of braille as small squares."""
    name, x, y = match[1], float(match[2]), float(match[3])
    out = []
    for i, char in enumerate(match[4].replace("&#160;", " ")):
        for r, sides in enumerate(BITS):
            for c, bit in enumerate(sides):
                if char != " " and (ord(char) - 0x2800) & bit:
                    left, top = x + i * CELL_W + 2 + c * 6.1, y - 17 + r * 5.6
                    box = f'x="{left:.1f}" y="{top:.1f}" width="2.6" height="2.6"'
                    out.append(f'<rect class="{name}" {box}/>')
    return "".join(out)


async def shoot(name: str, folder: Path) -> Path:
    """One picture."""
    scene = SCENES[name]
    app = scene.app()
    async with app.run_test(size=scene.size, notifications=True) as pilot:
        await pilot.pause()
        await scene.prepare(pilot)
        await pilot.pause()
        text = svg(app, scene.size)
    path = folder / f"{name}.png"
    (folder / f"{name}.svg").write_text(text)
    cairosvg.svg2png(
        bytestring=text.encode(), write_to=str(path), output_width=scene.size[0] * 12 + 24
    )
    return path


def main() -> None:
    """Every picture, or those whose names begin with a word given."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCENES:
        if not sys.argv[2:] or any(name.startswith(word) for word in sys.argv[2:]):
            print(asyncio.run(shoot(name, folder)))


if __name__ == "__main__":
    main()
