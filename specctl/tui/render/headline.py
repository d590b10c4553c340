"""One sentence first: what a host has to say, before its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.alerts.rules import Name
from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.tui.render.standing import (
    gpu_reason,
    host_standing,
    is_unread,
    link_words,
    short_model,
    speedup,
    worst,
)

if TYPE_CHECKING:
    from specctl.domain.sample import ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.tui.render.lines import Line
    from specctl.tui.scene import Scene
    from specctl.tui.services import Reference

MATERIAL = 0.02
"""Closer to the baseline than this is neither a gain nor a cost in a headline."""


def headline(scene: Scene, name: str) -> tuple[Line, Line]:
    """The answer in words with its mark, and a second line that supports it."""
    host = scene.state.host(name)
    if host.link in {Link.LOST, Link.REFUSED}:
        return _link_lines(scene, name, host)
    if host.sample is None:
        standing = host_standing(scene, name)
        words = f"Reading {name}" if standing.state == "connecting" else f"{name} is not connected"
        rest = f", {standing.rest}" if standing.rest else ""
        return [standing.glyph, (f" {words}{rest}", "bright")], []
    if host.link is Link.CONNECTING:
        return [("◌ ", "warn"), (f"Connecting to {name} again", "bright")], _old(scene, name)
    server = worst(host)
    if server is None:
        return _empty_lines(scene, name, host)
    return _server_lines(scene, name, server)


def _link_lines(scene: Scene, name: str, host: HostState) -> tuple[Line, Line]:
    refused = host.link is Link.REFUSED
    mark = ("✗ ", "bad") if refused else ("◌ ", "warn")
    verb = "cannot be used" if refused else "does not answer"
    first: Line = [mark, (f"{name} {verb}", "bright")]
    if host.link_words:
        first.append((f": {link_words(name, host)}", "text"))
    hint = host.link_hint or f"Check it with: specctl doctor {name}"
    second: Line = [("  " + hint, "dim")]
    return first, second + _old(scene, name)


def _old(scene: Scene, name: str) -> Line:
    age_s = scene.age_s(name)
    return [] if age_s is None else [(f"  Values are {figures.spoken(age_s)} old.", "warn")]


def _empty_lines(scene: Scene, name: str, host: HostState) -> tuple[Line, Line]:
    trouble = gpu_reason(host.sample) if host.sample and not is_unread(host.sample) else ""
    if host.servers is None:
        first: Line = [("◐ ", "data"), (f"Looking for servers on {name}", "bright")]
    else:
        first = [("· ", "faint"), (f"No server on {name}.", "bright")]
        if scene.is_open(name):
            first += [(" ", ""), ("s", "key"), (" starts a profile.", "text")]
    second: Line = [("▲ ", "warn"), (trouble, "text")] if trouble else []
    return first, second


def _server_lines(scene: Scene, name: str, server: Server) -> tuple[Line, Line]:
    match server.state:
        case ServerState.READY | ServerState.BUSY | ServerState.FOREIGN:
            return _running_lines(scene, name, server)
        case ServerState.CRASHED:
            cause = server.evidence.first_cause or server.why or "no cause found in its log"
            return (
                [
                    ("✗ ", "bad"),
                    (f"{server.profile or server.name} crashed", "bright"),
                    (f": {cause}", "text"),
                ],
                [("  ", ""), ("L", "key"), (" opens its log", "dim")],
            )
        case ServerState.STARTING:
            activity = scene.state.host(name).activity or server.why
            return (
                [
                    ("◐ ", "data"),
                    (f"{server.profile or server.name} is starting", "bright"),
                    (f", {activity}" if activity else "", "text"),
                ],
                [],
            )
        case _:
            glyph = host_standing(scene, name).glyph
            who = server.profile or server.name
            why = [words for words in (_slow_link(scene, name), server.why) if words]
            return [
                glyph,
                (f" {who} is {server.state.value}", "bright"),
                (f": {'; '.join(why)}" if why else "", "text"),
            ], []


def _slow_link(scene: Scene, name: str) -> str:
    """A server behind one may only seem to be stalled: said before what was seen of it."""
    alerts = scene.state.host(name).alerts
    return next((a.words for a in alerts if a.is_open and a.rule == Name.SLOW_LINK), "")


def _running_lines(scene: Scene, name: str, server: Server) -> tuple[Line, Line]:
    reference = scene.details(name, server).reference
    sample = scene.state.host(name).server_samples.get(server.name)
    second = _numbers_line(sample, server, reference)
    if sample is not None and sample.is_idle:
        return [
            ("● ", "ok"),
            (f"{server.profile or server.name} is ready and idle.", "bright"),
        ], second
    ratio = speedup(sample, reference)
    accept = sample.accept_length if sample else None
    if server.algorithm is None and server.is_ours:
        return [("● ", "ok"), ("Runs without speculation.", "bright")], second
    if ratio is None:
        return _unmeasured(server, sample), second
    against = _against(accept, reference.even)
    if ratio < 1 - MATERIAL:
        return [
            ("▼ ", "warn"),
            (f"Speculation costs {1 - ratio:.0%} here.", "bright"),
            *against,
        ], second
    if ratio > 1 + MATERIAL:
        return [
            ("▲ ", "ok"),
            (f"Speculation gains {ratio - 1:.0%} here.", "bright"),
            *against,
        ], second
    return [("● ", "ok"), ("Speculation changes nothing here.", "bright"), *against], second


def _against(accept: float | None, even: float | None) -> Line:
    if accept is None or even is None:
        return []
    if accept < even:
        return [
            (" Accept length ", "text"),
            (f"{accept:.2f}", "warnb"),
            (" is under its break-even ", "text"),
            (f"{even:.2f}", "ref"),
            (".", "text"),
        ]
    return [
        (" Accept length ", "text"),
        (f"{accept:.2f}", "strong"),
        (" is over its break-even ", "text"),
        (f"{even:.2f}", "ref"),
        (".", "text"),
    ]


def _unmeasured(server: Server, sample: ServerSample | None) -> Line:
    mark = ("◆ ", "dim") if server.state is ServerState.FOREIGN else ("● ", "ok")
    who = server.profile or short_model(server.model) or server.name
    if sample is None or sample.tokens_per_s is None:
        why = str(sample.reason("tokens_per_s")) if sample else "not yet read"
        return [mark, (f"{who} runs", "bright"), (f"; tok/s unknown: {why}", "text")]
    return [
        mark,
        (f"{who} runs.", "bright"),
        (" Break-even is not known: ", "text"),
        ("c", "key"),
        (f" compares {'it with its baseline' if server.profile else 'profiles'}.", "text"),
    ]


def _numbers_line(sample: ServerSample | None, server: Server, reference: Reference) -> Line:
    if sample is None or figures.known(sample.tokens_per_s) is None:
        return []
    out: Line = [(f"  {figures.rate(sample.tokens_per_s)} tok/s", "strong")]
    if server.profile:
        out.append((f" with {server.profile}", "dim"))
    if reference.tokens_per_s is not None:
        out += [
            (", ", "dim"),
            (figures.rate(reference.tokens_per_s), "strong"),
            (" without it", "dim"),
        ]
        out.append((f" ({reference.source})." if reference.source else ".", "dim"))
    return out
