"""Where the panels of the trial screens stand at a size."""

from __future__ import annotations

from specctl.tui.arrange import NARROW_CELLS, WIDE_CELLS, Place, Places, is_short

WHY_CELLS, WIDE_WHY_CELLS = 46, 60
LEAST_PLOT_ROWS, LAUNCH_ROWS = 12, 12


def is_stacked(cells: int, rows: int) -> bool:
    """All panels but the first share one slot."""
    return is_short(rows) or cells < NARROW_CELLS


def arrange_trial(
    cells: int, rows: int, *, answer: int, launches: int, slot: str, plot: str
) -> Places:
    """The answer above; plot and reasons; launches below.

    `answer` and `launches` are the rows of those panels' texts; `slot` names the one panel shown
    under the answer where there is room for one, `plot` the plot shown where there are more.
    """
    body, rule = rows - 2, is_short(rows)
    first = min(answer + (1 if rule else 2), body // 2)
    if is_stacked(cells, rows):
        return {
            "answer": Place(0, 1, cells, first, rule),
            slot: Place(0, 1 + first, cells, body - first, rule),
        }
    last = min(launches + 3, LAUNCH_ROWS, max(4, body - first - LEAST_PLOT_ROWS))
    y, rest = 1 + first, body - first - last
    out = {"answer": Place(0, 1, cells, first)}
    if cells < WIDE_CELLS:
        left = cells - WHY_CELLS
        out[plot] = Place(0, y, left, rest)
    else:
        left = cells - WIDE_WHY_CELLS
        half = left // 2
        out["ratio"] = Place(0, y, half, rest)
        out["map"] = Place(half, y, left - half, rest)
    out["why"] = Place(left, y, cells - left, rest)
    out["launches"] = Place(0, y + rest, cells, last)
    return out


def arrange_trials(cells: int, rows: int, *, trials: int, answer: int) -> Places:
    """The list; under it the chosen trial's answer, and its interval where there is room."""
    body, rule = rows - 2, is_short(rows)
    edge = 1 if rule else 2
    second = min(answer + edge, body // 2)
    if rule:
        first = body - second
        return {
            "trials": Place(0, 1, cells, first, rule),
            "answer": Place(0, 1 + first, cells, second, rule),
        }
    first = min(max(trials, 2) + 3, body - second - LEAST_PLOT_ROWS)
    y, rest = 1 + first + second, body - first - second
    if cells < NARROW_CELLS:
        plots = {"ratio": Place(0, y, cells, rest)}
    else:
        half = cells // 2
        plots = {
            "ratio": Place(0, y, half, rest),
            "map": Place(half, y, cells - half, rest),
        }
    return {
        "trials": Place(0, 1, cells, first),
        "answer": Place(0, 1 + first, cells, second),
        **plots,
    }
