"""How far a start has come, read from its log: ordered, per launch, with progress.

Texts of SGLang 0.4.2 to 0.5.23. A phase is reached when its first line appears. Milestones only
ever move forward; only a new launch in the same file begins again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from specctl.domain.server import Milestone
from specctl.facts.log_lines import LineKind, launch_id_of

if TYPE_CHECKING:
    from specctl.facts.log_lines import LogLine


class Reached(NamedTuple):
    """One milestone of a start."""

    milestone: Milestone
    time: str | None
    """The server's own stamp of the first line that showed it."""

    words: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the current phase is: shards read, batch sizes captured."""

    milestone: Milestone
    done: int
    total: int
    words: str
    """`weights 12/62`."""

    remaining_s: float | None = None
    """The bar's own estimate; None before it has one."""

    @property
    def fraction(self) -> float:
        """0-1."""
        return min(1.0, self.done / self.total)


ORDER = {milestone: place for place, milestone in enumerate(Milestone)}

_STARTS: tuple[tuple[str, Milestone], ...] = (
    ("server_args=", Milestone.ARGUMENTS),
    ("Init torch distributed begin", Milestone.DISTRIBUTED),
    ("Init torch distributed ends", Milestone.DISTRIBUTED),
    ("Init parallel begin", Milestone.DISTRIBUTED),
    ("Init parallel ends", Milestone.DISTRIBUTED),
    ("KV Cache is allocated", Milestone.MEMORY_POOL),
    ("Memory pool end", Milestone.MEMORY_POOL),
    ("Loaded external ngram corpus", Milestone.NGRAM_BUILD),
    ("Building extension module ngram", Milestone.NGRAM_BUILD),
    ("INFO:     Application startup complete", Milestone.WARM_UP),
    ("INFO:     Uvicorn running on", Milestone.WARM_UP),
    ("The server is fired up and ready to roll!", Milestone.READY),
)
_CAPTURE = re.compile(r"Capture (?P<what>.*?)\b(?P<end>begin|end)\b", re.IGNORECASE)
_BAR = re.compile(
    r"\d{1,3}%[^%]{0,400}?(?P<done>\d{1,18})/(?P<total>\d{1,18})"
    r" \[(?:[\d:]{1,20}<(?P<left>\d{1,9}(?::\d\d){0,2}))?"
)
_LOADED = re.compile(r"type=(?P<model>\w+).*mem usage=(?P<gb>-?[\d.]+) GB")
_EXITED = re.compile(r"=* ?Process exited with code")
_MAX_RANKS = 4096


