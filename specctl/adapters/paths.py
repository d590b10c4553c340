"""Where specctl keeps its own files on the operator's machine."""

from __future__ import annotations

from pathlib import Path

import platformdirs

_APP = "specctl"


def written_ns(path: Path) -> int | None:
    """When a file was last written; None of one that is gone, as it may be at any moment."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def config_dir() -> Path:
    """What the operator writes: the map of secrets."""
    return Path(platformdirs.user_config_dir(_APP))


def state_dir() -> Path:
    """What specctl remembers between runs: load times, the ledger."""
    return Path(platformdirs.user_state_dir(_APP))


def cache_dir() -> Path:
    """What can be fetched or worked out again."""
    return Path(platformdirs.user_cache_dir(_APP))


def lab_dir() -> Path:
    """The lab's own folder, there while it is up."""
    return state_dir() / "lab"


def ledger_file() -> Path:
    """What was measured, with every raw sample."""
    return state_dir() / "ledger.db"


def command_file() -> Path:
    """What was done on hosts; the file before it ends in `.1`."""
    return state_dir() / "commands.jsonl"


def typed_file() -> Path:
    """What was typed on the screen's command line."""
    return state_dir() / "typed"


def own_workspace() -> Path:
    """The workspace used where no other is found."""
    return config_dir() / "workspace"


def secrets_file() -> Path:
    """The operator's map from secret names to where their values lie."""
    return config_dir() / "secrets.toml"


def short(path: Path) -> str:
    """A path as people write it: below the current directory, or `~`, where it can be."""
    for base, mark in ((here(), ""), (Path.home(), "~/")):
        if base is not None and path.is_relative_to(base):
            return mark + str(path.relative_to(base))
    return str(path)


def here() -> Path | None:
    """The current directory; None where it was removed meanwhile."""
    try:
        return Path.cwd()
    except OSError:
        return None


def from_home(path: Path) -> str:
    """A path with `~` for the home directory, where it is below it."""
    home = Path.home()
    return (
        f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
    )
