"""Profiles as lines: marks beside the text, the command, values with their origin, drift."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import NOT_YET
from specctl.tui.reading import Git, ProfileEntry
from specctl.tui.render.drift import drift_lines
from specctl.tui.render.lines import plain, width
from specctl.tui.render.marks import finding_more, text_line, text_rows, worst_by_line
from specctl.tui.render.profiles import git_note, lint_counts, list_line
from specctl.tui.render.recipe import command_rows, flag_of, flagged, recipe_line
from specctl.tui.render.server import drift_badge
from specctl.tui.render.syntax import read_code
from specctl.tui.services import Argument, ServerDetails
from tests.tui import parts, recipes

WIDTHS = (30, 46, 76, 120, 200)
NARROWEST_DIALOG = 76
FILE = recipes.EAGLE_FILE


def test_findings_stand_under_their_lines_and_others_first() -> None:
    rows = text_rows(20, recipes.FINDINGS, FILE)

    assert rows[0].finding is recipes.FINDINGS[3], "about no line"
    at = next(i for i, row in enumerate(rows) if row.line == 8)
    assert rows[at + 1].finding is recipes.FINDINGS[0]
    assert sum(row.line is not None for row in rows) == 20


def test_a_finding_of_another_file_or_beyond_the_end_comes_first() -> None:
    base = replace(recipes.FINDINGS[0], file="profiles/base.toml")
    beyond = replace(recipes.FINDINGS[0], line=99)

    rows = text_rows(20, (base, beyond), FILE)

    assert [row.finding for row in rows[:2]] == [base, beyond]
    line = text_line(rows[0], read_code("a.toml", ""), {}, FILE, 90, chosen=False)
    assert "profiles/base.toml:9" in plain([line])


def test_the_mark_of_a_line_is_that_of_its_worst_finding() -> None:
    hint = replace(recipes.FINDINGS[0], severity=Severity.HINT)
    worst = worst_by_line(text_rows(20, (hint, *recipes.FINDINGS), FILE))

    assert worst == {8: Severity.ERROR, 13: Severity.WARNING, 16: Severity.REWRITE}


def test_the_words_of_a_finding_are_whole_somewhere() -> None:
    long = replace(recipes.FINDINGS[0], message="word " * 30)

    text = plain(finding_more(long, FILE, 50))

    assert text.count("word") == 30
    assert "fix  write cuda-graph-max-bs-decode = 16" in text


@pytest.mark.parametrize("cells", WIDTHS[1:])
def test_lines_are_never_wider_than_their_panel(cells: int) -> None:
    code = read_code(FILE, recipes.PROFILE_TEXT)
    rows = text_rows(len(code.lines), recipes.FINDINGS, FILE)
    worst = worst_by_line(rows)
    lines = [text_line(row, code, worst, FILE, cells, chosen=True) for row in rows]
    lines += [recipe_line(row, cells) for row in recipes.recipe().rows]
    lines += [line for f in recipes.FINDINGS for line in finding_more(f, FILE, cells)]
    lines += drift_lines(recipes.DRIFT, cells) if cells >= NARROWEST_DIALOG else []

    assert [line for line in lines if width(line) > cells] == []


def test_the_command_is_whole_and_pasteable() -> None:
    made = recipes.recipe()
    for cells in WIDTHS:
        text = plain(command_rows(made, (), cells)).replace(" \\\n", " ")
        assert text.split() == [
            *(f"{k}={v}" for k, v in made.environment.items()), *made.argv
        ]  # fmt: skip


def test_what_lint_minds_is_coloured_in_the_command() -> None:
    spans = [span for line in command_rows(recipes.recipe(), recipes.FINDINGS, 80) for span in line]

    assert ("--cuda-graph-max-bs", "bad") in spans
    assert (" 6", "warn") in spans
    assert ("--tp-size", "dim") in spans


@pytest.mark.parametrize(
    ("key", "flag"),
    [
        ("model", "--model-path"),
        ("arguments.tp-size", "--tp-size"),
        ("speculation.num-steps", "--speculative-num-steps"),
        ("env.HF_TOKEN", ""),
        ("", ""),
    ],
)
def test_keys_become_flags(key: str, flag: str) -> None:
    assert flag_of(key) == flag


def test_the_worst_finding_of_a_flag_counts() -> None:
    mild = Finding(Severity.HINT, "arguments.tp-size", "")
    bad = Finding(Severity.ERROR, "arguments.tp-size", "")

    assert flagged((bad, mild, bad))["--tp-size"].severity is Severity.ERROR


def test_counts_leave_hints_out() -> None:
    assert plain([lint_counts(recipes.FINDINGS)]) == "✗1 ▲2"
    assert plain([lint_counts(recipes.FINDINGS[3:])]) == "✓"


def test_what_runs_otherwise_is_marked_in_the_list() -> None:
    entry = ProfileEntry("p", "profiles/p.toml", git=Git.EDITED)
    runs = [("pro6k-01", parts.server())]

    assert plain([list_line(entry, [], runs, 46)]).endswith("pro6k-01 ●")
    assert plain([list_line(entry, [], runs, 46, has_drift=True)]).endswith("pro6k-01 ● ≠")
    two = list_line(entry, [], runs * 2, 46, has_drift=True)
    assert plain([two]).endswith("2 servers ≠")
    assert plain([git_note((entry,))]) == "M edited"


def test_the_badge_tells_drift_from_what_the_engine_rewrites() -> None:
    details = ServerDetails(drift=recipes.DRIFT)

    assert plain([drift_badge(details)]) == "≠ 2 drift  1 rewritten"
    assert drift_badge(ServerDetails()) == []
    argument = Argument("tp-size", "8", "4", "by engine")
    assert plain([drift_badge(ServerDetails(arguments=(argument,)))]) == "≠ 1 drift"


def test_drift_says_what_could_not_be_compared_and_when_there_is_none() -> None:
    calm = replace(recipes.DRIFT, rows=())

    assert "7c1e runs as kimi-k2.5-eagle3 says." in plain(drift_lines(calm, 90))
    assert "follows no profile" in plain(drift_lines(replace(calm, profile=None), 90))
    assert "environment was not compared: no permission" in plain(drift_lines(calm, 90))
    argless = replace(calm, missing={"argv": NOT_YET})
    assert "command line was not compared: not yet read" in plain(drift_lines(argless, 90))
