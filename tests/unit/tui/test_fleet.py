from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from specctl.domain.events import HostDescribed, LinkChanged, ServersSeen
from specctl.domain.server import ServerState
from specctl.tui.render.fleet import COLUMNS, arranged, columns, draw_fleet, host_row, matches
from specctl.tui.render.glyphs import ORDER, STATES
from specctl.tui.render.headline import headline
from specctl.tui.render.lines import Drawing, plain, width
from specctl.tui.render.preview import draw_preview, draw_strip
from specctl.tui.render.standing import gpu_span, host_standing, short_name
from tests.tui import parts, story
from tests.unit.tui.scenes import scene_of

FLEET = scene_of(story.fleet())
ALWAYS = {"  HOST", "UTIL", "SERVER", "TOK/S", "ACCEPT EVEN", "!"}


def table(cells: int = 116, rows: int = 30, **values: str) -> Drawing:
    return draw_fleet(FLEET, FLEET.hosts, cells, rows, selected="pro6k-01", **values)[0]


def row_of(name: str) -> str:
    return next(line for line in plain(table().body).splitlines() if f" {name} " in line)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            "pro6k-01",
            ("● pro6k-01", "8 RTX PRO 6000", "93%", "ready", "52.0", "1.50 < 1.69", "▲2", "1s"),
        ),
        ("pro6k-02", ("ready", "58.6", "off")),
        ("pro6k-03", ("◐", "starting", "58%")),
        ("l40s-07", ("◆", "foreign by mkl", "212", "—")),
        ("l40s-08", ("◌", "stale link lost", "160", "1.86 < 2.58", "✗1", "4m")),
        ("h100-a1", ("1,240", "2.77 > 1.64")),
        ("h100-a2", ("◉", "busy prefill")),
        ("h200-b1", ("✗", "crashed out of memory")),
        ("h200-b2", ("no server GPU 5 lost", "▁▁▁▁▁✗▁▁")),
        ("gb10-lab", ("1 GB10 unified", "—", "1.31 > 1.12")),
        ("a100-old", ("no driver", "CPU 34%")),
        ("lab-1", ("ready SIMULATED",)),
    ],
)
def test_a_row_says_what_is_the_matter(name: str, parts: tuple[str, ...]) -> None:
    row = row_of(name)

    assert all(part in row for part in parts), row


@pytest.mark.parametrize("cells", [76, 80, 96, 116, 156, 246])
def test_columns_fit_and_those_that_matter_stay(cells: int) -> None:
    chosen = columns(cells)

    assert {column.head for column, _ in chosen} >= ALWAYS
    assert sum(size for _, size in chosen) + 2 * (len(chosen) - 1) <= cells
    assert all(width(line) <= cells for line in table(cells).body)


def test_columns_go_in_their_order() -> None:
    seen = [{column.head for column, _ in columns(cells)} for cells in range(250, 70, -1)]
    gone = list(dict.fromkeys(h for before, after in pairwise(seen) for h in before - after))
    order = sorted((c for c in COLUMNS if c.goes), key=lambda c: -c.goes)

    assert gone == [c.head for c in order][: len(gone)]
    assert len(gone) > 5


def test_hosts_stand_by_group_then_by_name() -> None:
    groups = arranged(FLEET, FLEET.hosts, "name")

    assert [name for name, _ in groups] == ["nvlink", "pcie", "small"]
    assert groups[1][1] == ["l40s-07", "l40s-08", "pro6k-01", "pro6k-02", "pro6k-03"]


def test_worst_first_puts_trouble_on_top() -> None:
    [(_, names)] = arranged(FLEET, FLEET.hosts, "worst")

    assert names[:2] == ["h200-b1", "l40s-08"]


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ("pro6k", {"pro6k-01", "pro6k-02", "pro6k-03"}),
        ("pro6k !ngram !baseline", {"pro6k-01"}),
        ("group=small", {"gb10-lab", "a100-old", "lab-1"}),
        ("CRASHED", {"h200-b1"}),
        ("nothing-like-it", set()),
    ],
)
def test_filter(terms: str, found: set[str]) -> None:
    assert {name for name in FLEET.hosts if matches(FLEET, name, terms)} == found


def test_the_selected_host_stays_in_sight_on_a_short_screen() -> None:
    drawing, owners = draw_fleet(FLEET, FLEET.hosts, 116, 6, selected="lab-1")

    assert drawing.cursor is not None
    assert owners[drawing.cursor] == "lab-1"
    assert len(drawing.body) == 6


