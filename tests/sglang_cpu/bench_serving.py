"""SGLang's own `bench_serving` in this environment: `.sglang-cpu/bin/python FILE OPTIONS…`.

It imports a package for data sets that none of its text workloads reads; a stand-in is found.
"""

from __future__ import annotations

import runpy
import sys

from sglang_cpu_stubs.absent import AbsentPackages


class AbsentDataSets(AbsentPackages):
    """Only here: the server asks whether this package is installed, and means it."""

    packages = frozenset({"datasets"})


if __name__ == "__main__":
    sys.meta_path.append(AbsentDataSets())
    runpy.run_module("sglang.bench_serving", run_name="__main__", alter_sys=True)
