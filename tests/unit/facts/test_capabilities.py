from __future__ import annotations

import pytest

from specctl.domain.versions import is_at_least, read_version
from specctl.facts.capabilities import (
    CAPABILITIES,
    has,
    has_loads,
    has_ready,
    live_sources,
    server_info_paths,
    ways,
)

NIGHTLY = "0.0.0.dev1+g70df09b83"


@pytest.mark.parametrize(
    ("version", "ready", "loads", "info"),
    [
        ("0.4.4", False, False, ("/get_server_info",)),
        ("0.5.5", False, False, ("/get_server_info",)),
        ("0.5.6.post2", False, False, ("/server_info", "/get_server_info")),
        ("0.5.8", False, True, ("/server_info", "/get_server_info")),
        ("0.5.19", False, True, ("/server_info", "/get_server_info")),
        ("0.5.23", True, True, ("/server_info", "/get_server_info")),
        (NIGHTLY, None, None, ("/server_info", "/get_server_info")),
        (None, None, None, ("/server_info", "/get_server_info")),
    ],
)
def test_a10_what_a_version_has(
    version: str | None, ready: bool | None, loads: bool | None, info: tuple[str, ...]
) -> None:
    assert (has_ready(version), has_loads(version)) == (ready, loads)
    assert server_info_paths(version) == info


def test_a_removed_path() -> None:
    assert [one.path for one in ways("loads", "0.5.20")] == ["/v1/loads", "/get_load"]
    assert [one.path for one in ways("loads", "0.5.21")] == ["/v1/loads"]
    assert has("loads", "0.4.4") is False


def test_a14_no_polled_source_generates_tokens() -> None:
    dear = {one.path for one in CAPABILITIES if one.path.startswith("/health")}
    for version in ("0.4.4", "0.5.10", "0.5.23", None):
        assert not dear & set(live_sources(version))


@pytest.mark.parametrize(
    ("version", "has_metrics", "sources"),
    [
        ("0.5.23", True, ("/metrics", "/v1/loads", "log", "/server_info", "/get_server_info")),
        ("0.5.23", False, ("/v1/loads", "log", "/server_info", "/get_server_info")),
        ("0.5.2", False, ("log", "/get_server_info")),
        ("0.4.4", None, ("/metrics", "log", "/get_server_info")),
    ],
)
def test_the_cheapest_live_source(
    version: str, has_metrics: bool | None, sources: tuple[str, ...]
) -> None:
    assert live_sources(version, has_metrics=has_metrics) == sources


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ("0.5.9", "0.5.10"),
        ("0.5.10", "0.5.10.post1"),
        ("0.5.10.post1", "0.5.11"),
        ("v0.4.2", "0.5.0"),
    ],
)
def test_versions_are_numbers(lower: str, higher: str) -> None:
    assert is_at_least(higher, lower) is True
    assert is_at_least(lower, higher) is False


@pytest.mark.parametrize("text", [None, "", "main", "0.0.0", NIGHTLY, "latest-cu13"])
def test_versions_that_do_not_say(text: str | None) -> None:
    assert read_version(text) is None
