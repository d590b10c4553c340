"""How fast transcripts are replayed, against the calls of the compiled matcher alone."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from specctl.domain.forecast.replay import add_up, replay, replay_on
from specctl.domain.ngram.settings import MatchType, NgramSettings
from specctl.services.forecasting import seldom_collected
from tests.bench.measure import Measured, Side
from tests.live.conftest import ENVIRONMENT
from tests.ngram_cpp.real import RealMatcher, compile_matcher
from tests.unit.domain.forecast.transcripts import like_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from ctypes import CDLL

    from specctl.domain.forecast.transcripts import Transcript
    from specctl.domain.ngram.matcher import Matcher

REPEATS = 5
SLOWER = 3.0
"""The goal: a third of the tokens per second of the compiled matcher."""

LINEAR = 1.25
"""Time per verify step with four times as many tokens, over that with fewer."""

SETTINGS = {kind: NgramSettings(match_type=kind, capacity=2_000_000) for kind in MatchType}


class TimedCalls:
    """A library that adds up the time spent inside of it, without what Python does around it."""

    def __init__(self, library: CDLL) -> None:
        self._library, self.seconds = library, 0.0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._library, name)

        def timed(*values: Any) -> Any:
            began_s = time.process_time()
            found = function(*values)
            self.seconds += time.process_time() - began_s
            return found

        return timed


def forecasting() -> list[Measured]:
    """Both ways of growing trees, and how the time grows with the tokens."""
    few, many = like_text(60, 200), like_text(240, 200)
    with tempfile.TemporaryDirectory() as folder, seldom_collected():
        (package,) = ENVIRONMENT.glob("lib/python3*/site-packages/sglang")
        library = compile_matcher(package, Path(folder))
        rows = [_against(library, kind, few) for kind in SETTINGS]
        growth = tuple(_step_us(many) / _step_us(few) for _ in range(REPEATS))
    tokens = sum(len(one.output) for one in many)
    return [
        *rows,
        Measured("growth of a forecast's time per step", "x", Side("specctl", growth), None,
                 LINEAR, f"from {tokens // 4} to {tokens} tokens"),
    ]  # fmt: skip


def _against(library: CDLL, kind: MatchType, transcripts: Sequence[Transcript]) -> Measured:
    ours, theirs = [], []
    for _ in range(REPEATS):
        ours.append(_ours_us(transcripts, kind))
        theirs.append(_theirs_us(library, transcripts, kind))
    return Measured(
        f"replay of transcripts, {kind}", "us/token", Side("specctl", tuple(ours)),
        Side("the compiled matcher's calls", tuple(theirs)), SLOWER,
        "processor time; of the compiled one without what calls it",
    )  # fmt: skip


def _ours_us(transcripts: Sequence[Transcript], kind: MatchType) -> float:
    began_s = time.process_time()
    found = add_up(replay(transcripts, SETTINGS[kind]))
    return (time.process_time() - began_s) / found.tokens * 1e6


def _step_us(transcripts: Sequence[Transcript]) -> float:
    began_s = time.process_time()
    found = add_up(replay(transcripts, SETTINGS[MatchType.BFS]))
    return (time.process_time() - began_s) / found.steps * 1e6


def _theirs_us(library: CDLL, transcripts: Sequence[Transcript], kind: MatchType) -> float:
    timed = TimedCalls(library)
    matcher = RealMatcher(cast("CDLL", timed), SETTINGS[kind])
    began_s = timed.seconds
    try:
        found = add_up(replay_on(cast("Matcher", matcher), transcripts))
        return (timed.seconds - began_s) / found.tokens * 1e6
    finally:
        matcher.close()
