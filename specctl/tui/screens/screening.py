"""A screening, live or of the ledger; leaving it ends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.screening import Going, screening_lines
from specctl.tui.screenings import ScreeningSheet
from specctl.tui.screens.reading import ReadingDialog, ReadPanel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events

    from specctl.tui.render.lines import Line
    from specctl.tui.trial_desk import TrialDesk

LOOK_AGAIN_S, SPIN_S = 2.0, 0.25


class ScreeningPanel(ReadPanel[ScreeningSheet]):
    """The ranking so far."""

    def __init__(self, desk: TrialDesk, screening: str, host: str) -> None:
        super().__init__(
            f"Screening {screening} on {host}", "Reading the ledger", self._drawn, id="screening"
        )
        self.desk, self.screening = desk, screening

    def _drawn(self, sheet: ScreeningSheet, cells: int) -> list[Line]:
        run = self.desk.runs.get(self.screening)
        going = None
        if run is not None and not run.is_over:
            heard = [e for e in self.scene.recent.trials.values() if e.host == sheet.plan.host]
            newest = max(heard, key=lambda event: event.time_s, default=None)
            words = newest.words if newest and newest.time_s >= run.began_s else ""
            going = Going(self.scene.clock_s, words, is_stopping=run.is_stopping)
        return screening_lines(sheet, going, cells)


class ScreeningDialog(ReadingDialog[ScreeningSheet]):
    """Follows one screening."""

    wanted = (100, 22)
    closes = frozenset({"escape", "q"})

    def __init__(
        self, desk: TrialDesk, screening: str, host: str,
        read: Callable[[], Awaitable[ScreeningSheet]],
    ) -> None:  # fmt: skip
        super().__init__(ScreeningPanel(desk, screening, host), read, "the screening", host=host)
        self.desk, self.screening = desk, screening
        self._goes_on = desk.is_under_way(screening)

    def on_mount(self) -> None:
        """What goes on is read again and again."""
        super().on_mount()
        self.set_interval(LOOK_AGAIN_S, self._look_again)
        self.set_interval(SPIN_S, self._spin)

    def _spin(self) -> None:
        if self._goes_on:
            self.repaint()

    def _look_again(self) -> None:
        """Read it while it goes on, and once more when it has ended."""
        self.specctl.work.follow_screenings()
        if self.is_current and self._goes_on:
            self._goes_on = self.desk.is_under_way(self.screening)
            self.read()

    def on_key(self, event: events.Key) -> None:
        """Interrupt it, or open its trial; else as every dialog that is read."""
        found = self.panel.found
        if event.key == "x":
            event.stop()
            event.prevent_default()
            self.specctl.work.ask_to_interrupt(self.screening)
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            if found is not None and found.trial is not None:
                self.dismiss(None)
                self.specctl.work.open_trial(found.trial)
        else:
            super().on_key(event)
