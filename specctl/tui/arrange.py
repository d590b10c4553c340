"""Where panels stand at a size: pure, so that every size can be tested."""

from __future__ import annotations

from dataclasses import dataclass

NARROW_CELLS, WIDE_CELLS = 100, 160
SHORT_ROWS = 32
SMALLEST = (80, 24)
HEADER_ROWS = 1

SERVER_CELLS, WIDE_SERVER_CELLS = 46, 62
SHORT_PLOT_ROWS = 9
STRIP_ROWS = 2
SOURCE_CELLS, WIDE_SOURCE_CELLS, FILES_CELLS = 50, 60, 50
VIEWER_CELLS = 124
"""A text takes no more than this where paths of files would be cut."""

PROFILES_CELLS, WIDE_PROFILES_CELLS = 47, 62
FOUND_ROWS, COMMAND_ROWS, FACTS_ROWS = 12, 11, 10


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle of the screen, and whether its frame is one rule."""

    x: int
    y: int
    cells: int
    rows: int
    rule: bool = False


Places = dict[str, Place]


def is_too_small(cells: int, rows: int) -> bool:
    """Nothing sensible fits."""
    return cells < SMALLEST[0] or rows < SMALLEST[1]


def is_short(rows: int) -> bool:
    """Frames become rules."""
    return rows < SHORT_ROWS


def zoomed(name: str, cells: int, rows: int) -> Places:
    """One panel over everything between header and footer."""
    return {name: Place(0, HEADER_ROWS, cells, rows - 2, is_short(rows))}


def arrange_fleet(cells: int, rows: int, lines: int) -> Places:
    """Table above, the cursor's host below; `lines` is what the table needs with its head."""
    body = rows - 2
    if is_short(rows):
        return {
            "hosts": Place(0, 1, cells, body - STRIP_ROWS, rule=True),
            "preview": Place(0, 1 + body - STRIP_ROWS, cells, STRIP_ROWS, rule=True),
        }
    table = min(max(lines, 2) + 2, body - 14)
    return {
        "hosts": Place(0, 1, cells, table),
        "preview": Place(0, 1 + table, cells, body - table),
    }


