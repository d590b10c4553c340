"""The app: one store, one scene a frame, the screens, and the ways between them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import SystemCommand

from specctl.domain.errors import SpecctlError
from specctl.domain.history import Span
from specctl.domain.state import State, Store
from specctl.tui.actions import ACTIONS, Kind, refusal
from specctl.tui.alarm import Alarm
from specctl.tui.bridge import Pace, StateChanged, listen
from specctl.tui.colourless import filters
from specctl.tui.commanding import Commanding
from specctl.tui.frames import FrameDue, Frames
from specctl.tui.going import Going
from specctl.tui.guarding import explained, no_lab, toggle
from specctl.tui.later import Later
from specctl.tui.palette import Palette
from specctl.tui.panel import Painted
from specctl.tui.render.chrome import marked
from specctl.tui.scene import Recent, Scene, no_details
from specctl.tui.screen import Dialog, PanelScreen, in_sight
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.welcome import WelcomeScreen
from specctl.tui.settings import Settings
from specctl.tui.switches import Switches
from specctl.tui.themes import NAMES, own_defaults, theme
from specctl.tui.whole_frames import whole_frames
from specctl.tui.work import Work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from textual.driver import Driver
    from textual.filter import LineFilter
    from textual.screen import Screen

    from specctl.services.outcome import Outcome
    from specctl.tui.actions import Action
    from specctl.tui.panel import Kinds
    from specctl.tui.services import Services

TICK_S, LOOK_S = 1.0, 2.0
QUIT_WITHIN_S = 5.0
TOASTS = 3
Severity = Literal["information", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Start:
    """What the app begins with: host names to show at once, and how to get the services."""

    hosts: Sequence[str]
    load: Callable[[Store], Awaitable[Services]]
    """Called after the first paint: what it imports must not delay that."""


class SpecctlApp(Going):
    """Shows the store; asks the services to act."""

    CSS_PATH = Path(__file__).with_name("specctl.tcss")
    TITLE = "specctl"
    NOTIFICATION_TIMEOUT = 5.0
    BINDINGS: ClassVar = []

    def __init__(
        self,
        start: Start | None,
        *,
        clock: Callable[[], float],
        settings: Settings | None = None,
        folder: str = "",
        open_folder: Callable[[str, bool], Start] | None = None,
        look: Callable[[], Start | None] | None = None,
        offset_s: int | None = None,
    ) -> None:
        """Without a `start` there is no workspace: `open_folder` makes or opens one in `folder`.

        `look` finds one that appeared meanwhile.
        """
        super().__init__()
        self.settings = settings or Settings()
        self.services: Services | None = None
        self.store = Store()
        self.recent = Recent()
        self.span = Span.MINUTES_5
        self.read_only = self.settings.read_only
        self.work = Work(self)
        self.commanding = Commanding(self)
        self.alarm = Alarm(self, rings=self.settings.rings)
        self.switches = Switches(self, has_mouse=self.settings.has_mouse)
        self.try_lab: Callable[[], Awaitable[None]] = no_lab
        self._start = start
        self._clock = clock
        self._folder = folder
        self._open_folder, self._look = open_folder, look
        self._offset_s = offset_s
        self._pace = Pace(time.monotonic)
        self._frames = Frames(self._pace, lambda heard=None: self.repaint(heard), self.post_message)
        self._palette: Palette | None = None
        self._quit_asked_s = float("-inf")
        self._unsubscribe: Callable[[], None] = lambda: None
        self.scene = self._scene(self.store.state)

    # ---------------------------------------------------------------- theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our tokens, for themes that do not have them."""
        return own_defaults()

    @property
    def palette(self) -> Palette:
        """Styles of the present theme."""
        if self._palette is None or self._palette.theme != self.theme:
            self._palette = Palette(
                self.theme, self.get_css_variables(), has_colour=self.settings.has_colour
            )
        return self._palette

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What lines pass on their way to the terminal."""
        return filters(super().get_line_filters(), has_colour=self.settings.has_colour)

    @property
    def is_ascii(self) -> bool:
        """Marks are drawn with ASCII alone."""
        return self.settings.is_ascii

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """How plans ended, by plan id."""
        return self.work.outcomes

    def get_driver_class(self) -> type[Driver]:
        """What writes to the terminal."""
        return whole_frames(super().get_driver_class())

    def set_theme(self, name: str) -> None:
        """Change to one of our themes."""
        self.theme = f"specctl-{name}"
        for widget in self.screen.query(Painted):
            widget.refresh()

    # ---------------------------------------------------------------- life

    def get_default_screen(self) -> Screen[None]:
        """The fleet."""
        return FleetScreen()

    def on_load(self) -> None:
        """Themes must be there before anything is styled."""
        for name in NAMES:
            self.register_theme(theme(name))
        self.theme = f"specctl-{self.settings.theme}"

    def on_mount(self) -> None:
        """Listen, and load what is heavy once the first frame is out."""
        self.animation_level = "none"
        self._unsubscribe = listen(
            self.store,
            self.recent,
            self.post_message,
            lambda: self._pace.is_waiting,
            self._pace.heard.add,
        )
        self.set_interval(TICK_S, self._tick)
        if self._start is None:
            self.push_screen(WelcomeScreen(self._folder))
            self.set_interval(LOOK_S, self._look_again)
        else:
            self.call_after_refresh(self._begin, self._start)

    def on_unmount(self) -> None:
        """Stop listening."""
        self._unsubscribe()

    def _begin(self, start: Start) -> None:
        self.run_worker(Later(self._live, start), group="monitor", exclusive=True)

    async def _live(self, start: Start) -> None:
        """Load the services, then monitor every host for as long as the app lives."""
        try:
            self.services = await start.load(self.store)
            self._pace.sampled_every_s = self.services.interval_s
            self.run_worker(Later(self.services.learn_trials), group="what trials said")
            self.repaint()
            await self.services.monitor()
        except SpecctlError as error:
            self.tell(error.message, error.hint, severity="error")

    def _look_again(self) -> None:
        """While there is nothing, a lab or a workspace may appear."""
        found = self._look() if self._look and self._start is None else None
        if found is not None and isinstance(self.screen, WelcomeScreen):
            self._start = found
            self.pop_screen()
            self._begin(found)

    def open_folder(self, folder: str, *, create: bool) -> None:
        """Leave the first run for a workspace, or say why it cannot be one."""
        if self._open_folder is None:
            return
        try:
            self._start = self._open_folder(folder, create)
        except SpecctlError as error:
            if isinstance(self.screen, WelcomeScreen):
                self.screen.refused(f"{error.message}. {error.hint}".strip())
            return
        self.pop_screen()
        self._begin(self._start)

    # ---------------------------------------------------------------- frames

    def _scene(self, state: State) -> Scene:
        now_s = self._clock()
        offset_s = time.localtime(now_s).tm_gmtoff if self._offset_s is None else self._offset_s
        known = self.services.hosts() if self.services else self._start.hosts if self._start else ()
        return Scene(
            state=state,
            now_s=now_s,
            clock_s=now_s,
            offset_s=offset_s,
            hosts=tuple(sorted({*known, *state.hosts})),
            span=self.span,
            recent=self.recent,
            history=self.recent.history,
            details=self.services.details if self.services else no_details,
            measuring=self.work.measuring,
            read_only=self.read_only,
            acknowledged=self.alarm.acknowledged,
            interval_s=self._pace.sampled_every_s,
        )

    def _tick(self) -> None:
        """Clocks and ages move on where nothing else does."""
        if self._pace.is_old and not self._pace.is_waiting:
            self.repaint()

    @on(StateChanged)
    def take_state(self, changed: StateChanged) -> None:
        """Paint the newest state in time."""
        self.paint_soon(has_news=changed.has_news)

    @on(FrameDue)
    def paint_due(self) -> None:
        """Paint the frame that waited."""
        self._frames.due()

    def paint_soon(self, *, has_news: bool = True) -> None:
        """Paint now, or when the next frame is due; only news bring that forward."""
        self._frames.soon(has_news=has_news)

    def repaint(self, heard: Kinds | None = None) -> None:
        """Paint what differs on what is in sight; while paused that is the footer.

        Of what only numbers brought, panels that show none of those `heard` are left as they are.
        """
        began_s = time.thread_time()
        self._paint(heard)
        self._pace.painted(time.thread_time() - began_s)

    def _paint(self, heard: Kinds | None) -> None:
        if self.scene.paused_at_s is None:
            self.scene = self._scene(self.store.state)
        else:
            self.scene = replace(self.scene, clock_s=self._clock())
        self.alarm.hear()
        stack = self.screen_stack
        if stack and isinstance(stack[-1], PanelScreen | Dialog):
            self.work.guide.follow(self.work.moment)
            for screen in in_sight(stack):
                if heard is None:
                    screen.repaint()
                else:
                    screen.repaint_touched(heard)

    def do_live_pause(self) -> None:
        """Freeze the picture while sampling goes on; again: jump to now."""
        if self.scene.paused_at_s is None:
            frozen = self._scene(self.store.state)
            self.scene = replace(
                frozen,
                paused_at_s=frozen.now_s,
                history=frozen.history.copy(),
                recent=self.recent.copy(),
            )
        else:
            self.scene = replace(self.scene, paused_at_s=None)
        self.repaint()

    def do_live_span(self, minutes: str | None = None) -> None:
        """The next span of the plots, or the one named."""
        self.span = Span(int(minutes) * 60) if minutes else self.span.next
        if self.scene.paused_at_s is not None:
            self.scene = replace(self.scene, span=self.span)
        self.repaint()

    # ---------------------------------------------------------------- ways

    def do_go_back_or_quit(self) -> None:
        """Back; at the fleet quit."""
        if len(self.screen_stack) > 1 and not isinstance(self.screen, WelcomeScreen):
            self.go_back()
        else:
            self.do_app_quit()

    def do_app_quit(self) -> None:
        """Quit; while something is carried out only the second time."""
        now_s = time.monotonic()
        words = self.work.holds_up
        if words and now_s - self._quit_asked_s > QUIT_WITHIN_S:
            self._quit_asked_s = now_s
            self.tell("Not yet", words, severity="warning")
        elif not self.work.interrupt_trials():
            self.exit(0)

    async def action_quit(self) -> None:
        """Textual's own key for it asks the same question."""
        self.do_app_quit()

    # ---------------------------------------------------------------- words

    def tell(self, title: str, words: str = "", *, severity: Severity = "information") -> None:
        """A toast, for what has no other place; never more than three."""
        if len(self._notifications) >= TOASTS:
            self.clear_notifications()
        text, head = (words, title) if words else (title, "")
        self.notify(text, title=head, severity=severity, markup=False)

    def off(self, action: Action) -> str:
        """Why an action is off in all of this session; empty when it is not."""
        del action
        return ""

    def refuse(self, action: Action, reason: str) -> None:
        """Say why an action cannot be done, and what lifts that."""
        words = explained(reason, self.settings)
        self.tell(f"{action.title.capitalize()} is off", words, severity="warning")

    def copy(self, text: str, what: str) -> None:
        """To the clipboard of the terminal, and say what; text of a practice host says so first."""
        self.copy_to_clipboard(marked(self.scene, self.target().host, text))
        lines = text.count("\n") + 1
        self.tell(f"Copied {what}", f"{lines} lines" if lines > 1 else text[:60])

    def do_palette_open(self) -> None:
        """Textual's palette, filled from the table."""
        self.action_command_palette()

    def do_app_suspend(self) -> None:
        """Back to the shell."""
        self.action_suspend_process()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every action of this screen that can be done, hosts, themes."""
        where = screen.where if isinstance(screen, PanelScreen) else "fleet"
        target = self.target()
        for action in ACTIONS:
            skip = action.kind is Kind.MOVE or action.id in {"palette.open", "theme.choose"}
            if skip or where not in action.where or refusal(action, target):
                continue
            yield SystemCommand(
                f"{action.title} ({action.key})", action.help, lambda name=action.id: self.act(name)
            )
        for name in self.scene.hosts:
            yield SystemCommand(f"host {name}", "open it", lambda host=name: self.open_host(host))
        for name in NAMES:
            yield SystemCommand(
                f"theme {name}", "change colours", lambda to=name: self.set_theme(to)
            )

    def act(self, name: str) -> None:
        """Do an action on the screen in front."""
        if isinstance(self.screen, PanelScreen):
            self.screen.action_act(name)

    def do_host_toggle_readonly(self, switch: str = "") -> None:
        """Set or lift the guard of the host that is acted on."""
        toggle(self, switch)

    # ---------------------------------------------------------------- prompts

    def do_help_open(self) -> None:
        """Keys and commands of the screen in front."""
        self.commanding.open_help()

    def do_command_open(self) -> None:
        """The command line."""
        self.commanding.open_line()

    def do_theme_choose(self) -> None:
        """Choose by name."""
        self.commanding.open_line("theme ")
