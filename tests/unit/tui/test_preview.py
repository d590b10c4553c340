"""The preview of a host: what there is room for is said whole, and what is not known says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.events import AlertsChanged, HostSampled, ServerSampled, ServersSeen
from specctl.domain.server import Evidence, ServerState
from specctl.tui.render.lines import width
from specctl.tui.render.preview import draw_preview
from specctl.tui.render.throughput import counts
from tests.tui import parts, story
from tests.unit.tui.scenes import scene_of

if TYPE_CHECKING:
    from specctl.tui.scene import Scene

CAUSE = (
    "CUDA out of memory while the KV cache was made: 0.86 was asked for and 11.2 GiB were left on "
    "GPU 3, of which the draft model takes 4.1 GiB and its graphs 2.2 GiB; see mem-fraction-static"
)


def crashed() -> Scene:
    ended = replace(parts.server(), state=ServerState.CRASHED, evidence=Evidence(first_cause=CAUSE))
    alert = AlertsChanged(
        "pro6k-01", parts.NOW_S, "crashed", is_open=True, words=f"eagle3 crashed: {CAUSE}",
        server=ended.name, severity="error",
    )  # fmt: skip
    return scene_of([*story.pro6k_01(), ServersSeen("pro6k-01", parts.NOW_S, (ended,)), alert])


def lines(scene: Scene, cells: int, rows: int) -> list[str]:
    body = draw_preview(scene, "pro6k-01", cells, rows).body
    assert len(body) <= rows
    assert all(width(line) <= cells for line in body)
    return ["".join(text for text, _ in line).rstrip() for line in body]


def test_a_long_first_cause_goes_on_in_the_rows_that_are_free() -> None:
    found = lines(crashed(), 110, 24)
    assert found[0].startswith("✗ kimi-k2.5-eagle3 crashed: CUDA out of memory")
    assert " ".join(" ".join(found[:2]).split()).endswith("see mem-fraction-static")
    assert "L opens its log" in found[2]
    beside = " ".join(" ".join(line[68:] for line in found[4:]).split())
    assert "draft model takes 4.1 GiB and its graphs 2.2 GiB" in beside


def test_where_no_rows_are_free_it_is_cut_and_nothing_else_is_lost() -> None:
    found = lines(crashed(), 110, 3)
    assert found[0].startswith("✗ kimi-k2.5-eagle3 crashed: CUDA out of memory")
    assert "L opens its log" in found[1]


def test_the_link_is_said_once_it_was_timed() -> None:
    scene = scene_of(story.pro6k_01())
    sample = scene.state.host("pro6k-01").sample
    assert sample is not None
    slow = scene_of(
        [*story.pro6k_01(), HostSampled("pro6k-01", parts.NOW_S, sample, round_trip_s=0.912)]
    )

    def summary(scene: Scene) -> str:
        return "".join(text for text, _ in draw_preview(scene, "pro6k-01", 110, 24).summary)

    assert "link" not in summary(scene)
    assert "link 912 ms" in summary(slow)


def test_an_idle_server_without_a_past_says_so_instead_of_an_empty_axis() -> None:
    server = parts.server()
    idle = replace(parts.server_sample(0.0, 1.0), accept_length=None, is_idle=True)
    sample = scene_of(story.pro6k_01()).state.host("pro6k-01").sample
    assert sample is not None
    scene = scene_of(
        [
            HostSampled("pro6k-01", parts.NOW_S, sample),
            ServersSeen("pro6k-01", parts.NOW_S, (server,)),
            ServerSampled("pro6k-01", parts.NOW_S, server.name, idle),
        ],
        details=lambda host, server: replace(
            parts.details(host, server), reference=type(parts.details(host, server).reference)()
        ),
    )
    text = "\n".join(lines(scene, 110, 24))
    assert "idle: no accept length in this span" in text
    assert "1.00" not in text


def test_a_sample_of_nothing_names_no_source() -> None:
    sample = parts.server_sample(52.0, 1.5)
    said = ["".join(text for text, _ in item) for item in counts(sample)]
    assert f"from {sample.source}" in said
    none = counts(replace(sample, source="none"))
    assert not any("from" in text for item in none for text, _ in item)


def test_a_slow_link_is_said_before_what_was_seen_through_it() -> None:
    words = "slow link: 4186 ms to pro6k-01 and back"
    stalled = replace(
        parts.server(), state=ServerState.STALLED, why="its health check does not answer"
    )
    seen = ServersSeen("pro6k-01", parts.NOW_S, (stalled,))
    alert = AlertsChanged("pro6k-01", parts.NOW_S, "slow-link", is_open=True, words=words)
    first = lines(scene_of([*story.pro6k_01(), seen, alert]), 160, 30)[0]
    assert first.endswith(f"is stalled: {words}; its health check does not answer")
    assert "slow link" not in lines(scene_of([*story.pro6k_01(), seen]), 160, 30)[0]
