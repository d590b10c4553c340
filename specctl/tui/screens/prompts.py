"""Prompts over a screen: help, command line, the list of profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from specctl.domain.errors import UsageError
from specctl.tui.arrange import Place
from specctl.tui.commands import Completion, Known, Parsed, complete, parse
from specctl.tui.editor import Editor
from specctl.tui.panel import Bar, Panel
from specctl.tui.render.help import blocks, draw_help
from specctl.tui.render.prompt import MOST_ROWS, command_bar, draw_completions, draw_profiles
from specctl.tui.screen import Dialog, stand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from specctl.tui.action import Action, Target
    from specctl.tui.render.lines import Drawing, Line
    from specctl.tui.scene import Scene
    from specctl.tui.services import ProfileChoice


class HelpPanel(Panel):
    """Keys and commands of the screen below."""

    def __init__(self, where: str, target: Target, why: Callable[[Action, Target], str]) -> None:
        super().__init__(id="help")
        self.where, self.target, self.why = where, target, why
        self.search = Editor()
        self.top = 0

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """All of them, or those found."""
        del scene
        return draw_help(
            self.where, self.target, self.search, cells, rows, top=self.top, why=self.why
        )

    def move(self, rows: int) -> None:
        """Scroll."""
        self.top = max(0, self.top + rows)


class HelpDialog(Dialog[None]):
    """The help; typing searches it."""

    where = "help"
    wanted = (104, 30)
    AUTO_FOCUS = "#help"

    def __init__(self, where: str, target: Target, why: Callable[[Action, Target], str]) -> None:
        super().__init__()
        self.panel = HelpPanel(where, target, why)

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All of it."""
        return len(blocks(self.panel.where, self.panel.target, cells)) + 4

    def on_key(self, event: events.Key) -> None:
        """Close, scroll, search."""
        event.stop()
        event.prevent_default()
        if event.key in {"escape", "f1"} or (
            event.key == "question_mark" and not self.panel.search.text
        ):
            self.dismiss(None)
            return
        page = self.panel.inner_rows // 2
        rows = {"down": 1, "up": -1, "pagedown": page, "pageup": -page}.get(event.key)
        if rows is not None:
            self.panel.move(rows)
        elif (edited := self.panel.search.key(event.key, event.character)) is not None:
            self.panel.search, self.panel.top = edited, 0
        self.repaint()


