"""The main process once its schedulers run: the port, the warm-up, signals, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from specctl.lab.server.ending import Ending
from specctl.lab.server.log import log_path, rotate_own_log
from specctl.lab.server.metrics import Meters
from specctl.lab.server.pending import SchedulerLink
from specctl.lab.server.routes import App, families_of
from specctl.lab.server.state import Phase, ServerState
from specctl.lab.server.web import serve_connection

if TYPE_CHECKING:
    from specctl.lab.server.running import Children, Running

_WARM_UP_TEXT = "The capital city of France is"
_WARM_UP_TOKENS = 8
_ROTATION_LOOK_S = 0.5


def serve_forever(running: Running) -> NoReturn:
    """Serve until a signal or a fault ends it."""
    launch = running.launch
    meters = Meters(families_of(launch.version))
    is_split = launch.numbers > (0, 5, 10)
    link = SchedulerLink(partial(meters.finish, labels_streaming=is_split))
    link.publish_interval = int(launch.args.load_snapshot_publish_interval or 15)
    link.last_heard_s = time.time_ns() / 1e9
    state = ServerState(launch, running.log, link, running.tokenizer, meters, running.started)
    state.tokenizer_s = running.started_in_s
    asyncio.run(_Main(state, running.children).run(running.scheduler))
    raise SystemExit


class _Main:
    """The event loop of the main process."""

    def __init__(self, state: ServerState, children: Children) -> None:
        self._state = state
        self._launch, self._log = state.launch, state.log
        self._ending = Ending(state, children)
        self._app = App(state)

    async def run(self, end: socket.socket) -> None:
        """Ends the process itself."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            self._ending.listen(loop, tasks)
            tasks.create_task(self._state.link.run(end))
            self._say_times()
            self._log.say(f"INFO:     Started server process [{os.getpid()}]")
            self._log.say("INFO:     Waiting for application startup.")
            self._log.say("INFO:     Application startup complete.")
            listening = self._bind()
            if listening is None:
                self._ending.stay_without_port(loop)
                return
            await asyncio.start_server(self._connected, sock=listening, limit=1 << 20)
            where = f"http://{self._launch.args.host}:{self._launch.args.port}"
            self._log.say(f"INFO:     Uvicorn running on {where} (Press CTRL+C to quit)")
            tasks.create_task(self._watch_rotation())
            await self._warm_up()

    def _say_times(self) -> None:
        if self._launch.numbers < (0, 5, 17):
            return
        times = self._state.startup_times
        graphs = ", ".join(f"{name}={value:.2f}" for name, value in times["cuda_graph"].items())
        self._log.say(
            f"Engine startup timings (s): load_weight={times['load_weight']:.2f}, "
            f"kv_cache_allocation={times['kv_cache_allocation']:.2f}, "
            f"scheduler_e2e={times['scheduler_e2e']:.2f}, cuda_graph={{{graphs}}}, "
            f"tokenizer_e2e={self._state.tokenizer_s:.2f}"
        )

    def _bind(self) -> socket.socket | None:
        """The port; always on a loopback address. None where it cannot be had."""
        host, port = str(self._launch.args.host), int(self._launch.args.port)
        address = host if host.startswith("127.") else "127.0.0.1"
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        is_taken = self._launch.lab_host.fault("port-clash") is not None
        try:
            listening.bind((address, 0 if is_taken else port))
        except OSError:
            is_taken = True
        if is_taken:
            listening.close()
            self._log.say(
                f"ERROR:    [Errno 98] error while attempting to bind on address ('{host}', "
                f"{port}): address already in use"
            )
            self._log.say("INFO:     Waiting for application shutdown.")
            return None
        listening.listen(512)
        return listening

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await serve_connection(reader, writer, self._app.answer, self._log.access)

    async def _watch_rotation(self) -> None:
        """`log-rotated`: once for each time that the fault comes into force."""
        was_on = False
        while True:
            await asyncio.sleep(_ROTATION_LOOK_S)
            is_on = self._launch.lab_host.fault("log-rotated") is not None
            if is_on and not was_on:
                path = log_path()
                with contextlib.suppress(OSError):
                    rotate_own_log()
                    self._state.link.tell(do="reopen", path=path)
            was_on = is_on

    # ------------------------------------------------ warm-up
    async def _warm_up(self) -> None:
        args = self._launch.args
        if not args.skip_server_warmup:
            numbers = self._launch.numbers
            await asyncio.sleep(self._launch.duration_s("warm_up_pause"))
            await self._ask("GET", "/model_info" if numbers >= (0, 5, 6) else "/get_model_info")
            sampling = {"temperature": 0, "max_new_tokens": _WARM_UP_TOKENS}
            body = {"text": _WARM_UP_TEXT, "sampling_params": sampling}
            await self._ask("POST", "/generate", body)
            if numbers >= (0, 5, 23):
                await self._ask("POST", "/freeze_gc", {})
        self._log.say("The server is fired up and ready to roll!")
        if self._state.phase is Phase.STARTING:
            self._state.phase = Phase.READY

    async def _ask(self, method: str, path: str, body: Any = None) -> None:
        """One request to ourselves, over the port."""
        args = self._launch.args
        address = args.host if str(args.host).startswith("127.") else "127.0.0.1"
        reader, writer = await asyncio.open_connection(address, int(args.port))
        content = json.dumps(body).encode() if body is not None else b""
        key = args.admin_api_key if path == "/freeze_gc" and args.admin_api_key else args.api_key
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", "connection: close"]
        lines += [f"content-length: {len(content)}"]
        lines += [f"authorization: Bearer {key}"] if key else []
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await reader.read()
        writer.close()
