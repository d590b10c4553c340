"""Start a server from a profile: the plan, the launch, and the way to ready."""

from __future__ import annotations

import hashlib
import json
import secrets as random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specctl.adapters.git import workspace_commit
from specctl.adapters.oneshot import run_oneshot
from specctl.domain.command import parse_argv, server_argv, server_environment, server_secrets
from specctl.domain.errors import RefusedError
from specctl.domain.gpu_checks import check_gpus
from specctl.domain.launch_record import choose_launch_id, identity_mapping, simulated_key
from specctl.domain.measured_on import measuring_keys, with_measuring
from specctl.domain.mig_checks import named_instances
from specctl.domain.plan import Level
from specctl.domain.preflight import Preflight
from specctl.domain.profile import Placement
from specctl.domain.start_checks import check_ports
from specctl.domain.start_plan import derived_ports, place, start_environment, wanted_port
from specctl.domain.start_plan import plan_start as make_plan
from specctl.facts.preflight import are_pids_comparable, read_ports
from specctl.facts.redact import redact_argv
from specctl.services.following import Follower
from specctl.services.host_reading import list_records, read_host
from specctl.services.keys import keys_of
from specctl.services.linting import read_profile
from specctl.services.locks import (
    HeldLocks,
    hold_locks,
    operator,
)
from specctl.services.measured_server import NO_KEYS
from specctl.services.mutating import mutating
from specctl.services.outcome import Outcome
from specctl.services.preflight import read_preflight, with_locks
from specctl.services.progress import Progress, require_allowed
from specctl.services.stop import end_server, with_requests
from specctl.services.tree_hash import hash_of_tree

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.plan import Plan
    from specctl.domain.preflight import StartOptions
    from specctl.domain.profile import Profile
    from specctl.domain.proof import Proof
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.watching import KeysOf

LAUNCH_S = 30.0


def recipe_hash(profile: Profile) -> str:
    """Of everything that a server is started with, placement aside."""
    profile = replace(profile, placement=Placement())
    content = {
        "argv": server_argv(profile, python=("python",), port=0),
        "environment": server_environment(profile),
        "secrets": server_secrets(profile),
        "corpora": [(corpus.name, corpus.path) for corpus in profile.corpora],
    }
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


async def plan_launch(
    connection: Connection,
    profile: Profile,
    options: StartOptions,
    *,
    secrets: Secrets,
    clock: Clock,
    keys_for: KeysOf | None = None,
    is_measuring: bool = False,
) -> Plan:
    """What starting `profile` on the host would do; nothing is done yet.

    Where somebody measures it has to be typed for; `is_measuring` says that whoever asks is that
    somebody.
    """
    placed = place(profile, options)
    port = wanted_port(placed)
    arguments = parse_argv(server_argv(placed, python=("python",), port=port))
    models = [name for name in (arguments.model, arguments.draft_model) if name]
    preflight, _ = await read_preflight(
        connection,
        ports=derived_ports(arguments, port),
        models=models,
        environment=server_environment(placed, connection.host),
        needs_build=True,
    )
    named = server_secrets(placed, connection.host).values()
    common: dict[str, Any] = {
        "launch_id": choose_launch_id(_random_ids(), preflight.records),
        "profile_hash": recipe_hash(placed),
        "secret_places": {name: secrets.describe(name) for name in named},
    }
    preflight = replace(preflight, profile=await read_profile(connection, placed, preflight))
    plan = make_plan(profile, preflight, options, **common)
    if plan.stops:
        preflight = await _with_requests(connection, preflight, plan, clock, keys_for)
    if not plan.steps:
        return make_plan(profile, preflight, options, **common)
    others = () if is_measuring else measuring_keys(plan)
    preflight = await with_locks(connection, preflight, (*plan.lock_keys, *others))
    plan = make_plan(profile, preflight, options, **common)
    return with_measuring(plan, preflight.locks, preflight.sample.time_s)