def arrange_host(cells: int, rows: int, lines: int, *, slot: str, lower: str) -> Places:
    """One host: its GPUs, its throughput, its server, its log.

    `lines` is what the GPU table needs with its head; `slot` and `lower` name the panel that is
    shown where several share a place.
    """
    if is_short(rows):
        return _short_host(cells, rows, lines, slot)
    body = rows - 2
    gpus = min(lines + 2, max(6, body // 3))
    if cells < NARROW_CELLS:
        return _narrow_host(cells, body, gpus, lower)
    rest = body - gpus
    middle = rest * 3 // 5 + 1
    y, bottom = 1 + gpus, 1 + gpus + middle
    wide = cells >= WIDE_CELLS
    right = WIDE_SERVER_CELLS if wide else SERVER_CELLS
    out = {
        "gpus": Place(0, 1, cells, gpus),
        "throughput": Place(0, y, cells - right, middle),
        "server": Place(cells - right, y, right, middle),
    }
    if wide:
        out["log"] = Place(0, bottom, cells - right, rest - middle)
        out["processes"] = Place(cells - right, bottom, right, rest - middle)
    else:
        out[lower] = Place(0, bottom, cells, rest - middle)
    return out


def _short_host(cells: int, rows: int, lines: int, slot: str) -> Places:
    body = rows - 2
    plots = min(SHORT_PLOT_ROWS, max(SHORT_PLOT_ROWS - 2, body - 3 - (lines + 1)))
    gpus = min(lines + 1, body - plots - 3)
    used = gpus + plots
    return {
        "gpus": Place(0, 1, cells, gpus, rule=True),
        "throughput": Place(0, 1 + gpus, cells, plots, rule=True),
        slot: Place(0, 1 + used, cells, body - used, rule=True),
    }


def _narrow_host(cells: int, body: int, gpus: int, lower: str) -> Places:
    plots = 11
    rest = body - gpus - plots
    server = min(rest * 3 // 5, 14)
    y = 1 + gpus + plots
    return {
        "gpus": Place(0, 1, cells, gpus),
        "throughput": Place(0, 1 + gpus, cells, plots),
        "server": Place(0, y, cells, server),
        lower: Place(0, y + server, cells, rest - server),
    }


def arrange_launch(cells: int, rows: int, *, has_failed: bool) -> Places:
    """A plan being carried out: the answer, its steps, its log."""
    body = rows - 2
    rule = is_short(rows)
    verdict = (10 if has_failed else 5) if rule else (12 if has_failed else 7)
    verdict = min(verdict, body - 8)
    rest = body - verdict
    steps = min(15, max(4, rest // 2)) if not rule else max(4, rest // 2)
    left = 58 if has_failed and cells >= NARROW_CELLS else 0
    out = {
        "verdict": Place(0, 1, cells, verdict, rule),
        "steps": Place(0, 1 + verdict, cells - left, steps, rule),
        "launch-log": Place(0, 1 + verdict + steps, cells, rest - steps, rule),
    }
    if left:
        out["left-behind"] = Place(cells - left, 1 + verdict, left, steps, rule)
    return out


def arrange_source(
    cells: int, rows: int, *, algorithms: int, said: int, slot: str, has_hits: bool
) -> Places:
    """A build: what it can do on the left, its files on the right; one under the other if narrow.

    `algorithms` and `said` are what those lists hold; `slot` names the panel that is shown where
    several share a place.
    """
    body, rule = rows - 2, is_short(rows)
    if rule or cells < NARROW_CELLS:
        return _stacked("algorithms", min(max(algorithms, 2) + (2 if rule else 3), body // 2), slot,
                        cells, rows)  # fmt: skip
    left = WIDE_SOURCE_CELLS if cells >= WIDE_CELLS else SOURCE_CELLS
    first = min(max(algorithms, 2) + 3, body // 3)
    second = min(max(said, 2) + 2, body // 3)
    out = {
        "algorithms": Place(0, 1, left, first),
        "rules": Place(0, 1 + first, left, second),
        "flags": Place(0, 1 + first + second, left, body - first - second),
    }
    if cells >= WIDE_CELLS:
        size = max(FILES_CELLS, cells - left - VIEWER_CELLS)
        out["files"] = Place(left, 1, size, body)
        out["viewer"] = Place(left + size, 1, cells - left - size, body)
    elif slot == "files":
        out["files"] = Place(left, 1, cells - left, body)
    else:
        found = FOUND_ROWS if has_hits else 0
        out["viewer"] = Place(left, 1, cells - left, body - found)
        if found:
            out["files"] = Place(left, 1 + body - found, cells - left, found)
    return out


def _stacked(first: str, first_rows: int, slot: str, cells: int, rows: int) -> Places:
    """A list above, and one of the other panels below."""
    rule, rest = is_short(rows), rows - 2 - first_rows
    return {
        first: Place(0, 1, cells, first_rows, rule),
        slot: Place(0, 1 + first_rows, cells, rest, rule),
    }


def arrange_profiles(cells: int, rows: int, *, profiles: int, slot: str, lower: str) -> Places:
    """Profiles: the list and facts on the left, text and command on the right."""
    body, rule = rows - 2, is_short(rows)
    if rule or cells < NARROW_CELLS:
        return _stacked("profiles", min(profiles + (2 if rule else 3), body // 2), slot,
                        cells, rows)  # fmt: skip
    left = WIDE_PROFILES_CELLS if cells >= WIDE_CELLS else PROFILES_CELLS
    command = max(COMMAND_ROWS, body // 4)
    return {
        "profiles": Place(0, 1, left, body - FACTS_ROWS),
        "facts": Place(0, 1 + body - FACTS_ROWS, left, FACTS_ROWS),
        "text": Place(left, 1, cells - left, body - command),
        lower: Place(left, 1 + body - command, cells - left, command),
    }


def arrange_difference(cells: int, rows: int, lines: int) -> Places:
    """What differs above, the two texts below."""
    body, rule = rows - 2, is_short(rows)
    first = min(max(lines, 2) + (2 if rule else 3), body // 2)
    return {
        "differing": Place(0, 1, cells, first, rule),
        "texts": Place(0, 1 + first, cells, body - first, rule),
    }


def is_whole_screen(cells: int, rows: int) -> bool:
    """A dialog takes the place of the screen under it."""
    return cells < NARROW_CELLS or is_short(rows)


def dialog(cells: int, rows: int, wanted_cells: int, wanted_rows: int) -> Place:
    """A dialog in the middle; on a small screen it is the screen."""
    if is_whole_screen(cells, rows):
        return Place(0, 0, cells, rows)
    width = min(wanted_cells, cells - 4)
    height = min(wanted_rows, rows - 4)
    return Place((cells - width) // 2, (rows - height) // 2, width, height)
