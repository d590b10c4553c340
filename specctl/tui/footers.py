"""What the last row of each screen offers."""

from __future__ import annotations

FOOTERS: dict[str, tuple[str, ...]] = {
    "fleet": (
        "row.open", "server.start", "server.stop", "server.adopt", "probe.start", "trial.start",
        "filter.open", "command.open", "go.back_or_quit", "alerts.open", "profiles.open",
        "source.open", "log.open", "order.choose", "fleet.group", "live.pause",
    ),
    "host": (
        "server.start", "server.stop", "server.adopt", "probe.start", "trial.start", "drift.show",
        "log.open", "go.back", "profiles.open", "source.open", "panel.zoom", "sibling.next",
        "command.open", "live.pause", "live.span", "topology.open",
    ),
    "log": (
        "live.pause", "filter.open", "match.next", "log.first_cause", "log.wrap", "log.times",
        "log.previous_run", "screen.save", "copy.selection", "sibling.next", "go.back",
    ),
    "commands": (
        "row.open", "commands.reads", "filter.open", "copy.selection", "host.open", "go.back",
    ),
    "launch": (
        "server.start", "host.open", "log.open", "copy.selection", "command.open", "go.back",
    ),
    "source": (
        "row.open", "filter.open", "source.grep", "diff.show", "match.next", "copy.selection",
        "panel.next", "sibling.next", "go.back",
    ),
    "profiles": (
        "profile.edit", "profile.fix", "server.start", "profile.add", "profile.import",
        "diff.show", "match.next", "copy.selection", "filter.open", "sibling.next", "go.back",
    ),
    "trials": (
        "row.open", "trial.start", "trial.resume", "filter.open", "order.choose", "kinds.choose",
        "diff.show", "report.save", "copy.selection", "trials.read", "trial.stop", "command.open",
        "go.back",
    ),
    "trial": (
        "trial.stop", "trial.start", "trial.resume", "report.save", "copy.selection", "panel.zoom",
        "trials.open", "trials.read", "command.open", "go.back",
    ),
    "alerts": (
        "row.open", "alert.acknowledge", "filter.open", "host.open", "log.open", "copy.selection",
        "go.back",
    ),
    "difference": ("row.open", "match.next", "filter.open", "copy.selection", "go.back"),
}  # fmt: skip
"""By importance: cut from the right by whole items."""

CALLED: dict[tuple[str, str], str] = {("log", "filter.open"): "search"}
"""What an action is called on a screen where its own title would mislead."""
