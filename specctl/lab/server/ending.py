"""How a server ends: told to, because a child died, or not at all."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

from specctl.lab.server.gpu_use import GpuUse
from specctl.lab.server.processes import die_of, kill_all, name_of_end
from specctl.lab.server.state import Phase

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from specctl.lab.server.running import Children
    from specctl.lab.server.state import ServerState

_ORPHAN_HEARS_S = 0.05
_LOOK_S = 0.05
"""After a child has ended: several that end together are seen together, schedulers first."""

_SHUTTING_DOWN = (
    "Shutting down", "Waiting for application shutdown.", "Application shutdown complete.",
)  # fmt: skip


class Ending:
    """Heeds signals, watches the children, and takes the tree down."""

    def __init__(self, state: ServerState, children: Children) -> None:
        self._state, self._children = state, children
        self._launch, self._log = state.launch, state.log
        self._tasks: asyncio.TaskGroup | None = None
        self._is_ending = False

    def listen(self, loop: asyncio.AbstractEventLoop, tasks: asyncio.TaskGroup) -> None:
        """From now on."""
        self._tasks = tasks
        loop.add_signal_handler(signal.SIGTERM, self._terminate)
        loop.add_signal_handler(signal.SIGQUIT, self._child_failed)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGCHLD, loop.call_later, _LOOK_S, self._children_ended)

    def stay_without_port(self, loop: asyncio.AbstractEventLoop) -> None:
        """The port was taken: everything stays loaded until a signal kills it."""
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._is_ending = True
        if self._tasks is not None:
            self._tasks.create_task(work)

    # ------------------------------------------------ told to
    def _terminate(self) -> None:
        is_deaf = self._launch.lab_host.fault("ignores-sigterm") is not None
        if is_deaf or self._state.phase is Phase.DRAINING:
            return
        self._log.say(
            "SIGTERM received. signum=None frame=None. Draining requests and shutting down..."
        )
        self._state.phase = Phase.DRAINING
        if self._tasks is not None:
            self._tasks.create_task(self._drain())

    async def _drain(self) -> None:
        while True:
            await asyncio.sleep(self._launch.duration_s("drain_poll"))
            if self._is_ending:
                return
            remaining = self._remaining()
            count = len(remaining)
            if self._launch.numbers <= (0, 5, 2):
                self._log.say(f"Gracefully exiting... remaining number of requests {count}")
            else:
                self._log.say(
                    f"Gracefully exiting... Remaining number of requests {count}. "
                    f"Remaining requests remaining_rids={remaining[:50]}."
                )
            if not remaining:
                break
        self._shut_down()

    def _remaining(self) -> list[str]:
        remaining = [*self._state.link.waited_for, *self._state.leaked]
        if not remaining and self._launch.lab_host.fault("drains-for-ever") is not None:
            return ["0" * 32]
        return remaining

    def _shut_down(self) -> None:
        self._is_ending = True
        if self._launch.numbers <= (0, 5, 10):
            self._say_kill(include_parent=True)
            self._kill_children()
            die_of(signal.SIGKILL)
        self._say_kill(include_parent=False)
        self._kill_children()
        pid = os.getpid()
        for words in (*_SHUTTING_DOWN, f"Finished server process [{pid}]"):
            self._log.say(f"INFO:     {words}")
        self._say_kill(include_parent=False)
        os._exit(0)

    def _interrupt(self) -> None:
        self._log.say("INFO:     Shutting down")
        self._kill_children()
        die_of(signal.SIGINT)

    # ------------------------------------------------ a child
    def _children_ended(self) -> None:
        for rank, pid in enumerate(self._children.schedulers):
            self._look(pid, f"scheduler_{rank}")
        self._look(self._children.detokenizer, "detokenizer")

    def _look(self, pid: int, name: str) -> None:
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended or self._is_ending or self._launch.numbers <= (0, 5, 2):
            return
        self._log.say(
            f"Subprocess {name} (pid={pid}) crashed with exit code {name_of_end(status)}. "
            "Triggering SIGQUIT for cleanup..."
        )
        self._child_failed()

    def _child_failed(self) -> None:
        if self._is_ending:
            return
        if self._launch.numbers <= (0, 5, 2):
            self._log.say(
                "Received sigquit from a child process. It usually means the child failed."
            )
            self._kill_children()
            die_of(signal.SIGKILL)
        self._log.say(
            "SIGQUIT received. signum=None, frame=None. It usually means one child failed."
        )
        self._start(self._diagnose())

    async def _diagnose(self) -> None:
        seconds = self._launch.duration_s("crash_pause")
        if self._launch.numbers > (0, 5, 10):
            self._log.say(
                f"Sleeping {seconds:.0f} seconds before crash diagnostics to let GPU activity "
                "settle."
            )
        await asyncio.sleep(seconds)
        if self._launch.numbers > (0, 5, 10):
            self._log.say("No live scheduler processes found; skipping py-spy and CUDA coredump.")
            self._say_kill(include_parent=True)
        self._kill_children()
        die_of(signal.SIGKILL)

    # ------------------------------------------------ the tree
    def _say_kill(self, *, include_parent: bool) -> None:
        pid = os.getpid()
        if self._launch.numbers > (0, 5, 10):
            self._log.say(
                f"kill_process_tree called: parent_pid={pid}, "
                f"include_parent={include_parent}, pid={pid}"
            )

    def _kill_children(self) -> None:
        pids = self._children.pids
        if self._launch.lab_host.fault("orphan-scheduler") is not None:
            self._state.link.tell(do="outlive")
            time.sleep(_ORPHAN_HEARS_S)
            pids = pids[1:]
        kill_all(pids)
        GpuUse(self._launch, pids).release()