class CompletionsPanel(Panel):
    """What can follow on the command line."""

    def __init__(self) -> None:
        super().__init__(id="completions")
        self.text = ""
        self.found: list[Completion] = []
        self.chosen = 0
        self.error = ""

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The ways on."""
        del scene, rows
        return draw_completions(self.text, self.found, self.chosen, cells, self.error)


class CommandBar(Bar):
    """The prompt, where the footer was."""

    def __init__(self) -> None:
        super().__init__(id="command-bar")
        self.editor = Editor()
        self.ghost = ""

    def draw(self, cells: int) -> Line:
        """The text with its caret."""
        return command_bar(self.editor, self.ghost, cells)


class CommandLine(ModalScreen[Parsed | None]):
    """The command line: verbs of the CLI, completed, with history."""

    AUTO_FOCUS = ""

    def __init__(self, known: Known, history: Sequence[str], text: str = "") -> None:
        super().__init__()
        self._first = text
        self._known = known
        self._history = list(history)
        self._at = len(self._history)
        self._panel = CompletionsPanel()
        self._bar = CommandBar()
        self._moved = False

    def compose(self) -> ComposeResult:
        """Completions over the prompt."""
        yield self._panel
        yield self._bar

    def on_mount(self) -> None:
        """Show what can be typed at once."""
        self._edited(Editor(self._first, len(self._first)))

    def on_resize(self, event: events.Resize) -> None:
        """Stand at the bottom again."""
        del event
        self._place()

    def _place(self) -> None:
        cells, rows = self.app.size
        height = min(MOST_ROWS, max(1, len(self._panel.found))) + 2
        stand(self._panel, Place(0, rows - 1 - height, cells, height))
        self._bar.styles.offset = (0, rows - 1)

    def _edited(self, editor: Editor) -> None:
        """Take the text over and look what can follow."""
        panel, bar = self._panel, self._bar
        bar.editor = editor
        panel.text, panel.error, self._moved = editor.text, "", False
        panel.found = complete(editor.text, self._known)
        panel.chosen = 0
        self._ghost()
        self._place()
        self.repaint()

    def _ghost(self) -> None:
        panel, editor = self._panel, self._bar.editor
        chosen = panel.found[panel.chosen].text if panel.found else ""
        starts = bool(editor.text) and chosen.startswith(editor.text)
        self._bar.ghost = chosen[len(editor.text) :] if starts else ""

    def repaint(self) -> None:
        """Paint what differs."""
        self._panel.repaint()
        self._bar.repaint()

    def on_key(self, event: events.Key) -> None:
        """Edit, choose, complete, run."""
        event.stop()
        event.prevent_default()
        key = event.key
        if key == "escape" or (key == "backspace" and not self._bar.editor.text):
            self.dismiss(None)
        elif key == "enter":
            self._run()
        elif key == "tab" or (key == "right" and self._bar.ghost):
            self._take()
        elif key in {"up", "down"}:
            self._choose(-1 if key == "up" else 1)
        elif key == "ctrl+r":
            self._recall()
        elif (edited := self._bar.editor.key(key, event.character)) is not None:
            self._edited(edited)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        self._edited(self._bar.editor.insert(event.text))

    def _take(self) -> None:
        panel = self._panel
        if panel.found:
            text = panel.found[panel.chosen].text + " "
            self._edited(Editor(text, len(text)))

    def _choose(self, step: int) -> None:
        """Another completion; on an empty line the history."""
        panel = self._panel
        if step < 0 and not self._bar.editor.text and not self._moved:
            self._recall()
            return
        if panel.found:
            panel.chosen = (panel.chosen + step) % len(panel.found)
            self._moved = True
            self._ghost()
            self.repaint()

    def _recall(self) -> None:
        if self._history:
            self._at = (self._at - 1) % len(self._history)
            text = self._history[self._at]
            self._edited(Editor(text, len(text)))

    def _run(self) -> None:
        text = self._bar.editor.text.strip()
        panel = self._panel
        if self._moved and panel.found:
            text = panel.found[panel.chosen].text
        try:
            parsed = parse(text, self._known)
        except UsageError as error:
            panel.error = f"{error.message} {error.hint}".strip()
            self._place()
            self.repaint()
            return
        self._history.append(text)
        self.dismiss(parsed)

    @property
    def last(self) -> str:
        """The line that was run."""
        return self._history[-1] if self._history else ""


class ProfilesPanel(Panel):
    """Profiles that could be started."""

    def __init__(self, host: str, choices: Sequence[ProfileChoice]) -> None:
        super().__init__(id="profiles")
        self.host = host
        self.all = list(choices)
        self.search = Editor()
        self.chosen = 0

    @property
    def found(self) -> list[ProfileChoice]:
        """Those that have every word typed."""
        words = self.search.text.lower().split()
        return [
            c
            for c in self.all
            if all(w in f"{c.name} {c.algorithm or 'none'} {c.model}".lower() for w in words)
        ]

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The list."""
        del scene
        return draw_profiles(self.host, self.found, self.search, cells, rows, chosen=self.chosen)

    def move(self, rows: int) -> None:
        """Another profile."""
        self.chosen = min(max(0, self.chosen + rows), max(0, len(self.found) - 1))

    def pick(self, row: int) -> None:
        """The profile that was clicked."""
        self.move(row - 3 - self.chosen)


class ProfilesDialog(Dialog[str | None]):
    """Answers with the profile to start."""

    where = "profiles"
    wanted = (104, 20)
    AUTO_FOCUS = "#profiles"

    def __init__(self, host: str, choices: Sequence[ProfileChoice]) -> None:
        super().__init__()
        self.about = host
        self.panel = ProfilesPanel(host, choices)

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All profiles, up to a height."""
        del cells
        return min(self.wanted[1], len(self.panel.all) + 6)

    def on_profiles_panel_opened(self) -> None:
        """A double click chooses."""
        self._choose()

    def _choose(self) -> None:
        found = self.panel.found
        if found:
            self.dismiss(found[self.panel.chosen].name)

    def on_key(self, event: events.Key) -> None:
        """Choose, move, search."""
        event.stop()
        event.prevent_default()
        rows = {"down": 1, "up": -1, "pagedown": 8, "pageup": -8}.get(event.key)
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            self._choose()
        elif rows is not None:
            self.panel.move(rows)
        elif (edited := self.panel.search.key(event.key, event.character)) is not None:
            self.panel.search, self.panel.chosen = edited, 0
        self.repaint()