def _random_ids() -> list[str]:
    return [random.token_hex(4) for _ in range(16)]


async def _with_requests(
    connection: Connection,
    preflight: Preflight,
    plan: Plan,
    clock: Clock,
    keys_for: KeysOf | None,
) -> Preflight:
    """The readings, with the requests that run on the servers that would be stopped."""
    names = {server.name for server in plan.stops}
    servers = list(preflight.servers)
    for index, server in enumerate(servers):
        if server.name in names:
            keys = keys_for(connection.host, server) if keys_for else NO_KEYS
            servers[index] = await with_requests(connection, server, clock, keys)
    return replace(preflight, servers=tuple(servers))


@mutating("start")
async def apply_launch(
    connection: Connection,
    plan: Plan,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
    wait: bool = True,
    typed: str = "",
    keys_for: KeysOf | None = None,
    announces_log: bool = True,
) -> Outcome:
    """Carry out the plan of a start; cancelling it stops the following, never the load.

    Without `announces_log` the log is read and not announced: whoever watches the host does that.
    """
    require_allowed(plan, typed)
    progress = Progress(plan, store, clock)
    recipe = plan.recipe
    if not plan.steps or recipe is None:
        return await _resume(
            connection,
            plan,
            progress,
            store,
            secrets=secrets,
            wait=wait,
            announces_log=announces_log,
        )
    async with hold_locks(connection, plan.lock_keys, f"specctl start {plan.profile}") as locks:
        proofs = await _stop_first(connection, plan, progress, keys_for)
        if not all(proof.gone for proof in proofs):
            progress.finish(proofs[-1].words, succeeded=False)
            hint = "Nothing was started. specctl status shows what is left."
            return Outcome(
                plan.id,
                plan.host,
                succeeded=False,
                words=proofs[-1].words,
                hint=hint,
                proofs=proofs,
            )
        await _check_again(connection, plan)
        answer = await _launch(connection, plan, locks, secrets, progress)
    own_keys = keys_of(recipe, connection.host, secrets)
    follower = Follower(
        connection, plan, answer, progress, store, keys=own_keys, announces_log=announces_log
    )
    return await follower.run(proofs) if wait else follower.launched(proofs)


async def _resume(
    connection: Connection,
    plan: Plan,
    progress: Progress,
    store: Store,
    *,
    secrets: Secrets,
    wait: bool,
    announces_log: bool,
) -> Outcome:
    """What the plan asks for is there already; one that was never seen ready is followed."""
    server, recipe = plan.target, plan.recipe
    words = f"{plan.checks[0].words}." if plan.checks else "Nothing to do."
    records = await list_records(connection) if wait and server is not None else ()
    record = next((r for r in records if server and r.launch_id == server.launch_id), None)
    if record is None or record.is_adopted or record.ready_after_s is not None:
        progress.finish(words, succeeded=True)
        name = server.name if server else None
        return Outcome(plan.id, plan.host, succeeded=True, words=words, server=name)
    answer = {
        "identity": identity_mapping(record.identity),
        "directory": record.directory,
        "state_dir": record.state_dir,
        "log_path": record.log_path,
    }
    follower = Follower(
        connection,
        replace(plan, id=record.launch_id),
        answer,
        progress,
        store,
        keys=keys_of(recipe, connection.host, secrets),
        age_s=(server.evidence.age_s if server else None) or 0.0,
        announces_log=announces_log,
    )
    return await follower.run(())


async def _stop_first(
    connection: Connection, plan: Plan, progress: Progress, keys_for: KeysOf | None
) -> tuple[Proof, ...]:
    """Stop what the plan named, one after the other, and nothing else."""
    proofs: list[Proof] = []
    for server in plan.stops:
        reading = await read_host(connection)
        keys = keys_for(connection.host, server) if keys_for else NO_KEYS
        proof = await end_server(connection, reading, server, progress, keys=keys, now=False)
        proofs.append(proof)
        if not proof.gone:
            break
    return tuple(proofs)


