"""What all screens share: header, panels placed by a pure function, footer, actions by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen

from specctl.tui import arrange
from specctl.tui.actions import BY_ID, Target, actions_on, refusal
from specctl.tui.bars import Footer, GuideBar, Header, TooSmall
from specctl.tui.colourless import behind
from specctl.tui.panel import Painted, Panel, repaint_touched
from specctl.tui.pressing import press
from specctl.tui.render.hits import ACTION
from specctl.tui.render.lines import Line, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from textual import events
    from textual.app import ComposeResult

    from specctl.tui.application import SpecctlApp
    from specctl.tui.arrange import Place, Places
    from specctl.tui.panel import Kinds

Prompt = Callable[[int], Line]
"""Draws what covers the footer, for a width."""

Answer = TypeVar("Answer")

BY_TEXTUAL = {
    "panel.next",
    "panel.previous",
    "panel.number",
    "app.quit",
    "palette.open",
    "app.suspend",
}
"""Bound elsewhere: by Textual, or once for each number."""


def bindings(screen: str) -> list[BindingType]:
    """The bindings of a screen, from the table of actions."""
    out: list[BindingType] = [
        Binding(",".join(a.keys), f"act('{a.id}')", a.title, id=a.id, show=False)
        for a in actions_on(screen)
        if a.keys and a.id not in BY_TEXTUAL
    ]
    return [
        *out,
        *(Binding(n, f"panel('{n}')", "panel", show=False) for n in BY_ID["panel.number"].keys),
    ]


class PanelScreen(Screen[None]):
    """A screen of panels; subclasses say which panels, and where they stand."""

    where: ClassVar[str] = ""
    """Its name in the table of actions."""

    def __init__(self) -> None:
        super().__init__()
        self.zoomed: str | None = None
        self.prompt: Prompt | None = None
        self._painted: tuple[Painted, ...] = ()

    @property
    def specctl(self) -> SpecctlApp:
        """The app, by its own type."""
        return cast("SpecctlApp", self.app)

    @property
    def stage(self) -> str:
        """What it has come to, for the guide; its name where it is always the same."""
        return self.where

    def compose(self) -> ComposeResult:
        """Header, panels, the guide, footer."""
        yield Header(classes="header")
        yield from self.panels()
        yield TooSmall(classes="too-small")
        yield GuideBar(classes="guide")
        yield Footer(classes="footer")

    def panels(self) -> list[Panel]:
        """The panels, made once, in reading order."""
        raise NotImplementedError

    def places(self, cells: int, rows: int) -> Places:
        """Where the panels stand at a size."""
        raise NotImplementedError

    def crumbs(self) -> list[str]:
        """The way here."""
        raise NotImplementedError

    def target(self) -> Target:
        """What actions act on."""
        return Target(read_only=self.specctl.scene.read_only)

    def status(self) -> Line | None:
        """What the footer says instead of how live the host is."""
        return None

    def on_mount(self) -> None:
        """Stand the panels up before the first paint."""
        self.place()

    def on_resize(self, event: events.Resize) -> None:
        """Stand the panels up again."""
        del event
        self.place()

    def on_screen_resume(self) -> None:
        """What changed while another screen was in front."""
        self.place()
        self.repaint()
        self.specctl.note_visit(self)

    def parked(self) -> None:
        """It is on no way to the screen in front any more, and may be visited again."""

    def brought_back(self) -> None:
        """It is on the way to the screen in front again, as it was left."""

    def place(self) -> None:
        """Put every panel where it stands at this size, and hide the others."""
        cells, rows = self.app.size
        if cells == 0:
            return
        small = arrange.is_too_small(cells, rows)
        taken = sum(bar.stand(rows - 2, hidden=small) for bar in self.query(GuideBar))
        places = {} if small else self._places(cells, rows - taken)
        for panel in self.query(Panel):
            place = places.get(panel.id or "")
            panel.display = place is not None
            if place is not None:
                stand(panel, place)
        for widget in self.query(TooSmall):
            widget.display = small
        self.arranged()

    def _places(self, cells: int, rows: int) -> Places:
        if self.zoomed is not None:
            return arrange.zoomed(self.zoomed, cells, rows)
        return self.places(cells, rows)

    def arranged(self) -> None:
        """The panels were placed."""

    def repaint(self) -> None:
        """Have every panel in sight paint what differs; a guide that ends gives its row back."""
        if any(bar.is_out_of_place for bar in self.query(GuideBar)):
            self.place()
        for widget in self.query(Painted):
            widget.repaint()

    def repaint_touched(self, heard: Kinds) -> None:
        """Where only numbers went on: have those paint what differs that show them."""
        if not self._painted:  # none comes or goes while the screen lasts
            self._painted = tuple(self.query(Painted))
        repaint_touched(self._painted, heard)

    @property
    def panel(self) -> Panel | None:
        """The focused panel."""
        return self.focused if isinstance(self.focused, Panel) else None

    def action_act(self, name: str) -> None:
        """Do the action `name`, or say why it cannot be done."""
        action = BY_ID[name]
        reason = self.specctl.off(action) or refusal(action, self.target())
        if reason:
            self.specctl.refuse(action, reason)
            return
        handler = self.handler(name)
        if handler is not None:
            handler()

    def handler(self, name: str) -> Callable[[], None] | None:
        """What does the action: this screen, the app, or its work."""
        method = "do_" + name.replace(".", "_")
        work = self.specctl.work
        switches = self.specctl.switches
        owners = (self, self.app, work, work.tending, work.enrolling, switches)
        return next((getattr(owner, method) for owner in owners if hasattr(owner, method)), None)

    @property
    def is_typing(self) -> bool:
        """Keys are taken by a line over the footer."""
        return self.prompt is not None

    def on_painted_hit(self, message: Painted.Hit) -> None:
        """A key that was clicked is pressed; while something is typed only one of its own line."""
        if not self.is_typing or isinstance(message.by, Footer):
            press(self.app, message.written)

    def action_panel(self, number: str) -> None:
        """Focus the panel with that number."""
        for panel in self.query(Panel):
            if panel.number == number:
                self.show_panel(panel)

    def show_panel(self, panel: Panel) -> None:
        """Focus a panel; subclasses first bring it into its slot."""
        if self.zoomed is not None and panel.id:
            self.zoomed = panel.id
            self.place()
        if panel.display:
            panel.focus()

    def do_panel_zoom(self) -> None:
        """Give the focused panel the whole screen."""
        if self.panel is not None:
            self.zoom(self.panel)

    def zoom(self, panel: Panel) -> None:
        """Give a panel the whole screen, and the focus."""
        self.zoomed = panel.id
        self.place()
        panel.focus()
        self.repaint()

    def do_panel_unzoom(self) -> None:
        """All panels again."""
        self.zoomed = None
        self.place()
        self.repaint()

    def _move(self, rows: int) -> None:
        if self.panel is not None:
            self.panel.move(rows)
            self.repaint()

    def do_cursor_down(self) -> None:
        """One row on."""
        self._move(1)

    def do_cursor_up(self) -> None:
        """One row back."""
        self._move(-1)

    def do_cursor_first(self) -> None:
        """To the first row."""
        self._move(-1_000_000)

    def do_cursor_last(self) -> None:
        """To the last row."""
        self._move(1_000_000)

    def do_cursor_half_down(self) -> None:
        """Half a page on."""
        self._move(self._page() // 2)

    def do_cursor_half_up(self) -> None:
        """Half a page back."""
        self._move(-(self._page() // 2))

    def do_cursor_page_down(self) -> None:
        """A page on."""
        self._move(self._page())

    def do_cursor_page_up(self) -> None:
        """A page back."""
        self._move(-self._page())

    def _page(self) -> int:
        return self.panel.inner_rows if self.panel is not None else 1

    def do_copy_selection(self) -> None:
        """Copy the focused panel's text."""
        panel = self.panel
        if panel is not None:
            text = plain(panel.draw(panel.scene, panel.size.width - 4, panel.inner_rows).body)
            self.specctl.copy(text, f"panel {panel.number}")

    def do_go_back(self) -> None:
        """Close the zoom, then the screen; one a press."""
        if self.zoomed is not None:
            self.do_panel_unzoom()
        elif len(self.app.screen_stack) > 1:
            self.specctl.go_back()


