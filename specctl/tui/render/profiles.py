"""Profiles: the list, and what is known of one beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.lint.finding import Severity
from specctl.tui.reading import Git, counted
from specctl.tui.render.chrome import simulated
from specctl.tui.render.lines import (
    UNKNOWN,
    Line,
    clip,
    few,
    middle,
    row,
)
from specctl.tui.render.standing import server_standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.lint.finding import Finding
    from specctl.domain.probe import ProbeResult
    from specctl.domain.server import Server
    from specctl.tui.reading import ProfileEntry, ProfileSheet
    from specctl.tui.scene import Scene

MARKS = {
    Severity.ERROR: ("✗", "bad"),
    Severity.REWRITE: ("→", "warn"),
    Severity.WARNING: ("▲", "warn"),
    Severity.HINT: ("·", "dim"),
}
GIT_MARKS = {Git.EDITED: ("M", "accent"), Git.NEW: ("+", "accent")}
LINT_CELLS, RUNS_CELLS, LABEL_CELLS = 6, 13, 9


def lint_counts(findings: Sequence[Finding]) -> Line:
    """`✗1 ▲2`: what stops it, and what changes or may hurt it."""
    count = counted(findings)
    errors = count.get(Severity.ERROR, 0)
    warnings = count.get(Severity.WARNING, 0) + count.get(Severity.REWRITE, 0)
    if not errors and not warnings:
        return [("✓", "ok")]
    out: Line = [(f"✗{errors}", "bad")] if errors else []
    if warnings:
        out += [(" ", "")] if out else []
        out.append((f"▲{warnings}", "warn"))
    return out


def runs_of(scene: Scene, profile: str) -> list[tuple[str, Server]]:
    """The servers that run a profile, with their hosts."""
    return [
        (host, server)
        for host in scene.hosts
        for server in scene.state.host(host).servers or ()
        if server.profile == profile
    ]


def list_head(cells: int) -> Line:
    """The heads of the columns."""
    name = _name_cells(cells)
    return row(
        ([("  NAME", "faint")], name), ([("LINT", "faint")], LINT_CELLS),
        ([("RUNS ON", "faint")], RUNS_CELLS),
    )  # fmt: skip


def _name_cells(cells: int) -> int:
    return max(10, cells - LINT_CELLS - RUNS_CELLS - 4)


def list_line(
    entry: ProfileEntry,
    lint: Line,
    runs: Sequence[tuple[str, Server]],
    cells: int,
    *,
    has_drift: bool = False,
) -> Line:
    """One profile: git, name, what is wrong with it, where it runs."""
    name = _name_cells(cells)
    mark = GIT_MARKS.get(entry.git, (" ", ""))
    tone = "title" if entry.is_usable else "bad"
    return row(
        ([mark, (" ", ""), (middle(entry.name, name - 2), tone)], name),
        (lint, LINT_CELLS),
        (_runs(runs, has_drift=has_drift), RUNS_CELLS),
    )


def _runs(runs: Sequence[tuple[str, Server]], *, has_drift: bool) -> Line:
    """Where it runs and how; `≠` where that is not what the profile says now."""
    if not runs:
        return []
    tail: Line = [(" ≠", "warn")] if has_drift else []
    if len(runs) > 1:
        return [(f"{len(runs)} servers", "dim"), *tail]
    host, server = runs[0]
    room = RUNS_CELLS - 2 - 2 * has_drift
    return [(middle(host, room), "dim"), (" ", ""), server_standing(server).glyph, *tail]


def drifts(scene: Scene, runs: Sequence[tuple[str, Server]]) -> bool:
    """A new start would change one of the servers."""
    found = (scene.details(host, server).drift for host, server in runs)
    return any(drift is not None and drift.drifted for drift in found)


def git_note(entries: Sequence[ProfileEntry]) -> Line:
    """What the letters in front of the names mean, where there are any."""
    seen = {entry.git for entry in entries}
    out: list[Line] = []
    if Git.EDITED in seen:
        out.append([("M", "accent"), (" edited", "dim")])
    if Git.NEW in seen:
        out.append([("+", "accent"), (" new in git", "dim")])
    return few(out, 40, gap=2)


def fact_lines(
    scene: Scene, entry: ProfileEntry, sheet: ProfileSheet | None, commit: str, cells: int
) -> list[Line]:
    """What is known of a profile beside its text."""
    room = max(8, cells - LABEL_CELLS - 1)
    out = [
        _fact("file", [(middle(entry.file, room), "text")], room),
        _fact("git", _git(entry, commit), room),
    ]
    if entry.model:
        out.append(_fact("model", [(middle(entry.model, room), "text")], room))
    out.append(_fact("draft", [(entry.algorithm or "none", "text")], room))
    if entry.baseline:
        out.append(_fact("baseline", [(middle(entry.baseline, room), "text")], room))
    expected = _expected(sheet)
    if expected:
        out.append(_fact("expects", [(expected, "text")], room))
    for name, line in (
        ("measured", _measured(scene, entry.name)),
        ("runs on", _all_runs(scene, entry.name)),
    ):
        if line:
            out.append(_fact(name, clip(line, room), room))
    return out


def _fact(name: str, value: Line, room: int) -> Line:
    return row(([(name, "dim")], LABEL_CELLS), (value, room), gap=1)


def _git(entry: ProfileEntry, commit: str) -> Line:
    match entry.git:
        case Git.CLEAN:
            return [(commit, "text"), (", as committed", "dim")]
        case Git.EDITED:
            return [(commit, "text"), (", edited since", "warn")]
        case Git.NEW:
            return [("not in git yet", "warn")]
        case _:
            return [UNKNOWN, ("  no repository", "faint")]


def _expected(sheet: ProfileSheet | None) -> str:
    rows = sheet.recipe.rows if sheet and sheet.recipe else ()
    found = {r.key: r.text for r in rows if r.key.startswith("expectation.")}
    words = {"expectation.accept_length": "accept ≥ {}", "expectation.speedup": "speedup ≥ {}×"}
    return ", ".join(words[key].format(text) for key, text in found.items() if key in words)


def latest_result(scene: Scene, profile: str) -> tuple[str, ProbeResult] | None:
    """The newest usable probe of a profile on any host in this session."""
    found = [
        (host, result)
        for host in scene.hosts
        for result in scene.state.host(host).results.values()
        if result.profile == profile and not result.void
    ]
    return max(found, key=lambda pair: pair[1].started_at_s, default=None)


def _measured(scene: Scene, profile: str) -> Line:
    found = latest_result(scene, profile)
    if found is None:
        return []
    host, result = found
    out: Line = [("accept ", "dim"), (figures.fixed(result.accept_length, 2), "strong")]
    out += [("  ", ""), (figures.rate(result.tokens_per_s), "strong"), (" tok/s", "dim")]
    return [*out, ("  on " + host + " ", "dim"), *simulated(scene, host)]


def _all_runs(scene: Scene, profile: str) -> Line:
    out: Line = []
    for host, server in runs_of(scene, profile):
        glyph, token = server_standing(server).glyph
        out += [*([("  ", "")] if out else []), (glyph + " ", token), (host + " ", "text")]
        out += simulated(scene, host)
    return out
