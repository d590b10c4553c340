from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from specctl.domain.events import HostDescribed, LinkChanged, ServersSeen
from specctl.domain.filter_fields import chooses, filter_of
from specctl.domain.server import ServerState
from specctl.tui.editor import Editor
from specctl.tui.render.chrome import live
from specctl.tui.render.fleet import Table, draw_fleet, order_words, subject_of
from specctl.tui.render.fleet_columns import BY_NAME, COLUMNS, column_at, columns, host_row, name_of
from specctl.tui.render.fleet_order import ORDERS, Order, grouped, labels_of, next_group, ranked
from specctl.tui.render.fleet_prompt import LETTERS, filter_bar, order_bar
from specctl.tui.render.glyphs import ORDER, STATES
from specctl.tui.render.headline import headline
from specctl.tui.render.lines import Drawing, plain, width
from specctl.tui.render.preview import draw_preview, draw_strip
from specctl.tui.render.standing import gpu_span, host_standing, short_name
from specctl.tui.scene import no_details
from tests.tui import parts, story
from tests.unit.tui.scenes import scene_of

FLEET = scene_of(story.fleet())
ALWAYS = {"  HOST", "UTIL", "SERVER", "TOK/S", "ACCEPT EVEN", "!"}


def table(cells: int = 116, rows: int = 30) -> Drawing:
    return draw_fleet(FLEET, Table(FLEET.hosts, "pro6k-01"), cells, rows)[0]


def rank(by: str, *, is_turned: bool = False) -> list[str]:
    return ranked((host_row(FLEET, name) for name in FLEET.hosts), Order(by, is_turned))


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
    groups = grouped(FLEET, rank("host"), Order())

    assert [name for name, _ in groups] == ["nvlink", "pcie", "small"]
    assert groups[1][1] == ["l40s-07", "l40s-08", "pro6k-01", "pro6k-02", "pro6k-03"]


def test_worst_first_puts_trouble_on_top() -> None:
    [(_, names)] = grouped(FLEET, rank("worst"), Order("worst"))

    assert names[:2] == ["h200-b1", "l40s-08"]
    assert rank("worst", is_turned=True)[-2:] == ["l40s-08", "h200-b1"]


@pytest.mark.parametrize(
    ("by", "first", "last"),
    [
        ("tok/s", ["h100-a1", "h100-a2"], ["a100-old", "h200-b1", "h200-b2", "pro6k-03"]),
        ("accept", ["h100-a2", "h100-a1", "l40s-08"], ["pro6k-02", "pro6k-03"]),
        ("util", ["h100-a2"], []),
        ("alerts", ["h200-b1", "h200-b2", "l40s-08", "pro6k-01"], []),
        ("host", ["a100-old", "gb10-lab"], ["pro6k-03"]),
        ("age", ["l40s-08"], []),
        ("server", ["h200-b1", "l40s-08"], []),
    ],
)
def test_any_column_orders_and_what_is_not_known_is_last(
    by: str, first: list[str], last: list[str]
) -> None:
    names = rank(by)

    assert names[: len(first)] == first
    assert names[len(names) - len(last) :] == last
    assert sorted(names) == sorted(FLEET.hosts)


@pytest.mark.parametrize("by", [name for name in ORDERS if name != "worst"])
def test_turned_round_what_is_known_is_reversed_and_the_rest_stays_last(by: str) -> None:
    key = BY_NAME[by].key
    rows = {name: host_row(FLEET, name) for name in FLEET.hosts}
    there, back = ([key(rows[n]) for n in rank(by, is_turned=turned)] for turned in (False, True))
    known = [value for value in there if value is not None]

    assert [value for value in back if value is not None] == known[::-1]
    assert there[len(known) :] == back[len(known) :] == [None] * (len(rows) - len(known))


def test_the_same_order_again_turns_it_round_and_another_does_not() -> None:
    order = Order().chosen("tok/s")
    assert (order.by, order.falls) == ("tok/s", True)
    assert not order.chosen("tok/s").falls
    assert order.chosen("tok/s").chosen("tok/s") == order
    assert order.chosen("tok/s").chosen("mem").falls


def test_hosts_stand_by_any_label_or_by_none() -> None:
    assert labels_of(FLEET)[0] == "group"
    order = next_group(FLEET, replace(Order(), group=labels_of(FLEET)[-2]))
    assert order.group == ""
    assert grouped(FLEET, FLEET.hosts, order) == [("", list(FLEET.hosts))]
    assert next_group(FLEET, order).group == "group"


@pytest.mark.parametrize("cells", [76, 116, 196])
def test_the_head_marks_the_order_and_keeps_its_place(cells: int) -> None:
    plain_head = plain([table(cells).body[0]])
    for column, _ in columns(cells):
        shown = Table(FLEET.hosts, order=Order(name_of(column)))
        drawing = draw_fleet(FLEET, shown, cells, 30)[0]
        head = plain([drawing.body[0]])
        assert width(drawing.body[0]) <= cells
        at = plain_head.index(column.head.strip()[0])
        assert column_at(at, cells) is not None
        if len(column.head) < column.cells:
            assert ("▼" if shown.order.falls else "▲") in head


