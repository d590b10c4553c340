"""The first run: how to come by a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl import __version__
from specctl.domain import figures
from specctl.domain.errors import SpecctlError
from specctl.tui.arrange import Place, Places, is_short
from specctl.tui.editor import Editor
from specctl.tui.later import Later
from specctl.tui.panel import Panel
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import BLANK, Drawing, Line, spread, width
from specctl.tui.render.welcome import draw_welcome
from specctl.tui.screen import PanelScreen, bindings

if TYPE_CHECKING:
    from textual import events

    from specctl.tui.scene import Scene

WIDTH, HEIGHT = 88, 24


class WelcomePanel(Panel):
    """What there is to choose from."""

    def __init__(self, folder: str) -> None:
        super().__init__(id="welcome")
        self.folder = folder
        self.problem = ""
        self.going_since_s: float | None = None
        """When the lab began to be brought up."""

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The choices, and what went wrong with the last one."""
        going = ""
        if self.going_since_s is not None:
            elapsed = figures.spoken(scene.clock_s - self.going_since_s)
            going = f"The lab is being brought up, {elapsed}"
        return draw_welcome(
            __version__, self.folder, cells, rows, going=going, problem=self.problem
        )


class WelcomeScreen(PanelScreen):
    """No workspace was found."""

    where = "welcome"
    AUTO_FOCUS = "#welcome"
    BINDINGS = bindings("welcome")

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.choices = WelcomePanel(folder)
        self.path: Editor | None = None
        self.prompt = self._bar

    def panels(self) -> list[Panel]:
        """The one panel."""
        return [self.choices]

    @property
    def is_typing(self) -> bool:
        """A path is."""
        return self.path is not None

    def places(self, cells: int, rows: int) -> Places:
        """In the middle."""
        if is_short(rows):
            return {"welcome": Place(0, 1, cells, rows - 2)}
        height = HEIGHT
        return {"welcome": Place((cells - WIDTH) // 2, (rows - height) // 2, WIDTH, height)}

    def crumbs(self) -> list[str]:
        """Nowhere yet."""
        return ["Welcome"]

    def _bar(self, cells: int) -> Line:
        if self.path is not None:
            right = [*hints([("enter", "opens it"), ("esc", "cancel")]), BLANK]
            return spread(
                [(" folder: ", "prompt"), *self.path.line(cells - width(right) - 9)], right, cells
            )
        return spread(
            [BLANK, *hints([("i", "init"), ("l", "lab"), ("o", "open"), ("q", "quit")])],
            [("?", "key"), (" help ", "dim")],
            cells,
        )

    def on_key(self, event: events.Key) -> None:
        """The choices have their own letters; a path is typed over the footer."""
        if self.path is not None:
            event.stop()
            event.prevent_default()
            self._type(event)
        elif event.key == "i":
            self.specctl.open_folder(self.choices.folder, create=True)
        elif event.key == "l" and self.choices.going_since_s is None:
            self.run_worker(Later(self._try_lab), group="lab")
        elif event.key == "o":
            self.path = Editor()
        self.repaint()

    async def _try_lab(self) -> None:
        """Bring it up; the app notices by itself once it answers."""
        choices, app = self.choices, self.specctl
        choices.going_since_s, choices.problem = app.scene.clock_s, ""
        self.repaint()
        try:
            await app.try_lab()
        except SpecctlError as error:
            self.refused(f"{error.message}. {error.hint}")
        finally:
            choices.going_since_s = None

    def _type(self, event: events.Key) -> None:
        if self.path is None:
            return
        if event.key == "escape":
            self.path = None
        elif event.key == "enter":
            typed, self.path = self.path.text, None
            if typed:
                self.specctl.open_folder(typed, create=False)
        else:
            self.path = self.path.key(event.key, event.character) or self.path

    def refused(self, words: str) -> None:
        """Say why the last choice did not work."""
        self.choices.problem, self.choices.going_since_s = words, None
        self.repaint()
