"""Header and footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.state import Link
from specctl.tui.action import is_guarded
from specctl.tui.actions import BY_ID, FOOTERS
from specctl.tui.footers import CALLED
from specctl.tui.render.fleet import reachable
from specctl.tui.render.lines import Line, clip, few, fit, guard, middle, spread, width
from specctl.tui.render.replay import off_in_replay, replay_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.state import HostState
    from specctl.tui.actions import Action, Target
    from specctl.tui.scene import Scene

NARROW_CELLS = 100


def header(scene: Scene, crumbs: Sequence[str], cells: int, *, host: str | None = None) -> Line:
    """Where you are, what needs a look, how many hosts answer, the time."""
    narrow = cells < NARROW_CELLS
    right: Line = [(" ", "")]
    for text, token in badges(scene, host):
        right = [*right, (f" {text} ", token), ("  ", "")]
    right += _alert_counts(scene)
    up, known = reachable(scene)
    if known and not narrow:
        right += [(f"{up} of {known} reachable", "dim"), ("  ", "")]
    right += [(figures.clock(scene.clock_s, scene.offset_s), "dim"), (" ", "")]
    left: Line = [(" ", "")] if narrow else [(" specctl  ", "accent")]
    room = cells - width(right) - width(left)
    return spread([*left, *_crumbs(crumbs, room)], right, cells)


def _crumbs(crumbs: Sequence[str], room: int) -> Line:
    shown = list(crumbs)
    _, *inner = shown
    if sum(len(c) + 3 for c in shown) - 3 > room and len(inner) > 1:
        shown = ["…", inner[-1]]
    out: Line = []
    for i, crumb in enumerate(shown):
        if i:
            out.append((" › ", "faint"))
        last = i == len(shown) - 1
        out.append((middle(crumb, max(8, room - width(out))), "here" if last else "crumb"))
    return guard(out)


def badges(scene: Scene, host: str | None) -> Line:
    """Words on a reversed ground that hold for everything on the screen."""
    out: Line = [*replayed(scene), *simulated(scene, host)]
    state = scene.state.host(host) if host else None
    guarded = scene.read_only or (state is not None and state.read_only)
    if guarded and scene.replay is None:
        out.append(("read-only", "warnbadge"))
    if state is not None and state.link is Link.LOST:
        since = state.link_since_s
        age = f" {figures.spoken(scene.now_s - since)}" if since is not None else ""
        word = "no answer" if state.sample is None else "link lost"
        out.append((word + age, "warnbadge"))
    return out


def replayed(scene: Scene) -> Line:
    """The badge of what was recorded before."""
    return [] if scene.replay is None else [("REPLAY", "badge")]


def simulated(scene: Scene, host: str | None) -> Line:
    """The badge of a practice host of the lab; nothing for another."""
    is_so = bool(host) and scene.state.host(host or "").simulated
    return [("SIMULATED", "badge")] if is_so else []


def marked(scene: Scene, host: str | None, text: str) -> str:
    """Text to be saved elsewhere; that of a practice host has a first line which says so."""
    first = f"# SIMULATED: {host} is a practice host of the lab\n" if simulated(scene, host) else ""
    return first + text


def _alert_counts(scene: Scene) -> Line:
    alerts = [alert for host in scene.hosts for alert in scene.counted_alerts(host)]
    errors = sum(alert.is_error for alert in alerts)
    out: Line = []
    if len(alerts) > errors:
        out += [(f"▲{len(alerts) - errors}", "warn"), ("  ", "")]
    if errors:
        out += [(f"✗{errors}", "bad"), ("  ", "")]
    return out


def footer(
    scene: Scene, screen: str, target: Target, cells: int, *, status: Line | None = None
) -> Line:
    """The keys of this screen by importance, cut by whole items; the right end never yields."""
    right: Line = [
        *(status or live(scene, target.host)),
        ("  ", ""),
        ("?", "key"),
        (" help ", "dim"),
    ]
    items = _footer_items(screen, target, is_replay=scene.replay is not None)
    left = few(items, cells - width(right) - 3, gap=2)
    return spread([(" ", ""), *left], right, cells)


def _footer_items(screen: str, target: Target, *, is_replay: bool) -> list[Line]:
    """What can be done; what only the guard forbids is struck, with the reason after it."""
    items: list[Line] = []
    struck: Line = []
    for action in (BY_ID[name] for name in FOOTERS.get(screen, ())):
        if action.refuse(target) or (is_replay and off_in_replay(action)):
            continue
        off = is_guarded(action, target)
        title = CALLED.get((screen, action.id), action.title)
        items.append(key_hint(action, title, off=off))
        struck = items[-1] if off else struck
    if struck:
        struck.append((" (read-only)", "faint"))
    return items


def key_hint(action: Action, title: str, *, off: bool = False) -> Line:
    """A key and what it does; struck when it is off."""
    key = action.hint or action.key.split()[0]
    if off:
        return [(f"{key} {title}", "strike")]
    return [(key, "key"), (" " + title, "dim")]


def live(scene: Scene, host: str | None) -> Line:
    """Whether what is shown is now."""
    if scene.replay is not None:
        return replay_state(scene.replay)
    if scene.paused_at_s is not None:
        return [(f"‖ paused {figures.duration(scene.clock_s - scene.paused_at_s)}", "warn")]
    if host is None:
        return [("● live", "ok")]
    return _live_host(scene, host, scene.state.host(host))


def _live_host(scene: Scene, host: str, state: HostState) -> Line:
    match state.link:
        case Link.LOST if state.retry_at_s is not None and state.retry_at_s > scene.now_s:
            words = _retry_words(state.retry_at_s, state.link_since_s, scene.now_s)
            return [(f"◌ {words}", "warn")]
        case Link.LOST | Link.CONNECTING if state.link is Link.LOST or state.sample is not None:
            return [("◌ reconnecting", "warn")]
        case Link.REFUSED:
            return [("✗ refused", "bad")]
        case Link.IDLE if state.sample is None:
            return [("· waiting", "faint")]
    if state.sample is None:
        return [("◐ connecting", "data")]
    stale = scene.is_stale(host)
    return [(f"◌ {figures.spoken(scene.age_s(host))} old", "warn")] if stale else [("● live", "ok")]


def _retry_words(retry_at_s: float, since_s: float | None, now_s: float) -> str:
    """How long until it is tried again; of a clock that went back only the whole wait holds."""
    if since_s is not None and now_s < since_s:
        return f"retry within {max(0.0, retry_at_s - since_s):.0f} s"
    return f"retry in {retry_at_s - now_s:.0f} s"


def hints(pairs: Sequence[tuple[str, str]]) -> Line:
    """`key word  key word`."""
    out: Line = []
    for key, word in pairs:
        if out:
            out.append(("  ", ""))
        out += [(key, "key"), (" " + word, "dim")]
    return out


def guide_line(
    step: tuple[int, int], hint: Sequence[tuple[str, str]], cells: int, *, can_hide: bool
) -> Line:
    """How far the guide has come, what to press next, and what hides it where keys are heard."""
    at, last = step
    right: Line = [*hints([("f2", "hides this")] if can_hide else []), (" ", "")]
    left: Line = [(" ", ""), (f"{at} of {last}", "dim"), ("  ", "")]
    for n, (key, words) in enumerate(hint):
        left += [(", ", "text")] if n else []
        left += [(f" {key} ", "keybox"), (" ", "")] if key else []
        left += [(words, "text")]
    return spread(clip(left, max(0, cells - width(right) - 1)), right, cells)


def too_small(cells: int, rows: int) -> list[Line]:
    """What is shown instead of a screen that cannot hold it."""
    return [fit([(f"80x24 or larger, this is {cells}x{rows}", "warn")], cells)]