def stand(panel: Panel, place: Place) -> None:
    """Give a panel its rectangle."""
    panel.rule = place.rule
    panel.styles.offset = (place.x, place.y)
    panel.styles.width = place.cells
    panel.styles.height = place.rows


class Modal(ModalScreen[Answer]):
    """Something over a screen that is closed once."""

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Once: a key that waited behind the one that closed it must not close what lies below."""
        return super().dismiss(result) if self.is_current else AwaitComplete()

    def render(self) -> RenderableType:
        """What lies behind, dimmed in a way that the terminal is to show."""
        drawn = super().render()
        return drawn if cast("SpecctlApp", self.app).settings.has_colour else behind(drawn)


class Dialog(Modal[Answer]):
    """A panel over the dimmed screen; on a small one it is the screen."""

    wanted: ClassVar[tuple[int, int]] = (92, 27)
    where: ClassVar[str] = ""
    """Its name, for the guide."""

    about = ""
    """The host it is about, where it is about one."""

    @property
    def specctl(self) -> SpecctlApp:
        """The app, by its own type."""
        return cast("SpecctlApp", self.app)

    @property
    def stage(self) -> str:
        """What it has come to, for the guide; its name where it is always the same."""
        return self.where

    def make(self) -> Panel:
        """The panel."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The panel, and the guide."""
        panel = self.make()
        panel.add_class("dialog")
        panel.about = self.about
        yield panel
        yield GuideBar(classes="guide")

    def wanted_rows(self, cells: int) -> int:
        """Rows that would show everything at a width."""
        del cells
        return self.wanted[1]

    def on_mount(self) -> None:
        """Stand in the middle."""
        self.place()

    def on_resize(self, event: events.Resize) -> None:
        """Stand in the middle again."""
        del event
        self.place()

    def on_painted_hit(self, message: Painted.Hit) -> None:
        """A key that was clicked is pressed, and so is a button."""
        if message.written == ACTION:
            self.agree()
        else:
            press(self.app, message.written)

    def agree(self) -> None:
        """The button that acts was clicked."""
        press(self.app, "enter")

    def place(self) -> None:
        """Stand where a dialog stands at this size."""
        cells, rows = self.app.size
        row = rows - (1 if arrange.is_whole_screen(cells, rows) else 2)
        rows -= sum(bar.stand(row) for bar in self.query(GuideBar))
        place = arrange.dialog(cells, rows, self.wanted[0], self.wanted_rows(self.wanted[0] - 4))
        for panel in self.query(Panel):
            stand(panel, place)

    def repaint(self) -> None:
        """Paint what differs; a guide that ends gives its row back."""
        if any(bar.is_out_of_place for bar in self.query(GuideBar)):
            self.place()
        for widget in self.query(Painted):
            widget.repaint()

    def repaint_touched(self, heard: Kinds) -> None:
        """Where only numbers went on: have those paint what differs that show them."""
        repaint_touched(self.query(Painted), heard)


def in_sight(stack: Sequence[Screen[Any]]) -> Iterator[PanelScreen | Dialog[Any]]:
    """The screen in front, and what lies behind it while it is a dialog."""
    for screen in reversed(stack):
        if isinstance(screen, PanelScreen | Dialog):
            yield screen
        if not screen.is_modal:
            return
