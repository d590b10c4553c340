"""A host: one file of `remotes/`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Transport = Literal["ssh", "local"]


@dataclass(frozen=True, slots=True)
class Host:
    """A machine as its file describes it; None where the file is silent."""

    name: str
    """The stem of its file."""

    ssh: str | None = None
    """The alias in the user's ssh configuration; with it, that configuration fills the rest."""

    address: str | None = None
    port: int | None = None
    user: str | None = None
    transport: Transport = "ssh"
    python: str | None = None
    """The interpreter that has SGLang."""

    enter: tuple[str, ...] = ()
    """Put before every command, e.g. `docker exec -i NAME`."""

    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Destination, e.g. `env:HF_TOKEN`, to the secret's name."""

    state_dir: str | None = None
    model_dirs: tuple[str, ...] = ()
    hf_home: str | None = None
    gpus: tuple[int, ...] | None = None
    """The GPUs specctl may use; None means all of them."""

    labels: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    ssh_config: str | None = None
    """An ssh configuration that is read instead of the user's."""

    is_simulated: bool = False
    """A host of the lab: every screen, table, report and JSON object that shows it says so."""

    notes: str = ""
    file: str = ""
    """As the user would type it, e.g. `remotes/gpu8.toml`; empty when it was not read from one."""
