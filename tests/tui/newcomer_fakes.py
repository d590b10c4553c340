"""A machine that may become a host, and launch commands that become profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.doctor import Level, Row
from specctl.domain.host import Host
from specctl.services.adding import Found
from specctl.tui.newcomers import Imported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.trust import OfferedKey
    from specctl.domain.errors import SpecctlError

ROWS = (
    Row("connect", Level.PASS, "op on new-1"),
    Row("python", Level.PASS, "/opt/sglang/bin/python 3.12"),
    Row("shm", Level.WARN, "64 MiB of /dev/shm", "Start the container with --shm-size 16g."),
)


class FakeNewcomers:
    """Answers at once; `unknown_keys` are the keys asked about before a machine is looked over."""

    def __init__(self) -> None:
        self.rows_of_new: tuple[Row, ...] = ROWS
        self.unknown_keys: list[tuple[SpecctlError, OfferedKey]] = []
        self.added: list[str] = []

    def _asked(self, *call: object) -> None:
        raise NotImplementedError

    def ssh_aliases(self) -> Mapping[str, str]:
        return {"new-1": "op@192.0.2.7", "new-2": ""}

    async def look_over(self, alias: str) -> Found:
        self._asked("look_over", alias)
        if self.unknown_keys:
            raise self.unknown_keys[0][0]
        return Found(Host(alias, ssh=alias), self.rows_of_new, (), ())

    async def offered_key_of(self, alias: str) -> OfferedKey:
        self._asked("offered_key_of", alias)
        return self.unknown_keys.pop(0)[1]

    async def add_host(self, found: Found) -> str:
        self._asked("add_host", found.host.name)
        self.added.append(found.host.name)
        return f"remotes/{found.host.name}.toml"

    async def import_profile(self, name: str, text: str) -> Imported:
        self._asked("import_profile", name, text)
        return Imported(f"profiles/{name}.toml", ("--foo is unknown; kept.",), ("api-key",))