def test_an_empty_table_says_what_to_do() -> None:
    empty = scene_of([])

    assert "specctl add SSH_ALIAS" in plain(draw_fleet(empty, [], 116, 8, selected=None)[0].body)
    nothing = draw_fleet(FLEET, [], 116, 8, selected=None, terms="gpu.util<5")[0]
    assert "Nothing matches gpu.util<5. esc clears the filter." in plain(nothing.body)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "pro6k-01",
            "Speculation costs 11% here. Accept length 1.50 is under its break-even 1.69.",
        ),
        ("h100-a1", "Speculation gains 69% here."),
        ("pro6k-02", "Runs without speculation."),
        ("l40s-08", "l40s-08 does not answer: 192.0.2.13:22 refused the connection"),
        ("h200-b1", "kimi-k2.5-eagle3 crashed: out of memory"),
        ("h200-b2", "No server on h200-b2. s starts a profile."),
    ],
)
def test_a_headline_answers_in_words(name: str, sentence: str) -> None:
    assert sentence in plain([headline(FLEET, name)[0]])


def test_a_refused_host_says_what_to_do() -> None:
    words = "the key of l40s-07 changed"
    event = LinkChanged("l40s-07", parts.NOW_S, "refused", words, "specctl trust l40s-07")
    first, second = headline(scene_of([event]), "l40s-07")

    assert f"l40s-07 cannot be used: {words}" in plain([first])
    assert "specctl trust l40s-07" in plain([second])


def test_the_hosts_own_name_is_not_said_twice() -> None:
    event = LinkChanged("a", parts.NOW_S, "lost", "host a: nothing answers")

    assert plain([headline(scene_of([event]), "a")[0]]) == "◌ a does not answer: nothing answers"


def test_the_preview_of_every_host_fits_every_size() -> None:
    for name in FLEET.hosts:
        for cells, rows in ((116, 20), (156, 30), (100, 8), (116, 4)):
            drawing = draw_preview(FLEET, name, cells, rows)
            assert len(drawing.body) <= rows
            assert all(width(line) <= cells for line in drawing.body), name


def test_the_strip_is_the_sentence() -> None:
    drawing = draw_strip(FLEET, "pro6k-01")

    assert len(drawing.body) == 1
    assert plain([drawing.summary]) == "kimi-k2.5-eagle3"


def test_several_servers_show_the_worst_and_their_number() -> None:
    servers = (
        parts.server("a"),
        parts.server("b", state=ServerState.STALLED, why="no token for 60 s"),
    )
    scene = scene_of([*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, servers)])
    standing = host_standing(scene, "pro6k-01")

    assert (standing.state, standing.word) == ("stalled", "2 servers")
    assert standing.rest == "1 stalled"


def test_a_rank_of_several_hosts_is_shown_as_such() -> None:
    rank = parts.server(is_multi_node=True, node_rank=1)
    scene = scene_of([*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, (rank,))])

    assert host_standing(scene, "pro6k-01").rest == "rank 1 of several hosts"


def test_every_state_has_a_glyph_of_its_own_or_another_word() -> None:
    assert {state.value for state in ServerState} <= set(STATES)
    assert set(ORDER) == set(STATES)
    for a in STATES:
        for b in STATES:
            assert a == b or (STATES[a][0], a) != (STATES[b][0], b)


def test_nothing_known_is_a_dash_and_never_a_zero() -> None:
    scene = scene_of([HostDescribed("new", parts.NOW_S)])
    row = host_row(scene, "new")
    line = plain(draw_fleet(scene, ["new"], 116, 5, selected=None)[0].body[1:2])

    assert row.age_s is None
    assert "0" not in line
    assert line.count("—") == 7


def test_old_after_three_periods() -> None:
    fresh = replace(FLEET, now_s=parts.NOW_S + 2)
    old = replace(FLEET, now_s=parts.NOW_S + 5)

    assert host_standing(fresh, "pro6k-02").word == "ready"
    assert host_standing(old, "pro6k-02").rest == "6 s old"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (parts.PRO6000, "RTX PRO 6000"),
        ("NVIDIA H100 80GB HBM3", "H100 80GB"),
        ("NVIDIA A100-SXM4-80GB", "A100 80GB"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA", "NVIDIA"),
    ],
)
def test_short_gpu_names(name: str, short: str) -> None:
    assert short_name(name) == short


@pytest.mark.parametrize(
    ("gpus", "text"),
    [((0, 1, 2, 3), "0-3"), ((0, 1), "0 1"), ((4,), "4"), ((0, 2, 3), "0 2 3"), ((), "")],
)
def test_gpu_spans(gpus: tuple[int, ...], text: str) -> None:
    assert gpu_span(gpus) == text
