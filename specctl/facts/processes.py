"""The agent's answer about processes, made into values: cleaned and redacted at this boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.server import Identity, ServerProcess
from specctl.domain.text import clean
from specctl.facts.numbers import fraction_of, list_of, mapping_of, text_of, whole_of
from specctl.facts.redact import MASK, is_secret_key, redact_argv, redact_text

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKER = "SPECCTL_LAUNCH"
"""The variable that a launch sets in its server's environment."""

PATTERNS = (
    r"(?:^|\s)-m sglang\.launch_server(?:\s|$)",
    r"launch_server\.py(?:\s|$)",
    r"(?:^|[\s/])sglang serve(?:\s|$)",
    r"^sglang::",
)
"""What to ask the agent for: SGLang's main processes and its renamed children."""

VARIABLES = ("CUDA_VISIBLE_DEVICES", MARKER)
"""Whose values to ask for."""


def read_processes(answer: Mapping[str, Any]) -> tuple[ServerProcess, ...]:
    """The processes of an answer; a row without a pid or a start time is left out."""
    boot_id = text_of(answer.get("boot_id")) or ""
    rows = (_process(mapping_of(row), boot_id) for row in list_of(answer.get("processes")))
    return tuple(row for row in rows if row is not None)


def _process(row: Mapping[str, Any], boot_id: str) -> ServerProcess | None:
    pid, start_ticks = whole_of(row.get("pid")), whole_of(row.get("start_ticks"))
    if pid is None or start_ticks is None:
        return None
    environment = {k: v for k, v in mapping_of(row.get("environment")).items() if text_of(v)}
    uid = whole_of(row.get("uid"))
    return ServerProcess(
        identity=Identity(
            boot_id=boot_id,
            pid=pid,
            start_ticks=start_ticks,
            pgid=whole_of(row.get("pgid")) or 0,
            sid=whole_of(row.get("sid")) or 0,
            marker=clean(environment.get(MARKER, "")),
        ),
        ppid=whole_of(row.get("ppid")) or 0,
        uid=-1 if uid is None else uid,
        user=_text(row.get("user")) or (f"uid {uid}" if uid is not None else "?"),
        argv=redact_argv(
            [clean(word) for word in list_of(row.get("argv")) if isinstance(word, str)]
        ),
        title=redact_text(_text(row.get("title")) or ""),
        cwd=_text(row.get("cwd")),
        exe=_text(row.get("exe")),
        listening=_ports(row.get("listening")),
        stdout=_text(row.get("stdout")),
        stderr=_text(row.get("stderr")),
        environment=tuple(
            (clean(name), MASK if is_secret_key(name) else redact_text(clean(value)))
            for name, value in environment.items()
        ),
        age_s=fraction_of(row.get("age_s")),
        state=_text(row.get("state")) or "?",
        rss_bytes=whole_of(row.get("rss_bytes")),
        pid_namespace=_text(row.get("pid_namespace")),
    )


def _text(value: Any) -> str | None:
    text = text_of(value)
    return clean(text).strip() if text else None


def _ports(value: Any) -> tuple[int, ...]:
    numbers = (whole_of(port) for port in list_of(value))
    return tuple(port for port in numbers if port is not None)
