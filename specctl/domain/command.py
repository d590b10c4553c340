"""Command lines of servers: made from a profile, read from a process, shown to a person."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.arguments import Option, read_options, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.profile import Profile

DEFAULT_PORT = 30000
DEFAULT_ADDRESS = "127.0.0.1"
MODULE = "sglang.launch_server"


def server_argv(profile: Profile, *, python: Sequence[str], port: int) -> tuple[str, ...]:
    """The command line that starts a profile's server; its secrets are not in it."""
    argv = [*python, "-m", MODULE, *render("model-path", profile.model)]
    for flag, value in profile.arguments.items():
        argv += render(flag, value)
    if profile.speculation is not None:
        argv += render("speculative-algorithm", profile.speculation.algorithm)
        for key, value in profile.speculation.arguments.items():
            argv += render(flags.SPECULATION_PREFIX + key, value)
    return (*argv, "--port", str(port))


def server_environment(profile: Profile, host: Host | None = None) -> dict[str, str]:
    """What is added to the environment of a profile's server; its secrets are not in it.

    The profile's variables win over the host's; placement names the GPUs.
    """
    environment = {**(host.environment if host else {}), **profile.environment}
    if host is not None and host.hf_home and "HF_HOME" not in profile.environment:
        environment["HF_HOME"] = host.hf_home
    gpus = profile.placement.gpus
    if gpus is None and host is not None and "CUDA_VISIBLE_DEVICES" not in environment:
        gpus = host.gpus
    if gpus is not None:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu) for gpu in gpus)
    return environment


def server_secrets(profile: Profile, host: Host | None = None) -> dict[str, str]:
    """Destination to secret name, of a profile's server on a host."""
    secrets = {**(host.secrets if host else {}), **profile.secrets}
    return {
        destination: name
        for destination, name in secrets.items()
        if destination.removeprefix("env:") not in profile.environment
    }


@dataclass(frozen=True, slots=True)
class ServerArguments:
    """What the command line of a server says, later words winning over earlier ones."""

    command: tuple[str, ...]
    """What comes before the options: `python -m sglang.launch_server`, `sglang serve`."""

    options: tuple[Option, ...]
    stray: tuple[str, ...] = ()
    """Words that belong to no option."""

    def option(self, flag: str) -> Option | None:
        """The option that counts: the last one of its name."""
        return next((o for o in reversed(self.options) if o.flag == flag), None)

    def text(self, flag: str) -> str | None:
        """The value of a flag; None when it is absent or has none."""
        option = self.option(flag)
        return option.values[-1] if option is not None and option.values else None

    def number(self, flag: str, default: int | None) -> int | None:
        """A whole number; `default` when the flag is absent, None when it is no number.

        None also for an absent flag when a `--config` file, which is not read, may hold it.
        """
        option = self.option(flag)
        if option is None:
            return default if self.config is None else None
        return _whole_number(option.values[-1]) if option.values else None

    def has(self, flag: str) -> bool:
        """The flag is given."""
        return self.option(flag) is not None

    @property
    def config(self) -> str | None:
        """The file of `--config FILE`, which may hold any flag that is not on the command line."""
        return self.text("config")

    @property
    def model(self) -> str | None:
        """The model's path or repository."""
        return self.text("model-path")

    @property
    def served_name(self) -> str | None:
        """The name the API knows the model by; the model's own when none is given."""
        return self.text("served-model-name") or self.model

    @property
    def port(self) -> int | None:
        """Of the HTTP API; None when it cannot be told from the command line."""
        return self.number("port", DEFAULT_PORT)

    @property
    def address(self) -> str | None:
        """The address the HTTP API is bound to."""
        return self.text("host") or (DEFAULT_ADDRESS if self.config is None else None)

    @property
    def tp_size(self) -> int | None:
        """GPUs of one tensor-parallel group."""
        return self.number("tp-size", 1)

    @property
    def dp_size(self) -> int | None:
        """Data-parallel replicas or attention groups."""
        return self.number("dp-size", 1)

    @property
    def pp_size(self) -> int | None:
        """Pipeline stages."""
        return self.number("pp-size", 1)

    @property
    def nnodes(self) -> int | None:
        """Hosts this server spans."""
        return self.number("nnodes", 1)

    @property
    def node_rank(self) -> int | None:
        """Which of those hosts this one is."""
        return self.number("node-rank", 0)

    @property
    def base_gpu_id(self) -> int | None:
        """The first GPU among the visible ones."""
        return self.number("base-gpu-id", 0)

    @property
    def is_multi_node(self) -> bool:
        """One rank of a server over several hosts."""
        return (self.nnodes or 1) > 1

    @property
    def algorithm(self) -> str | None:
        """The speculative algorithm; None without speculation."""
        return self.text("speculative-algorithm")

    @property
    def draft_model(self) -> str | None:
        """The draft model's path or repository."""
        return self.text("speculative-draft-model-path")


def parse_argv(argv: Sequence[str]) -> ServerArguments:
    """Read a server's command line as SGLang's argparse would, without running anything."""
    start = options_start(argv)
    if start is None:
        start = next((i for i, a in enumerate(argv) if i and a.startswith("--")), len(argv))
    command, tokens = tuple(argv[:start]), list(argv[start:])
    if tokens and not tokens[0].startswith("-") and command[-1:] == ("serve",):
        tokens.insert(0, "--model-path")
    # SGLang looks for the word `--config` alone: the joined form is ignored in silence.
    tokens = [item for item in tokens if not item.startswith("--config=")]
    return ServerArguments(command, *read_options(tokens))


def options_start(argv: Sequence[str]) -> int | None:
    """Where the options of an SGLang server begin; None when argv starts no such server.

    Known forms: `… -m sglang.launch_server`, `…/launch_server.py`, `sglang serve`.
    """
    for i, item in enumerate(argv):
        name = item.rpartition("/")[2]
        if item == MODULE and i and argv[i - 1] == "-m":
            return i + 1
        if name == "launch_server.py":
            return i + 1
        if name == "sglang" and list(argv[i + 1 : i + 2]) == ["serve"]:
            return i + 2
    return None


def _whole_number(text: str) -> int | None:
    """`int()` as argparse applies it: `1_000` is a number, `8.0` and `1e3` are not."""
    try:
        return int(text)
    except ValueError:
        return None


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def shell_join(argv: Sequence[str]) -> str:
    """One line for a POSIX shell, every word arriving as it is."""
    return " ".join(_quoted(item, is_first=i == 0) for i, item in enumerate(argv))


def _quoted(item: str, *, is_first: bool = False) -> str:
    """Quoted also where only some shells mind: a first word with `=`, and zsh's leading `=`."""
    quoted = shlex.quote(item)
    if quoted == item and (item.startswith("=") or (is_first and _ASSIGNMENT.match(item))):
        return f"'{item}'"
    return quoted


def shell_lines(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """The same over several lines, one flag on each, variables first; ready to be pasted."""
    words = list(argv)
    start = options_start(words)
    if start is None:
        start = len(words)
    rows = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    rows.append(shell_join(words[:start]))
    for item in words[start:]:
        if item.startswith("--"):
            rows.append("  " + _quoted(item))
        else:
            rows[-1] += " " + _quoted(item)
    return " \\\n".join(rows)