async def _check_again(connection: Connection, plan: Plan) -> None:
    """Between plan and launch somebody may have come: what is cheap to see is looked at again."""
    reading = await read_host(connection)
    answer = await connection.agent.call("ports", ports=list(plan.ports))
    now = Preflight(
        host=connection.host,
        user=connection.hello.user or "",
        sample=reading.sample,
        servers=reading.servers,
        ports=read_ports(answer, reading.processes),
        are_pids_comparable=are_pids_comparable(
            connection.hello.pid_namespace, connection.host.enter
        ),
    )
    checks = (
        check_ports(now, plan.ports, frozenset()),
        check_gpus(now, parse_argv(plan.argv), plan.gpus, (), named_instances(plan.environment)),
    )
    for check in checks:
        if check.level is Level.REFUSE:
            words = f"host {plan.host}: since the plan was made, {check.words}"
            raise RefusedError(words, hint=check.next_step)


async def _launch(
    connection: Connection, plan: Plan, locks: HeldLocks, secrets: Secrets, progress: Progress
) -> dict[str, Any]:
    progress.begin("launch", f"launching {plan.profile}")
    python = (*_scope(plan), connection.hello.executable)
    commit = await workspace_commit(plan.recipe.file) if plan.recipe else None
    tree_hash = await hash_of_tree(connection, plan.argv[0])
    request = launch_request(connection, plan, locks, secrets, commit=commit, tree_hash=tree_hash)
    answer = await run_oneshot(connection.session, python, "launcher", request, timeout_s=LAUNCH_S)
    identity = answer["identity"]
    progress.done("launch", f"launched as pid {identity['pid']}, log {answer['log_path']}")
    return answer


def _scope(plan: Plan) -> tuple[str, ...]:
    """Into the user manager's care, where systemd ends the processes of a session (logind.conf)."""
    if not plan.uses_user_scope:
        return ()
    unit = f"--unit=specctl-{plan.id}"
    return ("systemd-run", "--user", "--scope", "--quiet", "--collect", unit)


def launch_request(
    connection: Connection,
    plan: Plan,
    locks: HeldLocks,
    secrets: Secrets,
    *,
    commit: str | None = None,
    tree_hash: str | None = None,
) -> dict[str, Any]:
    """What the launcher is sent on stdin; the one place where secrets are revealed."""
    recipe = plan.recipe
    if recipe is None:
        raise RefusedError("the plan starts nothing", hint="Plan again.")
    environment = start_environment(recipe, connection.host)
    places: dict[str, dict[str, str]] = {
        "environment": environment,
        "environment_files": {},
        "keys": {},
        "key_files": {},
    }
    for use in plan.secrets:
        secret = secrets.resolve(use.name)
        value = secret.reveal()
        kind = "key" if use.is_argument else "environment"
        if value is None:
            places[f"{kind}_files"][use.target] = secret.host_file or ""
        else:
            places["keys" if use.is_argument else "environment"][use.target] = value
    return {
        **places,
        "launch_id": plan.id,
        "argv": list(plan.launch_argv),
        "state_dir": plan.state_dir,
        "lock": locks.request(),
        "record": {
            **_record(plan, recipe, commit),
            "tree_hash": tree_hash,
            **simulated_key(connection.host),
        },
    }


def _record(plan: Plan, recipe: Profile, commit: str | None) -> dict[str, Any]:
    return {
        "profile": plan.profile,
        "profile_hash": plan.profile_hash,
        "argv": list(redact_argv(plan.argv)),
        "model": recipe.model,
        "port": plan.ports[0],
        "ports": list(plan.ports),
        "gpus": None if plan.gpus is None else list(plan.gpus),
        "launched_by": operator(),
        "workspace_commit": commit,
        "version": plan.version,
    }
