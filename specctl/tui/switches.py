"""What is switched on and off while the app runs: the mouse, and the bell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.tui.application import SpecctlApp


class Switches:
    """Asks the terminal."""

    def __init__(self, app: SpecctlApp, *, has_mouse: bool) -> None:
        self._app = app
        self.has_mouse = has_mouse
        """The screen hears the mouse; otherwise the terminal selects with it."""

    def do_mouse_toggle(self, switch: str = "") -> None:
        """Hear the mouse, or leave it to the terminal, whose selection it then is."""
        self.has_mouse = {"on": True, "off": False}.get(switch, not self.has_mouse)
        driver = self._app._driver  # Textual has no public switch
        tell = getattr(
            driver, "_enable_mouse_support" if self.has_mouse else "_disable_mouse_support", None
        )
        if driver is not None and tell is not None:
            driver._mouse = True  # what it asks before it tells the terminal
            tell()
            driver._mouse = self.has_mouse  # and again after a suspension
        if self.has_mouse:
            self._app.tell("The mouse is on", "Keys, rows, tabs and heads can be clicked.")
        else:
            self._app.tell("The mouse is off", "The terminal selects text with it. m: on again.")

    def do_bell_toggle(self, switch: str = "") -> None:
        """Ring when an alert is raised, or not."""
        alarm = self._app.alarm
        alarm.rings = {"on": True, "off": False}.get(switch, not alarm.rings)
        if alarm.rings:
            self._app.bell()
        words = "It rings once for each new alert." if alarm.rings else "Alerts are shown only."
        self._app.tell(f"The bell is {'on' if alarm.rings else 'off'}", words)
