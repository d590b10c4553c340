"""Prompts over a screen: the command line, the list of profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from specctl.domain.errors import UsageError
from specctl.tui.arrange import Place
from specctl.tui.commands import Completion, Known, Parsed, complete, parse
from specctl.tui.editor import Editor
from specctl.tui.panel import Bar, Panel
from specctl.tui.pressing import press
from specctl.tui.recall import Recall
from specctl.tui.render.listing import window
from specctl.tui.render.prompt import (
    MOST_ROWS,
    PROFILES_HEAD,
    command_bar,
    draw_completions,
    draw_profiles,
    first_completion,
    note_rows,
)
from specctl.tui.screen import Modal, stand
from specctl.tui.screens.choice import PickDialog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult

    from specctl.tui.render.lines import Drawing, Line
    from specctl.tui.scene import Scene
    from specctl.tui.services import ProfileChoice


class CompletionsPanel(Panel):
    """What can follow on the command line."""

    def __init__(self) -> None:
        super().__init__(id="completions")
        self.text = ""
        self.found: list[Completion] = []
        self.chosen = 0
        self.error = ""

    class Chosen(Message):
        """The wheel or a click chose one of them."""

    def move(self, rows: int) -> None:
        """Another one."""
        self._choose(min(max(0, self.chosen + rows), len(self.found) - 1))

    def pick(self, row: int) -> bool:
        """The one that was clicked."""
        at = first_completion(self.chosen, len(self.found)) + row
        return 0 <= row < MOST_ROWS and not self.error and self._choose(at)

    def _choose(self, at: int) -> bool:
        is_one = 0 <= at < len(self.found)
        if is_one:
            self.chosen = at
            self.post_message(self.Chosen())
        return is_one

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


class CommandLine(Modal[Parsed | None]):
    """The command line: verbs of the CLI, completed, with history."""

    AUTO_FOCUS = ""

    def __init__(
        self, known: Callable[[str], Known], history: Sequence[str], text: str = ""
    ) -> None:
        """`known` is asked with what was typed so far, at each key; `history` from the oldest."""
        super().__init__()
        self._first = text
        self._known = known
        self._recall = Recall(history)
        self.last = ""
        """The line that was run."""

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
        panel.found = complete(editor.text, self._known(editor.text))
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
            self._show(self._recall.older(self._bar.editor.text))
        elif (edited := self._bar.editor.key(key, event.character)) is not None:
            self._typed(edited)

    def on_paste(self, event: events.Paste) -> None:
        """A paste is typing."""
        self._typed(self._bar.editor.insert(event.text))

    def _take(self) -> None:
        panel = self._panel
        if panel.found:
            text = panel.found[panel.chosen].text + " "
            self._typed(Editor(text, len(text)))

    def _typed(self, editor: Editor) -> None:
        """What was recalled is the user's own from here on."""
        self._recall.stop()
        self._edited(editor)

    def _choose(self, step: int) -> None:
        """Another completion; on an empty line, and on a recalled one, the history."""
        panel, text = self._panel, self._bar.editor.text
        if not self._moved and (self._recall.is_on or (step < 0 and not text)):
            self._show(self._recall.older(text) if step < 0 else self._recall.newer())
            return
        if panel.found:
            panel.chosen = (panel.chosen + step) % len(panel.found)
            self._moved = True
            self._ghost()
            self.repaint()

    @on(CompletionsPanel.Chosen)
    def follow_click(self) -> None:
        """What was chosen stands behind what was typed."""
        self._moved = True
        self._ghost()
        self.repaint()

    @on(Panel.Opened)
    def open_clicked(self) -> None:
        """A double click runs it."""
        self._run()

    def on_painted_hit(self, message: Panel.Hit) -> None:
        """A key that was clicked is pressed."""
        press(self.app, message.written)

    def _show(self, text: str | None) -> None:
        """A line of the history, where there is one more."""
        if text is not None:
            self._edited(Editor(text, len(text)))

    def _run(self) -> None:
        text = self._bar.editor.text.strip()
        panel = self._panel
        if self._moved and panel.found:
            text = panel.found[panel.chosen].text
        try:
            parsed = parse(text, self._known(text))
        except UsageError as error:
            panel.error = f"{error.message} {error.hint}".strip()
            self._place()
            self.repaint()
            return
        self.last = text
        self.dismiss(parsed)


class ProfilesPanel(Panel):
    """Profiles that could be started."""

    def __init__(self, host: str, choices: Sequence[ProfileChoice]) -> None:
        super().__init__(id="profiles")
        self.host = host
        self.all = list(choices)
        self.search = Editor()
        self.chosen = self.top = 0

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
        found = self.found
        self.top = window(self.chosen, self.top, max(1, rows - PROFILES_HEAD), len(found))
        return draw_profiles(
            self.host, found, self.search, cells, rows, chosen=self.chosen, top=self.top
        )

    def seek(self, edited: Editor) -> None:
        """Something else is typed."""
        self.search, self.chosen = edited, 0

    def move(self, rows: int) -> None:
        """Another profile."""
        self.chosen = min(max(0, self.chosen + rows), max(0, len(self.found) - 1))

    def pick(self, row: int) -> bool:
        """The profile that was clicked."""
        at = self.top + row - PROFILES_HEAD
        is_one = self.top <= at < len(self.found)
        if is_one:
            self.chosen = at
        return is_one


class ProfilesDialog(PickDialog):
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
        """All profiles and what is known of the chosen one, up to a height."""
        rows = len(self.panel.all) + note_rows(self.panel.all, cells)
        return min(self.wanted[1], rows + 6)

    @property
    def list(self) -> ProfilesPanel:
        """The one panel."""
        return self.panel

    def choose(self) -> None:
        """The one under the cursor."""
        found = self.panel.found
        if found:
            self.dismiss(found[self.panel.chosen].name)
