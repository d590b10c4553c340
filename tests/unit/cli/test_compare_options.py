"""Options of a trial mean what the same words mean in its dialog."""

from __future__ import annotations

import click
import pytest

from specctl.cli.compare_options import BUDGET, CONCURRENCIES, DURATION, MARGIN
from specctl.domain.errors import UsageError
from specctl.tui.asked import READERS, TrialAsk

ASK = TrialAsk("here", "base", "eagle", "chat")
READ = (
    ("budget", BUDGET, ("40m", "none", "40", "soon")),
    ("margin", MARGIN, ("2%", "0.02", "±3%", "200%", "much")),
    ("concurrency", CONCURRENCIES, ("1", "1,4,16", "1, 4", "1,1", "0", "x")),
)


@pytest.mark.parametrize(
    ("setting", "kind", "text"),
    [(setting, kind, text) for setting, kind, texts in READ for text in texts],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_option_is_read_as_its_dialog_reads_it(setting, kind, text):
    assert _by_option(kind, text) == _by_dialog(setting, text)


def _by_dialog(setting, text):
    try:
        return READERS[setting](ASK, text)
    except UsageError as error:
        return f"{error.message}. {error.hint}"


def _by_option(kind, text):
    try:
        return kind.convert(text, None, None)
    except click.BadParameter as error:
        return error.message


@pytest.mark.parametrize("kind", [BUDGET, DURATION])
def test_a_time_without_a_unit_is_refused(kind):
    with pytest.raises(click.BadParameter, match="Write 40m, 40h or 40s"):
        kind.convert("40", None, None)
