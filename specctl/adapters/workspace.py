"""A workspace: the hosts and profiles of one directory, with everything wrong in them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.adapters import paths
from specctl.adapters.files import read_toml
from specctl.adapters.overlay import read_overlay
from specctl.adapters.toml_writing import to_toml
from specctl.adapters.validation import problems_of
from specctl.adapters.workspace_root import PROFILES, REMOTES, VARIABLE, root_around, visible_files
from specctl.domain.alerts.rules import Rules, rules_of
from specctl.domain.contradictions import contradictions
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.host import Host
from specctl.domain.inheritance import Document, Inheritance
from specctl.domain.nearest import nearest
from specctl.domain.problem import Problem
from specctl.domain.profile import SECRET_PREFIX
from specctl.domain.resolve import expand_workspace, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from specctl.adapters.overlay import Overlay
    from specctl.domain.errors import SpecctlError
    from specctl.domain.profile import Profile

ALERTS = "alerts.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SCHEMA_LINES = {REMOTES: "../schema/remote.json", PROFILES: "../schema/profile.json"}


def find_workspace(start: Path, chosen: str | None = None, *, read_only: bool = False) -> Workspace:
    """The workspace asked for (`-C`, else `SPECCTL_WORKSPACE`), else the nearest one upwards.

    A workspace is a directory that contains `remotes/`. Where there is none, the user's own one is
    taken, which `specctl add` makes. The hosts and profiles of a lab that is up are beside its own.
    `read_only` makes every host of it so.
    """
    asked, overlay = chosen or os.environ.get(VARIABLE), read_overlay()
    if asked:
        root = Path(asked).expanduser()
        if not root.is_dir():
            raise UsageError(f"{asked} is not a directory", hint=f"specctl init {asked}")
        return Workspace(root.absolute(), read_only=read_only, overlay=overlay)
    if (found := root_around(start, has_lab=overlay is not None)) is not None:
        return Workspace(found, read_only=read_only, overlay=overlay)
    raise UsageError(
        f"no workspace here: neither {start} nor a directory above it contains {REMOTES}/",
        hint="specctl add SSH_ALIAS  or  specctl init  makes one; "
        "-C DIR or SPECCTL_WORKSPACE names one elsewhere",
    )


class Workspace:
    """Hosts and profiles as their files were when this was made.

    What an overlay has lies beside them; of one name, the workspace's own is taken.
    """

    def __init__(
        self, root: Path, *, read_only: bool = False, overlay: Overlay | None = None
    ) -> None:
        self.root, self.read_only, self._overlay = root, read_only, overlay
        self.notice: Callable[[Host], object] = _unnoticed
        """Told of every host that is asked for."""

        self._shown_root = _shown(root)
        self._overlaid: dict[tuple[str, str], str] = {}
        """Folder and name to the file, for what is the overlay's."""

        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._hosts = {d.name: self._host(d) for d in self._documents("remote", REMOTES)}
        self._documents_by_name = {d.name: d for d in self._documents("profile", PROFILES)}
        self._inheritance = Inheritance(self._documents_by_name)
        self._near: dict[str, str] = {}
        """The profile most like a name that none has: finding it takes long."""

        self._profiles: dict[str, Profile] = {}
        for name, document in self._documents_by_name.items():
            profile, problems = resolve(name, self._inheritance)
            if profile is not None:
                self._profiles[name] = profile
            self._problems[document.file] = (*self._problems[document.file], *problems)
        self.alert_rules = self._read_alert_rules()
        """When alerts are raised; as they are without a file while the file has a problem."""

    def _documents(self, kind: str, folder: str) -> Iterable[Document]:
        """The files of a folder that are fit for use; the problems of all are kept."""
        for path in self._files(folder):
            toml = read_toml(path, self.shown(folder, path.stem))
            problems = problems_of(kind, toml)
            if not _NAME.fullmatch(path.stem):
                message = f"{path.stem!r} is no name: letters, digits, dot, dash and underscore"
                problems = (Problem(toml.file, None, "", message), *problems)
            self._problems[toml.file] = problems
            if all(problem.is_warning for problem in problems):
                yield Document(path.stem, toml.file, toml.values, toml.lines)

    def _read_alert_rules(self) -> Rules:
        path = self.root / ALERTS
        if not path.exists():
            return Rules()
        toml = read_toml(path, self._shown_root + ALERTS)
        problems = self._problems[toml.file] = problems_of("rules", toml)
        return Rules() if problems else rules_of(toml.values)

    @property
    def alert_problems(self) -> tuple[Problem, ...]:
        """What is wrong in `alerts.toml`."""
        return self._problems.get(self._shown_root + ALERTS, ())

    def _files(self, folder: str) -> list[Path]:
        """Its own, and those of the overlay that have another name; hidden ones left out."""
        own = visible_files(self.root / folder)
        if self._overlay is None:
            return own
        names = {path.stem for path in own}
        more = [
            path for path in visible_files(self._overlay.root / folder) if path.stem not in names
        ]
        more.sort(key=lambda path: (len(path.stem), path.stem))  # lab-2 before lab-10
        self._overlaid |= {(folder, path.stem): paths.short(path) for path in more}
        return own + more

    def _host(self, document: Document) -> Host:
        values = document.values
        if values.get("transport") == "local":
            values = expand_workspace(values, str(self.root))
        host = _host(document, values)
        if self._overlay is not None and (REMOTES, document.name) in self._overlaid:
            config = str(self._overlay.ssh_config)
            host = replace(host, is_simulated=True, ssh_config=config)
        return replace(host, read_only=True) if self.read_only else host

    def shown(self, folder: str, name: str) -> str:
        """The path of a file as the user would type it."""
        own = f"{self._shown_root}{folder}/{name}.toml"
        return self._overlaid.get((folder, name), own)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong with the shape of any file."""
        return tuple(problem for problems in self._problems.values() for problem in problems)

    def hosts(self) -> Mapping[str, Host]:
        """The usable hosts by name."""
        return self._hosts

    def profiles(self) -> Mapping[str, Profile]:
        """The usable profiles by name, without any host's overrides."""
        return self._profiles

    def profile_names(self) -> tuple[str, ...]:
        """Of every file of profiles, also those that cannot be used."""
        return tuple(path.stem for path in self._files(PROFILES))

    def profile_file(self, name: str) -> str:
        """Its file, as the user would type it."""
        return self.shown(PROFILES, name)

    def is_of_lab(self, profile: str) -> bool:
        """The profile lies beside the workspace, with the practice hosts of a lab that is up."""
        return (PROFILES, profile) in self._overlaid

    def host(self, name: str) -> Host:
        """The host called `name`."""
        if name in self._hosts:
            self.notice(self._hosts[name])
            return self._hosts[name]
        raise self._refusal("host", REMOTES, name, self._hosts)

    def profile(self, name: str, on: str | Host | None = None) -> Profile:
        """The profile called `name`, as it is on one host when `on` names it."""
        if name not in self._profiles:
            raise self._refusal("profile", PROFILES, name, self._profiles)
        if on is None:
            return self._profiles[name]
        host = self.host(on) if isinstance(on, str) else on
        profile, problems = resolve(name, self._inheritance, on=host, workspace=str(self.root))
        if profile is None:
            raise InvalidFileError(problems, hint=f"specctl check {name}")
        return profile

    def _refusal(self, kind: str, folder: str, name: str, known: Iterable[str]) -> SpecctlError:
        problems = self._problems.get(self.shown(folder, name), ())
        if problems:
            hint = f"specctl check {name}" if kind == "profile" else "specctl check"
            return InvalidFileError(problems, hint=hint)
        close = nearest(name, known)
        listed = f"specctl {kind}s lists them; {self._shown_root}{folder}/ holds one file each"
        hint = f"nearest: {close}" if close else listed
        return UsageError(f"no {kind} called {name}", hint=hint)

    def check(self, names: Sequence[str] = (), *, on: str | None = None) -> tuple[Problem, ...]:
        """Problems and contradictions of the profiles named, or of every file.

        Values for other hosts do not count where `on` names one.
        """
        files = [self.shown(PROFILES, name) for name in names] or list(self._problems)
        for name in names:
            if self.shown(PROFILES, name) not in self._problems:
                raise self._refusal("profile", PROFILES, name, self._documents_by_name)
        found = [problem for file in files for problem in self._problems[file]]
        usable = [name for name in names or self._profiles if name in self._profiles]
        for name in usable:
            found += self._check_profile(self._profiles[name], on)
        found += self._unknown_hosts(usable, on)
        unique = dict.fromkeys(found)
        return tuple(sorted(unique, key=lambda problem: (problem.file, problem.line or 0)))

    def _check_profile(self, profile: Profile, on: str | None) -> list[Problem]:
        found = list(contradictions(profile))
        if profile.baseline is not None:
            found += self._check_baseline(profile, profile.baseline)
        for host in self.overriding_hosts(profile.name):
            if on in {None, host.name}:
                resolved, problems = resolve(
                    profile.name, self._inheritance, on=host, workspace=str(self.root)
                )
                found += contradictions(resolved) if resolved else problems
        return found

    def _unknown_hosts(self, names: Iterable[str], on: str | None) -> Iterable[Problem]:
        """Of the files that these profiles are made of, each once."""
        overriding = (d for name in names for d in self._inheritance.of(name).overriding)
        for document in {document.name: document for document in overriding}.values():
            for host in document.values["on"]:
                if host not in self._hosts and on in {None, host}:
                    place = (document.file, document.lines.get(("on", host)), f"on.{host}")
                    message = f"there is no host called {host}"
                    close = nearest(host, self._hosts)
                    yield Problem(*place, message, close, is_warning=True)

    def _check_baseline(self, profile: Profile, baseline: str) -> list[Problem]:
        origin = profile.origins["baseline"]
        place = (origin.file, origin.line, "baseline")
        if baseline not in self._documents_by_name:
            message = f"no usable profile called {baseline}"
            return [Problem(*place, message, self._nearest_profile(baseline))]
        other = self._profiles.get(baseline)
        if other is not None and other.speculation is not None and baseline != profile.name:
            message = f"{baseline} speculates too ({other.speculation.algorithm})"
            return [Problem(*place, message, is_warning=True)]
        return []

    def _nearest_profile(self, name: str) -> str:
        if name not in self._near:
            self._near[name] = nearest(name, self._documents_by_name)
        return self._near[name]

    def overriding_hosts(self, name: str) -> tuple[Host, ...]:
        """The hosts for which a profile, or one it extends, has values of their own."""
        overriding = self._inheritance.of(name).overriding
        names = dict.fromkeys(host for document in overriding for host in document.values["on"])
        return tuple(self._hosts[host] for host in names if host in self._hosts)

    def write_host(self, host: Host, *, comments: Sequence[str] = ()) -> Path:
        """Write a new file into `remotes/`; refuses to replace one."""
        return self._write(REMOTES, host.name, host_values(host), comments)

    def write_profile(
        self, name: str, values: Mapping[str, Any], *, comments: Sequence[str] = ()
    ) -> Path:
        """Write a new file into `profiles/`; refuses to replace one."""
        return self._write(PROFILES, name, values, comments)

    def _write(
        self, folder: str, name: str, values: Mapping[str, Any], comments: Sequence[str]
    ) -> Path:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name", hint="letters, digits, dot, dash and underscore"
            )
        path = self.root / folder / f"{name}.toml"
        schema = _SCHEMA_LINES[folder]
        has_schema = (self.root / folder / schema).exists()
        text = to_toml(values, comments=comments, schema=schema if has_schema else "")
        write_new(path, text, shown=f"{self._shown_root}{folder}/{name}.toml")
        return path