class MilestoneTracker:
    """Follows one launch through its log; feed it every line in order."""

    def __init__(self, launch_id: str | None = None) -> None:
        self._wanted = launch_id
        self._begin(is_mine=launch_id is None)

    def _begin(self, *, is_mine: bool) -> None:
        self._reached: list[Reached] = []
        self._loads: dict[tuple[str | None, str], int] = {}
        self._is_mine = is_mine
        self.is_over = False
        """The log says that its process has ended: what follows is not the server's."""

        self.phase: Milestone | None = None
        """The latest phase entered; older versions load a draft after capturing the target."""

        self.is_phase_done = False
        self.graph: str | None = None
        """Whose graphs were captured last: `target` or `draft`."""

        self.progress: Progress | None = None

    def copy(self) -> MilestoneTracker:
        """A picture of now, which later lines do not change."""
        other = MilestoneTracker(self._wanted)
        other._is_mine, other.is_over = self._is_mine, self.is_over
        other._reached, other._loads = list(self._reached), dict(self._loads)
        other.phase, other.is_phase_done = self.phase, self.is_phase_done
        other.graph, other.progress = self.graph, self.progress
        return other

    def is_same(self, other: MilestoneTracker) -> bool:
        """Whether both are at the same place of a start."""
        return (
            self._reached == other._reached
            and self.phase is other.phase
            and self.is_phase_done is other.is_phase_done
            and self.graph == other.graph
        )

    @property
    def reached(self) -> tuple[Reached, ...]:
        """Every milestone of this launch, in the order in which it was reached."""
        return tuple(self._reached)

    @property
    def milestone(self) -> Milestone | None:
        """The furthest milestone reached."""
        return max((r.milestone for r in self._reached), key=ORDER.__getitem__, default=None)

    def feed(self, line: LogLine) -> Milestone | None:
        """The milestone that `line` is the first to show, if any."""
        if line.kind is LineKind.LAUNCH:
            return self._launch(line)
        if not self._is_mine or self.is_over:
            return None
        if is_exit_line(line.text):
            self.is_over = True
            return None
        if line.kind is LineKind.PROGRESS:
            return self._bar(line)
        return self._mark(line)

    def _launch(self, line: LogLine) -> Milestone | None:
        found = launch_id_of(line.text)
        self._begin(is_mine=self._wanted is None or found == self._wanted)
        return self._reach(Milestone.LAUNCHED, line, line.text) if self._is_mine else None

    def _mark(self, line: LogLine) -> Milestone | None:
        text = line.text
        if text.startswith("Load weight "):
            return self._load(line)
        capture = _CAPTURE.match(text)
        if capture is not None:
            return self._capture(line, capture)
        if text.startswith("max_total_num_tokens="):
            self.is_phase_done, self.progress = True, None
            return None
        for start, milestone in _STARTS:
            if text.startswith(start):
                return self._enter(milestone, line)
        return None

    def _enter(self, milestone: Milestone, line: LogLine) -> Milestone | None:
        if milestone is Milestone.ARGUMENTS and self._has_loaded:
            self._begin(is_mine=True)
        self.phase, self.progress = milestone, None
        self.is_phase_done = " end" in line.text[:32]
        words = "arguments resolved" if milestone is Milestone.ARGUMENTS else line.text
        return self._reach(milestone, line, words)

    @property
    def _has_loaded(self) -> bool:
        """Arguments after this are another start's, appended to the same file."""
        return self.milestone is not None and ORDER[self.milestone] >= ORDER[Milestone.WEIGHTS]

    def _load(self, line: LogLine) -> Milestone | None:
        is_end = line.text.startswith("Load weight end")
        key = (line.rank, "end" if is_end else "begin")
        if key in self._loads or len(self._loads) < _MAX_RANKS:
            self._loads[key] = self._loads.get(key, 0) + 1
        is_draft = self._loads.get(key, 0) > 1
        self.phase = Milestone.DRAFT_WEIGHTS if is_draft else Milestone.WEIGHTS
        self.is_phase_done = is_end
        if is_end:
            self.progress = None
        return self._reach(self.phase, line, _load_words(line.text))

    def _capture(self, line: LogLine, capture: re.Match[str]) -> Milestone | None:
        is_draft = "draft" in capture["what"].lower()
        self.graph = "draft" if is_draft else "target"
        self.phase, self.is_phase_done = Milestone.GRAPH_CAPTURE, capture["end"].lower() == "end"
        self.progress = None
        return self._reach(Milestone.GRAPH_CAPTURE, line, line.text)

    def _bar(self, line: LogLine) -> Milestone | None:
        bar = _BAR.search(line.text)
        if bar is None or int(bar["total"]) <= 0:
            return None
        what = _what_for(line.text[: bar.start()])
        if what.startswith(("Capturing", "Compiling")):
            phase = Milestone.GRAPH_CAPTURE
        elif "shards" in what or what.startswith("Loading safetensors"):
            phase = self._loading()
        else:
            return None
        self.phase, self.is_phase_done = phase, False
        done, total = int(bar["done"]), int(bar["total"])
        words = f"{phase} {done}/{total}"
        self.progress = Progress(phase, done, total, words, _left_s(bar["left"]))
        return self._reach(phase, line, what)

    def _loading(self) -> Milestone:
        is_draft = any(n > 1 for (_, at), n in self._loads.items() if at == "begin")
        return Milestone.DRAFT_WEIGHTS if is_draft else Milestone.WEIGHTS

    def _reach(self, milestone: Milestone, line: LogLine, words: str) -> Milestone | None:
        if any(r.milestone is milestone for r in self._reached):
            return None
        if self.milestone is Milestone.READY:
            return None
        self._reached.append(Reached(milestone, line.time, words[:200]))
        return milestone


def is_exit_line(text: str) -> bool:
    """Whether a wrapper's line says that the server's process has ended."""
    return _EXITED.match(text) is not None


def _load_words(text: str) -> str:
    loaded = _LOADED.search(text)
    return f"{loaded['model']}, {loaded['gb']} GB" if loaded else text


def _what_for(before: str) -> str:
    """The name of a bar, without what is in brackets after it."""
    name = before.rstrip().removesuffix(":")
    if name.endswith(")"):
        name = name.rpartition(" (")[0]
    return name[max(name.rfind(":"), name.rfind("|")) + 1 :].strip()


def _left_s(text: str | None) -> float | None:
    if not text:
        return None
    seconds = 0
    for part in text.split(":"):
        seconds = seconds * 60 + int(part)
    return float(seconds)
