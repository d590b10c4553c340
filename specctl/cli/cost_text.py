"""Step costs as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.cli.table import table
from specctl.domain.costing import reduce_words
from specctl.domain.figures import UNKNOWN, fixed, scaled

if TYPE_CHECKING:
    from specctl.domain.costing import CostReport, CostRow, Prediction
    from specctl.domain.interconnect import AllReduce, Link

HEADERS = (
    "concurrency", "base-ms", "step-ms", "needs", "accept-length", "times-faster", "predicted",
    "residual", "first-tokens", "rest", "from",
)  # fmt: skip
RIGHT = (
    "concurrency base-ms step-ms needs accept-length times-faster predicted residual first-tokens "
    "rest"
)
REDUCE_HEADERS = ("tokens", "KiB", "median-us", "fastest-us", "ms-per-step")
LINK_HEADERS = ("GPU", "PCIe-now", "at-most", "NVLink")
IDLE = "an idle GPU lowers its PCIe generation; it rises again under load"
MILLI, MICRO = 0.001, 0.000_001
HAS_NVLINK = {True: "yes", False: "none", None: UNKNOWN}


def write_report(found: CostReport) -> None:
    """A block for each concurrency, then what lies between the GPUs."""
    run = f"  run {found.run}" if found.run else ""
    write(style(f"{found.host}  {found.profile} against {found.baseline}{run}", "bold"))
    if found.rows:
        lines = [line for row in found.rows for line in _lines(row)]
        for text in table(HEADERS, lines, right=RIGHT):
            write(text)
        write()
        for row in found.rows:
            for words in _words(row):
                write(words)
    _write_links(found.links)
    if found.allreduce is not None:
        _write_reduced(found.allreduce)
        for words in reduce_words(found.allreduce, found.rows):
            write(words)
    for words in found.notes:
        write(f"- {words}")


def _lines(row: CostRow) -> list[tuple[str, ...]]:
    measured = (
        str(row.concurrency),
        fixed(scaled(row.base_s, MILLI), 2),
        fixed(scaled(row.step_s, MILLI), 2),
        fixed(row.break_even, 2),
        fixed(row.accept_length, 2),
        fixed(row.speedup, 2, "x"),
    )
    blank = ("",) * len(measured)
    shown = row.predictions or (None,)
    return [(*(blank if place else measured), *_predicted(one)) for place, one in enumerate(shown)]


def _predicted(one: Prediction | None) -> tuple[str, ...]:
    if one is None:
        return UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, ""
    parts = (one.residual, one.first_token_residual, one.rest_residual)
    return fixed(one.speedup, 2, "x"), *map(_share, parts), one.source


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:+.1%}"


def _words(row: CostRow) -> list[str]:
    at = f"at concurrency {row.concurrency}"
    lines = [f"{at}: {words}" for words in row.suspects]
    if row.break_even is not None and row.accept_length is not None:
        more = "more" if row.accept_length > row.break_even else "less"
        lines.append(
            f"{at} a step costs {row.break_even:.2f} plain ones and brings "
            f"{row.accept_length:.2f} tokens, {more} than it costs"
        )
    lines += _first_token_words(row, at)
    if row.between_steps_s is not None and row.step_s:
        share = row.between_steps_s / row.step_s
        lines.append(
            f"{at} the server recorded {fixed(scaled(row.recorded_step_s, MILLI), 2)} ms a step; "
            f"{share:.0%} of the time passes between its steps"
        )
    return lines


def _first_token_words(row: CostRow, at: str) -> list[str]:
    """What splits the residual, or why nothing does; nothing where there is no residual."""
    if all(one.residual is None for one in row.predictions):
        return []
    if row.first_token_share is None:
        why = row.missing.get("first_token_share")
        return [f"{at} the residual is not split: {why.detail if why else UNKNOWN}"]
    return [
        f"{at} first tokens, which drafts do not hasten, are {row.first_token_share:.0%} of the "
        f"baseline's time ({row.first_token_source}): the residual is what they explain and the "
        "rest"
    ]


def _write_links(links: tuple[Link, ...]) -> None:
    if not links:
        return
    write()
    for line in table(LINK_HEADERS, map(_link, links), right="GPU"):
        write(line)
    if any((one.pcie_generation or 0) < (one.pcie_generation_max or 0) for one in links):
        write(f"- {IDLE}")


def _link(link: Link) -> tuple[str, ...]:
    return (
        str(link.gpu),
        _pcie(link.pcie_generation, link.pcie_width),
        _pcie(link.pcie_generation_max, link.pcie_width_max),
        HAS_NVLINK[link.has_nvlink],
    )


def _pcie(generation: int | None, width: int | None) -> str:
    if generation is None and width is None:
        return UNKNOWN
    return f"gen {UNKNOWN if generation is None else generation} x{width or UNKNOWN}"


def _write_reduced(found: AllReduce) -> None:
    write()
    write(
        f"all-reduce: {found.backend} over {found.ranks} ranks, torch {found.torch}; a step of "
        f"{found.layers} layers holds {2 * found.layers}"
    )
    rows = [
        (
            str(size.tokens),
            fixed(size.message_bytes / 1024, 1),
            fixed(scaled(size.median_s, MICRO), 0),
            fixed(scaled(size.fastest_s, MICRO), 0),
            fixed(scaled(size.per_step_s, MILLI), 2),
        )
        for size in found.sizes
    ]
    for line in table(REDUCE_HEADERS, rows, right=" ".join(REDUCE_HEADERS)):
        write(line)
    for words in found.notes:
        write(f"- {words}")
