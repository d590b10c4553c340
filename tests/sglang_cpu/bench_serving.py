"""SGLang's own `bench_serving` in this environment: `.sglang-cpu/bin/python FILE OPTIONS…`.

It imports a package for data sets that none of its text workloads reads; a stand-in is found. At
the end it says on stderr how much processor time its event loop took: `cpu_s SECONDS`.
"""

from __future__ import annotations

import asyncio
import runpy
import sys
import time
from typing import Any

from sglang_cpu_stubs.absent import AbsentPackages


class AbsentDataSets(AbsentPackages):
    """Only here: the server asks whether this package is installed, and means it."""

    packages = frozenset({"datasets"})


run = asyncio.run


def run_timed(*args: Any, **kwargs: Any) -> Any:
    """As `asyncio.run`; what was imported before is not in its time."""
    before_s = time.process_time()
    try:
        return run(*args, **kwargs)
    finally:
        print(f"cpu_s {time.process_time() - before_s}", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run = run_timed
    sys.meta_path.append(AbsentDataSets())
    runpy.run_module("sglang.bench_serving", run_name="__main__", alter_sys=True)