def write_new(path: Path, text: str, *, shown: str) -> None:
    """Write a file that must not exist yet, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    try:
        os.link(part, path)
    except FileExistsError:
        raise UsageError(
            f"{shown} exists already", hint="choose another name, or remove the file first"
        ) from None
    finally:
        part.unlink()


def _unnoticed(host: Host) -> None:
    """Nobody wants to know."""


def _shown(root: Path) -> str:
    """What goes before `profiles/…`: nothing in the workspace's own directory."""
    here = paths.here()
    if here == root:
        return ""
    if here is not None and here.is_relative_to(root):
        return os.path.relpath(root, here) + "/"
    return paths.short(root) + "/"


def _host(document: Document, values: Mapping[str, Any]) -> Host:
    environment = {key: str(value) for key, value in values.get("env", {}).items()}
    secrets = {k: v for k, v in environment.items() if v.startswith(SECRET_PREFIX)}
    gpus = values.get("gpus")
    return Host(
        name=document.name,
        ssh=values.get("ssh"),
        address=values.get("host"),
        port=values.get("port"),
        user=values.get("user"),
        transport=values.get("transport", "ssh"),
        python=values.get("python"),
        enter=tuple(values.get("enter", ())),
        environment={k: v for k, v in environment.items() if k not in secrets},
        secrets={f"env:{k}": v.removeprefix(SECRET_PREFIX) for k, v in secrets.items()},
        state_dir=values.get("state_dir"),
        model_dirs=tuple(values.get("model_dirs", ())),
        hf_home=values.get("hf_home"),
        gpus=None if gpus is None else tuple(gpus),
        labels=dict(values.get("labels", {})),
        read_only=values.get("read_only", False),
        notes=values.get("notes", ""),
        file=document.file,
    )


def host_values(host: Host) -> dict[str, Any]:
    """A host as its file says it, defaults left out."""
    named = {k.removeprefix("env:"): f"{SECRET_PREFIX}{v}" for k, v in host.secrets.items()}
    values: dict[str, Any] = {
        "ssh": host.ssh,
        "host": host.address,
        "port": host.port,
        "user": host.user,
        "transport": host.transport if host.transport != "ssh" else None,
        "python": host.python,
        "enter": list(host.enter) or None,
        "state_dir": host.state_dir,
        "model_dirs": list(host.model_dirs) or None,
        "hf_home": host.hf_home,
        "gpus": None if host.gpus is None else list(host.gpus),
        "read_only": host.read_only or None,
        "notes": host.notes or None,
        "env": {**host.environment, **named},
        "labels": dict(host.labels),
    }
    return {key: value for key, value in values.items() if value is not None}
