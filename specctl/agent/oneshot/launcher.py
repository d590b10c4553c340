"""Start a server that outlives everything here, and answer with its identity.

The launcher forks a recorder into a session of its own; the recorder forks the server into
another, waits for it and writes down how it ended. The launcher only reports and ends.
"""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

from . import locker, pruning, recorder, statedir

MARKER = "SPECCTL_LAUNCH"
ANSWER_DEADLINE_S = 20.0
REPORT_MAX_BYTES = 65536


class LaunchError(Exception):
    """Nothing was started, or it could not be executed."""


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Launch `request["argv"]`.

    Request: launch_id, argv, environment, environment_files (name to a file of this host),
    state_dir (or None), keys and key_files (options for a --config file), record (fields kept in
    launch.json), lock (keys and token that must be held, or None).
    """
    began_s = time.monotonic()
    if request.get("lock"):
        lost = locker.is_held(request["lock"])
        if lost:
            raise LaunchError("nothing was started: " + lost)
    environment = server_environment(request)
    before = os.umask(0o077)
    state_dir, failures = statedir.choose(request.get("state_dir"))
    directory = make_directory(state_dir, request["launch_id"])
    keys = {**(request.get("keys") or {}), **_read_files(request.get("key_files"))}
    argv, keys_path = with_keys(request["argv"], keys, directory)
    report = detach(recorder.Launch(argv, environment, directory, keys_path, before), request)
    pruning.prune(state_dir)
    report.update(
        state_dir=state_dir,
        directory=directory,
        log_path=os.path.join(directory, "server.log"),
        state_dir_failures=failures,
        took_s=time.monotonic() - began_s,
    )
    return report


def server_environment(request: dict[str, Any]) -> dict[str, str]:
    """The login environment, what was given, and the marker."""
    environment = dict(os.environ)
    environment.update(request.get("environment") or {})
    environment.update(_read_files(request.get("environment_files")))
    environment[MARKER] = request["launch_id"]
    return environment


def _read_files(files: dict[str, str] | None) -> dict[str, str]:
    """Name to the contents of a file of this host, for secrets that the operator never sees."""
    found = {}
    for name, path in (files or {}).items():
        try:
            with open(os.path.expanduser(path), encoding="utf-8") as file:
                found[name] = file.read(REPORT_MAX_BYTES).strip()
        except (OSError, ValueError) as error:
            words = error.strerror if isinstance(error, OSError) else "is not text"
            raise LaunchError("%s for %s: %s" % (path, name, words)) from error
    return found


def make_directory(state_dir: str, launch_id: str) -> str:
    """The directory of a new launch."""
    directory = statedir.launch_dir(state_dir, launch_id)
    os.makedirs(os.path.dirname(directory), mode=0o700, exist_ok=True)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError as error:
        raise LaunchError("launch %s exists already" % launch_id) from error
    return directory


def with_keys(
    argv: list[str], keys: dict[str, str] | None, directory: str
) -> tuple[list[str], str | None]:
    """`argv` with `--config FILE`, FILE holding `keys` as YAML whose strings are JSON's.

    Only the two-word form is read by SGLang; `--config=FILE` is ignored without a word.
    """
    if not keys:
        return list(argv), None
    path = os.path.join(directory, "keys.yaml")
    text = "".join("%s: %s\n" % (name, json.dumps(value)) for name, value in keys.items())
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as stream:
        stream.write(text)
    return [*argv, "--config", path], path


def detach(launch: recorder.Launch, request: dict[str, Any]) -> dict[str, Any]:
    """Fork the recorder and wait for the server's identity, or the reason there is none."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        recorder.become(launch, writing, request)
    os.close(writing)
    report = _read_report(reading)
    os.close(reading)
    if "error" in report:
        os.waitpid(pid, 0)
        raise LaunchError(report["error"])
    return report


def _read_report(reading: int) -> dict[str, Any]:
    signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, ANSWER_DEADLINE_S)
    parts = []
    while True:
        part = os.read(reading, REPORT_MAX_BYTES)
        if not part:
            break
        parts.append(part)
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        return dict(json.loads(b"".join(parts)))
    except ValueError as error:
        raise LaunchError("the recorder ended before the server ran") from error


def _too_late(number: int, frame: Any) -> None:
    raise LaunchError("the server did not come to exec within %g s" % ANSWER_DEADLINE_S)
