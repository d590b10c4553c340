"""What holds for every test: nothing is skipped in CI, and no property fails for being slow."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

settings.register_profile(
    "shared-machine",
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shared-machine")


def pytest_configure() -> None:
    """Signals do what they do at a terminal, under nohup and in a job in the background too."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """No later collection of garbage looks at the items again, which live to the end."""
    gc.freeze()


LONG = ("tests/lab/", "tests/cli/test_trial_", "tests/cli/test_screening_", "tests/cli/test_runs_")
"""Where a test waits for servers that load and answer, one after the other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first on every worker: each takes its share of the list, and of their modules."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long: dict[str, list[pytest.Item]] = {}
    short: list[pytest.Item] = []
    for item in items:
        path = item.path.as_posix()
        is_long = any(part in path for part in LONG)
        (long.setdefault(path, []) if is_long else short).append(item)
    modules, share = list(long.values()), -(-len(short) // workers)
    ordered: list[pytest.Item] = []
    for n in range(workers):
        for module in modules[n::workers]:
            ordered += module
        ordered += short[n * share : (n + 1) * share]
    items[:] = ordered


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A test that was skipped in CI did not run where it had to."""
    reporter: TerminalReporter | None = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("skipped in CI: that counts as a failure", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
