"""The screens on a recording: the same panels, fed by a player instead of by hosts."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast

from textual.binding import Binding, BindingType

from specctl.adapters.clock import SystemClock
from specctl.adapters.recording import Recording
from specctl.domain.errors import RefusedError, SpecctlError
from specctl.services.log_paging import LogPart, save_lines
from specctl.services.replaying import Player
from specctl.tui.actions import actions_on
from specctl.tui.application import SpecctlApp, Start
from specctl.tui.bridge import listen
from specctl.tui.details import details_of
from specctl.tui.render.replay import off_in_replay
from specctl.tui.running import run_until_told
from specctl.tui.scene import Recent, Scene
from specctl.tui.settings import Settings, read_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.domain.server import Server
    from specctl.domain.state import State, Store
    from specctl.tui.action import Action
    from specctl.tui.services import ProfileChoice, ServerDetails, Services

USAGE = 2
LOG_S = 0.25
STEP_S, MINUTE_S = 1.0, 60.0
BINDINGS: list[BindingType] = [
    Binding(",".join(action.keys), f"replay('{action.id}')", action.title, id=action.id, show=False)
    for action in actions_on("replay")
]


class ReplayServices:
    """What screens may ask of a recording: what was seen. Everything else is refused."""

    def __init__(self, player: Player, store: Store, recent: Callable[[], Recent]) -> None:
        self._player, self._store, self._recent = player, store, recent

    @property
    def interval_s(self) -> float:
        """How often hosts were sampled when it was recorded."""
        return self._player.recording.head.interval_s

    def hosts(self) -> Sequence[str]:
        """Those that were recorded."""
        return self._player.recording.head.hosts

    def profiles(self, host: str | None) -> Sequence[ProfileChoice]:
        """None: files are not recorded."""
        del host
        return ()

    def details(self, host: str, server: Server) -> ServerDetails:
        """What the recording itself tells of a server."""
        return details_of(server, None, self._store.state.host(host), None)

    async def monitor(self) -> None:
        """Play."""
        await self._player.run()

    async def learn_trials(self) -> None:
        """The ledger is not of the recording's time."""

    async def log_end(self, host: str, server: str | None, back: int) -> LogPart:
        """What was recorded of a log up to now."""
        if back or server is None:
            raise RefusedError("A replay has the logs of the servers it saw.", hint="esc leaves.")
        lines = tuple(self._recent().logs.get((host, server), ()))
        return LogPart(f"{host}/{server}", lines, launch="recorded")

    async def follow_log(self, host: str, part: LogPart) -> AsyncIterator[LogPart]:
        """Lines as they were written; after a jump all of them anew."""
        key = tuple(part.path.split("/", 1))
        recent, count = self._recent(), -1
        while True:
            now = self._recent()
            total = now.log_counts.get((key[0], key[1]), 0)
            lines = tuple(now.logs.get((key[0], key[1]), ()))
            if now is not recent:
                recent = now
                yield replace(part, lines=lines, begins_anew=True)
            elif 0 <= count < total:
                yield replace(part, lines=lines[-(total - count) :], begins_anew=False)
            count = total
            await asyncio.sleep(LOG_S)

    async def save_log(self, host: str, part: LogPart, file: Path, first_line: str) -> str:
        """What was recorded of it up to now."""
        lines = tuple(self._recent().logs.get((host, part.path.partition("/")[2]), ()))
        return f"{save_lines(lines, file, first_line):,} characters in {file}"

    def __getattr__(self, name: str) -> Any:
        """What would reach a host, or a file."""

        async def refuse(*_: object, **__: object) -> NoReturn:
            raise RefusedError(f"A replay has no {name.replace('_', ' ')}.", hint="q leaves it.")

        return refuse


class ReplayApp(SpecctlApp):
    """Shows a recording."""

    BINDINGS: ClassVar = BINDINGS

    def __init__(
        self,
        recording: Recording,
        *,
        speed: float = 1.0,
        at_s: float = 0.0,
        settings: Settings | None = None,
        clock: Clock | None = None,
        offset_s: int | None = None,
    ) -> None:
        self.player: Player | None = None
        self._recording = recording
        super().__init__(
            Start(recording.head.hosts, self._load),
            clock=self._now,
            settings=replace(settings or Settings(), read_only=True),
            offset_s=offset_s,
        )
        self.player = Player(
            recording,
            self.store,
            clock or SystemClock(),
            speed=speed,
            begin_anew=self.begin_anew,
        )
        if at_s:
            self.player.seek(at_s)
        self.scene = self._scene(self.store.state)

    async def _load(self, store: Store) -> Services:
        assert self.player is not None  # noqa: S101  made before anything is loaded
        return cast("Services", ReplayServices(self.player, store, lambda: self.recent))

    def _now(self) -> float:
        return self.player.now() if self.player is not None else self._recording.began_s

    def _scene(self, state: State) -> Scene:
        standing = self.player.standing if self.player is not None else None
        interval_s = self._recording.head.interval_s
        return replace(super()._scene(state), replay=standing, interval_s=interval_s)

    def begin_anew(self) -> None:
        """What was gathered so far is of another time."""
        self.recent = Recent()
        self._unsubscribe()
        self._unsubscribe = listen(self.store, self.recent, self.post_message)

    def off(self, action: Action) -> str:
        """Nothing that is over can be acted on."""
        return off_in_replay(action)

    # ---------------------------------------------------------------- keys

    def action_replay(self, name: str) -> None:
        """Do what a key of the replay does."""
        player = self.player
        if player is not None:
            _KEYS[name](player)
            self.repaint()

    def do_live_pause(self) -> None:
        """Stand still, or go on."""
        self.action_replay("replay.pause")


def _pause(player: Player) -> None:
    """Stand still, or go on; at the end from the beginning."""
    player.pause(paused=not (player.is_paused or player.is_over))


_KEYS: dict[str, Callable[[Player], None]] = {
    "replay.pause": _pause,
    "replay.step": lambda player: player.step(STEP_S),
    "replay.step_back": lambda player: player.step(-STEP_S),
    "replay.on": lambda player: player.seek(player.at_s + MINUTE_S),
    "replay.back": lambda player: player.seek(player.at_s - MINUTE_S),
    "replay.faster": lambda player: player.faster(1),
    "replay.slower": lambda player: player.faster(-1),
}


def run_replay(file: Path, *, speed: float, at_s: float) -> int:
    """Open the screens on a recording; returns the exit status."""
    try:
        settings = read_settings(os.environ)
        recording = Recording(file)
    except SpecctlError as error:
        sys.stderr.write(f"specctl: {error.message}\n{error.hint}\n")
        return USAGE
    with recording:
        app = ReplayApp(recording, speed=speed, at_s=at_s, settings=settings)
        return run_until_told(app, has_mouse=settings.has_mouse)