def test_every_cell_of_a_head_belongs_to_one_column() -> None:
    found = [column_at(cell, 116) for cell in range(116)]
    assert [c for c, _ in columns(116)] == list(dict.fromkeys(c for c in found if c is not None))


def test_the_letters_of_the_orders_are_told_apart() -> None:
    assert len(LETTERS) == len(COLUMNS) + 1
    assert set(LETTERS.values()) == set(ORDERS)
    for cells in (80, 120, 250):
        line = order_bar(Order("tok/s"), cells)
        assert width(line) == cells
        assert "tok/s▼" in plain([line])
    assert "l labels" in plain([order_bar(Order(), 200)])


def test_a_filter_says_how_many_match_or_all_that_is_wrong() -> None:
    editor = Editor("gpu.utl<5 accept>x", 18)
    problems = [str(problem) for problem in filter_of(editor.text).problems]
    assert "12 match" in plain([filter_bar(editor, 12, [], 80)])
    said = plain([filter_bar(editor, 12, problems, 160)])
    assert "✗ gpu.utl<5: no field gpu.utl. Nearest: gpu.util; accept>x: accept is a number" in said
    assert width(filter_bar(editor, 12, problems, 80)) == 80


def test_the_order_is_said_in_words() -> None:
    assert order_words(FLEET, Table(FLEET.hosts)) == "by group, by name"
    assert order_words(FLEET, Table(FLEET.hosts, order=Order("worst"))) == "worst first"
    turned = Order("tok/s", is_turned=True, group="")
    assert order_words(FLEET, Table(FLEET.hosts, order=turned)) == "by tok/s, turned"


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ("pro6k", {"pro6k-01", "pro6k-02", "pro6k-03"}),
        ("pro6k !ngram !baseline", {"pro6k-01"}),
        ("group=small", {"gb10-lab", "a100-old", "lab-1"}),
        ("CRASHED", {"h200-b1"}),
        ("nothing-like-it", set()),
        ("gpu.util<5", {"h200-b1", "h200-b2", "pro6k-03"}),
        ("alert=lost", {"l40s-08"}),
        ("accept<9 even<1.5", {"gb10-lab"}),
        ("state=starting", {"pro6k-03"}),
    ],
)
def test_filter(terms: str, found: set[str]) -> None:
    wanted = filter_of(terms)
    subjects = [subject_of(FLEET, name, with_evens=True) for name in FLEET.hosts]

    assert {subject.name for subject in subjects if chooses(wanted, subject)} == found


def test_the_selected_host_stays_in_sight_on_a_short_screen() -> None:
    drawing, owners = draw_fleet(FLEET, Table(FLEET.hosts, "lab-1"), 116, 6)

    assert drawing.cursor is not None
    assert owners[drawing.cursor] == "lab-1"
    assert len(drawing.body) == 6


def test_an_empty_table_says_what_to_do() -> None:
    empty = scene_of([])

    assert "specctl add SSH_ALIAS" in plain(draw_fleet(empty, Table([]), 116, 8)[0].body)
    nothing = draw_fleet(FLEET, Table([], terms="gpu.util<5"), 116, 8)[0]
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


@pytest.mark.parametrize(
    ("passed_s", "words"),
    [(2, "◌ retry in 4 s"), (7, "◌ reconnecting"), (-3600, "◌ retry within 6 s")],
)
def test_a_wait_that_the_clock_ran_back_over_is_not_called_an_hour(
    passed_s: int, words: str
) -> None:
    lost = LinkChanged("pro6k-01", parts.NOW_S, "lost", retry_at_s=parts.NOW_S + 6)
    scene = scene_of([*story.pro6k_01(), lost], now_s=parts.NOW_S + passed_s)
    assert plain([live(scene, "pro6k-01")]) == words


def test_a_host_that_is_connected_to_again_is_not_shown_as_live() -> None:
    """The samples before are young still, and nothing can be done there."""
    scene = scene_of([*story.fleet(), LinkChanged("pro6k-01", parts.NOW_S, "connecting")])
    first, second = headline(scene, "pro6k-01")

    assert host_standing(scene, "pro6k-01").state == "stale"
    assert plain([live(scene, "pro6k-01")]) == "◌ reconnecting"
    assert plain([first]) == "◌ Connecting to pro6k-01 again"
    assert "Values are 1 s old." in plain([second])


@pytest.mark.parametrize(
    ("profile", "words"),
    [("x", "c compares it with its baseline."), (None, "c compares profiles.")],
)
def test_an_unknown_break_even_names_the_key_that_finds_it_out(
    profile: str | None, words: str
) -> None:
    server = parts.server(profile=profile)
    scene = scene_of(
        [*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, (server,))], details=no_details
    )
    assert f"Break-even is not known: {words}" in plain([headline(scene, "pro6k-01")[0]])


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
    line = plain(draw_fleet(scene, Table(["new"]), 116, 5)[0].body[1:2])

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
