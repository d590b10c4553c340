"""The plans of a stop and of an adoption, made from readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import start_checks
from specctl.domain.gpu_checks import server_words
from specctl.domain.plan import Check, Plan, Step, passed, refused, warned

if TYPE_CHECKING:
    from specctl.domain.preflight import Preflight
    from specctl.domain.server import Server

STOP_S = 20.0
PROOF_S = 5.0


def stop_steps(server: Server, *, now: bool) -> tuple[Step, ...]:
    """Stop one server and prove that it is gone."""
    how = "abort requests" if now else "let requests finish"
    return (
        Step(
            f"stop {server.name}",
            f"stop {server_words(server)}",
            f"{how}, SIGTERM to its main process, SIGKILL to its group last",
            is_destructive=True,
            expected_s=STOP_S,
        ),
        Step(
            f"prove {server.name}",
            "prove that it is gone",
            "processes, ports, GPU memory",
            expected_s=PROOF_S,
        ),
    )


def plan_stop(
    server: Server,
    reading: Preflight,
    *,
    plan_id: str,
    now: bool = False,
    typed_pid: int | None = None,
) -> Plan:
    """What stopping `server` would do."""
    pid = server.identity.pid if server.identity else None
    checks = _stop_checks(server, reading, now=now)
    requests = (server.evidence.running_requests or 0) > 0
    needs_typed, why = None, ""
    if not server.is_ours and pid is not None:
        needs_typed, why = str(pid), "specctl did not start this server and it was not adopted."
    elif now and requests:
        needs_typed, why = reading.host.name, "Requests that are running would be ended."
    if typed_pid is not None and typed_pid != pid:
        words = f"--pid {typed_pid} is not the main process of {server.name} ({pid})"
        checks = (*checks, refused("pid", words, "specctl status shows each server's pid."))
    steps = stop_steps(server, now=now) if server.pids else ()
    return Plan(
        id=plan_id,
        host=reading.host.name,
        kind="stop",
        profile=server.profile,
        steps=steps,
        checks=checks,
        ports=(server.port,) if server.port is not None else (),
        gpus=server.gpus,
        stops=(server,),
        target=server,
        expected_s=sum(step.expected_s or 0 for step in steps),
        needs_typed=needs_typed,
        why_typed=why,
        default_is_safe=False,
        now=now,
        state_dir=reading.state_dir,
        identity=server.identity,
    )


def _stop_checks(server: Server, reading: Preflight, *, now: bool) -> tuple[Check, ...]:
    checks = [start_checks.check_read_only(reading), _check_rank(server)]
    requests = server.evidence.running_requests
    if requests:
        many = requests > 1
        they = "they are" if many else "it is"
        what = f"{they} ended at once" if now else f"{they} waited for, up to the deadline"
        words = f"{requests} request{'s are' if many else ' is'} running: {what}"
        ends = f"stop --now ends {'them' if many else 'it'}, as does :abort on the screen."
        checks.append(warned("requests", words, ends))
    elif requests is None:
        checks.append(passed("requests", "whether requests are running is not known"))
    else:
        checks.append(passed("requests", "none is running"))
    if server.owner is not None and reading.user not in (server.owner, "root"):
        words = f"it runs as {server.owner}, and you are {reading.user} there"
        checks.append(refused("owner", words, f"Ask {server.owner} to stop it."))
    restart = start_checks.check_restart(reading) if server.gpus != () else None
    return (*checks, restart) if restart else tuple(checks)


def _check_rank(server: Server) -> Check:
    if not server.is_multi_node:
        return passed("nodes", "one host")
    words = f"it is rank {server.node_rank} of a server over several hosts"
    return refused("nodes", words, "Stop it the way it was started, on all its hosts.")


def plan_adopt(server: Server, reading: Preflight, *, plan_id: str) -> Plan:
    """What adopting `server` would record; the server itself is not touched."""
    checks = [start_checks.check_read_only(reading), start_checks.check_disk(reading)]
    if server.is_multi_node:
        checks.append(_check_rank(server))
    if server.identity is None:
        words = f"the process of {server.name} cannot be identified"
        checks.append(refused("identity", words, "specctl status shows what is known of it."))
    steps = (Step("record", "record its identity", f"launches/{plan_id}/launch.json"),)
    return Plan(
        id=plan_id,
        host=reading.host.name,
        kind="adopt",
        profile=server.profile,
        steps=() if server.is_ours else steps,
        checks=tuple(checks),
        ports=(server.port,) if server.port is not None else (),
        gpus=server.gpus,
        target=server,
        state_dir=reading.state_dir,
        identity=server.identity,
    )
