"""The end of a server's log: time, mark, rank, words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.tui.render.lines import Drawing, Line, safe

if TYPE_CHECKING:
    from specctl.domain.server import Server
    from specctl.tui.scene import Scene

# SGLang's prefix: [2026-04-08 14:05:21 DP1 TP3] words, with or without milliseconds and ranks.
STAMP = re.compile(r"^\[\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d)(?:[.,]\d+)?((?: [A-Z]{2,4}\d+)*)\] ?")
GOOD = re.compile(
    r"(?:[Ll]oad (?:draft )?weights? end|[Cc]apture .*end|fired up and ready|[Pp]ool end)"
)
WARN = re.compile(r"(?:\bwarn(?:ing)?\b| is set to .* because|deprecat)", re.IGNORECASE)
BAD = re.compile(
    r"(?:Traceback|\b\w*(?:Error|Exception)\b|\berror\b|sigquit|[Oo]ut of memory|FATAL)"
)
MARKS = {"ok": ("✓", "ok"), "warn": ("▲", "warn"), "bad": ("✗", "bad"), "": (" ", "")}
WORDS = {"ok": "strong", "warn": "warn", "bad": "bad", "": "text"}


@lru_cache(maxsize=512)
def kind(text: str) -> str:
    """`ok`, `warn`, `bad` or nothing special."""
    if BAD.search(text):
        return "bad"
    if WARN.search(text):
        return "warn"
    return "ok" if GOOD.search(text) else ""


def log_line(text: str, *, quiet: bool = False) -> Line:
    """One line of a log, its stamp and ranks apart from its words; `quiet` marks nothing."""
    text = safe(text)
    match = STAMP.match(text)
    stamp, ranks, rest = (
        ("", "", text) if match is None else (match[1], match[2].strip(), text[match.end() :])
    )
    what = "" if quiet else kind(rest)
    out: Line = [(f"{stamp:<8} ", "faint"), MARKS[what], (" ", "")]
    if ranks:
        out.append((ranks + " ", "faint"))
    return [*out, (rest, "dim" if quiet else WORDS[what])]


def draw_log(
    scene: Scene, host: str, server: Server | None, cells: int, rows: int, *, back: int = 0
) -> Drawing:
    """The last lines, or those `back` lines before them."""
    del cells
    if server is None:
        return Drawing("Log", [[("No server, so no log.", "dim")]])
    lines = scene.log(host, server.name)
    if not lines:
        return Drawing("Log", [[(_why_empty(server), "dim")]])
    total = len(lines)
    end = total - min(back, max(0, total - rows))
    shown = [lines[i] for i in range(max(0, end - rows), end)]
    read = scene.recent.log_counts.get((host, server.name), total)
    note: Line = [(f"launch {server.launch_id}", "dim"), ("  ", "")] if server.launch_id else []
    note += [(f"{read:,}", "text"), (" lines read", "dim")]
    return Drawing("Log", [log_line(text) for text in shown], _summary(scene, host, back), note)


def _summary(scene: Scene, host: str, back: int) -> Line:
    if scene.is_stale(host):
        at_s = scene.state.host(host).sample_at_s or scene.now_s
        return [(f"◌ stopped {figures.clock(at_s, scene.offset_s)}", "warn")]
    if back:
        return [(f"{back:,} lines back", "text"), ("  ", ""), ("G", "key"), (" follows", "dim")]
    return [("● following", "ok")]


def _why_empty(server: Server) -> str:
    if server.log_path is None:
        reason = server.missing.get("log_path")
        return f"Its log cannot be read: {reason}." if reason else "Nothing read yet."
    return f"Nothing read yet of {server.log_path}."
