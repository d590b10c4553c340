"""The program behind the stand-in `sglang`: arguments, processes, log and HTTP."""

from __future__ import annotations
