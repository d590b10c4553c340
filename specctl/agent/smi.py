"""nvidia-smi, for where NVML cannot be used: asked in the background, and not for ever.

The text goes to the operator as it is. A driver in trouble keeps nvidia-smi in an uninterruptible
sleep that no signal ends: after a few of those it is left alone until they are gone.
"""

from __future__ import annotations

import re
import time
from typing import Any, Dict, List, Optional

from . import children
from .places import find_command
from .single_flight import SingleFlight

TIMEOUT_S = 10.0
HANGS_MAX = 3
QUERY = [
    "index",
    "uuid",
    "name",
    "driver_version",
    "memory.total",
    "memory.used",
    "memory.reserved",
    "utilization.gpu",
    "utilization.memory",
    "temperature.gpu",
    "temperature.memory",
    "power.draw",
    "enforced.power.limit",
    "clocks.sm",
    "clocks.max.sm",
    "clocks.mem",
    "pstate",
    "persistence_mode",
    "mig.mode.current",
    "ecc.errors.uncorrected.volatile.total",
    "ecc.errors.corrected.volatile.total",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "clocks_event_reasons.active",
]
PROCESS_QUERY = ["gpu_uuid", "pid", "process_name", "used_memory"]
OLD_NAMES = {"clocks_event_reasons.active": "clocks_throttle_reasons.active"}
NOT_YET = ["not yet read", ""]
_REFUSED = re.compile(r'Field "([^"]+)" is not a valid field')


class Smi:
    """nvidia-smi on this host."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._flight = SingleFlight("nvidia-smi", self._run)
        self._query = list(QUERY)
        self._hung: List[Any] = []
        self._hangs = 0
        self._good: Optional[Dict[str, Any]] = None
        self._good_at: Optional[float] = None
        self._trouble: Optional[List[str]] = None

    def read(self, wait_s: float = 0.0) -> Dict[str, Any]:
        """The last good answer with its age, and what is wrong now, if anything."""
        self._hung = [child for child in self._hung if not children.has_ended(child)]
        if not self._hung:
            self._hangs = 0
        if self._hangs < HANGS_MAX:
            self._flight.ask(wait_s)
        age = None if self._good_at is None else time.monotonic() - self._good_at
        return {
            **(self._good or {"query": self._query, "text": None}),
            "age_s": age,
            "missing": self._trouble or (NOT_YET if self._good is None else None),
            "hangs": self._hangs,
            "given_up": self._hangs >= HANGS_MAX,
        }

    def _run(self) -> None:
        path = find_command("nvidia-smi")
        if path is None:
            self._trouble = ["not installed", "no nvidia-smi in PATH or the usual folders"]
            return
        try:
            answer = self._ask(path)
        except children.HungError as error:
            self._hung.append(error.child)
            self._hangs += 1
            words = "nvidia-smi did not answer within %g s" % self._timeout_s
            if self._hangs > 1:
                words += ", %d times in a row" % self._hangs
            self._trouble = ["timed out", words]
        except OSError as error:
            self._trouble = ["error", "nvidia-smi cannot be run: %s" % error.strerror]
        else:
            self._hangs = 0
            self._good, self._good_at, self._trouble = answer, time.monotonic(), None

    def _ask(self, path: str) -> Dict[str, Any]:
        gpus = self._query_gpus(path)
        answer = {
            "query": list(self._query),
            "text": gpus.stdout,
            "error_text": gpus.stderr,
            "exit_status": gpus.exit_status,
            "process_query": PROCESS_QUERY,
            "process_text": None,
        }
        if gpus.exit_status == 0:
            answer["process_text"] = self._call(path, "compute-apps", PROCESS_QUERY).stdout
        return answer

    def _query_gpus(self, path: str) -> children.Ended:
        """Ask for the GPUs, dropping (or renaming) the fields that this driver does not know."""
        while True:
            ended = self._call(path, "gpu", self._query)
            refused = _REFUSED.search(ended.stdout + ended.stderr)
            if ended.exit_status == 0 or refused is None or refused.group(1) not in self._query:
                return ended
            place = self._query.index(refused.group(1))
            self._query[place : place + 1] = filter(None, [OLD_NAMES.get(refused.group(1))])

    def _call(self, path: str, what: str, query: List[str]) -> children.Ended:
        argv = [path, "--query-%s=%s" % (what, ",".join(query)), "--format=csv,noheader,nounits"]
        return children.run(argv, self._timeout_s)
