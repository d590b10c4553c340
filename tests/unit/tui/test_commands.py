from __future__ import annotations

import pytest

from specctl.domain.errors import UsageError
from specctl.tui.actions import BY_ID
from specctl.tui.commands import BY_NAME, COMMANDS, Known, complete, parse, usage

KNOWN = Known(
    hosts=("l40s-07", "pro6k-01", "pro6k-03"),
    servers=("l40s-07", "pro6k-01/7c1e", "pro6k-01/9b02"),
    profiles=("kimi-k2.5-baseline", "kimi-k2.5-eagle3", "qwen3-4b-ngram"),
    runs=("5c0ffee2", "0ddba115"),
    notes={"kimi-k2.5-baseline": "no draft  58.6 tok/s on pro6k-02"},
)


@pytest.mark.parametrize(
    ("text", "action", "values"),
    [
        (
            "start pro6k-03 qwen3-4b-ngram",
            "server.start",
            {"HOST": "pro6k-03", "PROFILE": "qwen3-4b-ngram"},
        ),
        ("start qwen3-4b-ngram", "server.start", {"PROFILE": "qwen3-4b-ngram"}),
        ("stop", "server.stop", {}),
        ("stop pro6k-01/9b02", "server.stop", {"SERVER": "pro6k-01/9b02"}),
        ("q", "app.quit", {}),
        ("theme mono", "theme.choose", {"THEME": "mono"}),
        ("readonly off", "host.toggle_readonly", {"SWITCH": "off"}),
        ("ro on", "host.toggle_readonly", {"SWITCH": "on"}),
        ("span 30", "live.span", {"SPAN": "30"}),
        ("filter pro6k !ngram", "filter.open", {"TERMS": "pro6k !ngram"}),
        ("  host   pro6k-01 ", "host.open", {"HOST": "pro6k-01"}),
        ("prof pro6k-01", "profiles.open", {"HOST": "pro6k-01"}),
        ("trials 5c0ffee2", "trials.open", {"RUN": "5c0ffee2"}),
        ("runs", "trials.open", {}),
    ],
)
def test_parse(text: str, action: str, values: dict[str, str]) -> None:
    parsed = parse(text, KNOWN)

    assert parsed.command.action == action
    assert parsed.values == values


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "No command was typed.", "tab shows"),
        ("strat x", "No command 'strat'.", "Nearest: start"),
        ("start", "start needs PROFILE.", "Usage: start [HOST] PROFILE"),
        ("start pro6k-3 kimi-k2.5-eagle3", "No profile 'pro6k-3'.", ""),
        ("host pro6k-02", "No host 'pro6k-02'.", "Nearest: pro6k-0"),
        ("theme solarized", "No theme 'solarized'.", "Known: dark light"),
        ("quit now", "quit takes no 'now'.", "Usage: quit"),
        ("stop pro6k-01/7c1e now", "stop takes no 'now'.", "Usage: stop [SERVER]"),
    ],
)
def test_what_cannot_be_parsed_says_what_would_do(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, KNOWN)

    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sta", ["start"]),
        ("start ", ["l40s-07", "pro6k-01", "pro6k-03", *KNOWN.profiles]),
        ("start pro6k-03 kimi", ["kimi-k2.5-baseline", "kimi-k2.5-eagle3"]),
        ("start pro6k-03 eagle", ["kimi-k2.5-eagle3"]),
        ("start kimi-k2.5-eagle3 ", []),
        ("theme d", ["dark"]),
        ("nothing ", []),
        ("stop pro6k-01/", ["pro6k-01/7c1e", "pro6k-01/9b02"]),
    ],
)
def test_complete(text: str, words: list[str]) -> None:
    assert [found.word for found in complete(text, KNOWN)][: len(words)] == words
    assert len(complete(text, KNOWN)) >= len(words)


def test_a_completion_carries_the_whole_line_and_what_is_known() -> None:
    [first, *_] = complete("start pro6k-03 kimi", KNOWN)

    assert first.text == "start pro6k-03 kimi-k2.5-baseline"
    assert first.note == "no draft  58.6 tok/s on pro6k-02"


def test_an_empty_line_shows_every_command() -> None:
    assert [found.word for found in complete("", KNOWN)] == sorted(c.name for c in COMMANDS)


def test_names_and_aliases_are_unambiguous_and_name_actions() -> None:
    names = [name for c in COMMANDS for name in (c.name, *c.aliases)]

    assert len(names) == len(set(names)) == len(BY_NAME)
    assert {c.action for c in COMMANDS} <= set(BY_ID)


def test_usage() -> None:
    assert usage("start pro") == "start [HOST] PROFILE"
    assert usage("") == "COMMAND"


def test_what_begins_several_commands_is_none() -> None:
    with pytest.raises(UsageError, match="No command 'st'"):
        parse("st", KNOWN)


def test_runs_and_aliases_are_completed() -> None:
    assert [found.word for found in complete("trials ", KNOWN)] == ["5c0ffee2", "0ddba115"]
    assert [(found.word, found.note) for found in complete("hosts", KNOWN)] == [
        ("hosts", "fleet: Fleet")
    ]
    assert "hosts" not in [found.word for found in complete("", KNOWN)]
