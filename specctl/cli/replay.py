"""`specctl replay FILE`."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.diagnostics import warn
from specctl.cli.invocation import Finite, ScreenWanted, json_option
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.status_text import watch_line
from specctl.domain.errors import UsageError
from specctl.domain.events import HostSampled, LinkChanged, LogRead
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.published import Statuses
from specctl.domain.state import State, reduce

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.adapters.recording import Recording
    from specctl.domain.events import Event

_AFTER = re.compile(r"(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d+)?)")


class After(click.ParamType[float]):
    """A time after the beginning: `90`, `1:30` or `1:02:03`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """In seconds."""
        match = _AFTER.fullmatch(str(value))
        if match is None:
            self.fail(f"{value} is no time; write 90, 1:30 or 1:02:03", param, ctx)
        hours, minutes, seconds = match.groups()
        return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--speed", type=Finite(0.1, 1000), default=1.0, show_default=True,
              metavar="N", help="So many times faster than it was.")  # fmt: skip
@click.option("--at", "at_s", type=After(), metavar="TIME",
              help="Begin so long after its beginning: 90, 1:30 or 1:02:03.")  # fmt: skip
@click.option("--headless", is_flag=True, help="Print a line a sample instead of the screen.")
@json_option
@click.pass_obj
def command(
    _invocation: object,
    file: Path,
    *,
    speed: float,
    at_s: float | None,
    headless: bool,
    as_json: bool,
) -> None:
    """Show a recording on the screens, as it was; nothing in it can be acted on.

    With --headless print what happened, from --at on; with --json the state at --at, else at the
    end, as `status --json` does. What `watch --json` printed can be shown too.

    \b
    specctl replay slow.jsonl --speed 8
    specctl replay slow.jsonl --at 1:30 --json
    """  # noqa: D301  click reads \b
    from specctl.adapters.recording import Recording

    is_shown = not (headless or as_json)
    if is_shown and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal", hint="Add --headless or --json.")
    with Recording(file) as recording:
        if is_shown:
            raise ScreenWanted(file, speed, at_s or 0.0)
        _notice(recording)
        if as_json:
            _write_state(recording, at_s)
        else:
            _write_lines(recording, at_s)
        if recording.unreadable:
            warn(f"{recording.unreadable:,} of its lines are no events; they were left out")


def _notice(recording: Recording) -> None:
    for name in recording.head.simulated_hosts:
        SHOWN.notice(Host(name, is_simulated=True))


def _write_state(recording: Recording, at_s: float | None) -> None:
    until_s = recording.ended_s if at_s is None else recording.began_s + at_s
    state = State()
    for event in takewhile(lambda event: event.time_s <= until_s, recording.events()):
        state = reduce(state, event)
    write_json("status", plain(Statuses(state.hosts)))


def _write_lines(recording: Recording, at_s: float | None) -> None:
    """Without a time everything, also where the recorder's clock was put back."""
    since_s, state = recording.began_s + (at_s or 0.0), State()
    for event in recording.events():
        state = reduce(state, event)
        if at_s is None or event.time_s >= since_s:
            for line in _lines(event, state):
                write(f"{_clock(event.time_s)}  {line}")


def _lines(event: Event, state: State) -> Iterable[str]:
    match event:
        case HostSampled(host=host):
            yield watch_line(host, state.host(host))
        case LinkChanged(host=host, words=words) if words:
            yield f"{host}  {event.link}: {words}"
        case LogRead(host=host, server=server, lines=lines):
            yield from (f"{host}/{server}| {line}" for line in lines)


def _clock(time_s: float) -> str:
    return datetime.fromtimestamp(time_s).astimezone().strftime("%H:%M:%S")
