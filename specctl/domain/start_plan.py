"""The plan of a start, made from readings: the same readings give the same plan."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain import gpu_checks, start_checks
from specctl.domain.command import (
    DEFAULT_PORT,
    ServerArguments,
    parse_argv,
    server_argv,
    server_environment,
    server_secrets,
)
from specctl.domain.contradictions import spelled_secrets
from specctl.domain.draft_checks import check_draft
from specctl.domain.gpu_checks import server_words
from specctl.domain.launch_record import LoadTimes, load_times
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.plan_checks import profile_checks
from specctl.domain.mig_checks import named_instances
from specctl.domain.plan import MASK, Check, Plan, SecretUse, Step, passed
from specctl.domain.server import ServerState
from specctl.domain.stop_plan import stop_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.preflight import Preflight, StartOptions
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server

ZMQ_PORT_OFFSET = 233
FIXED_DERIVED_PORTS = 6
"""SGLang 0.5.23, server_args.py: with attention data parallelism its processes talk over TCP, on
port + 233 and what follows: six fixed ports and one per data-parallel rank."""

LAST_PORT = 65535
ARGUMENT = "argument:"

_INDEX = re.compile(r"[0-9]{1,4}")


def derived_ports(arguments: ServerArguments, port: int) -> tuple[int, ...]:
    """The port it serves on, then those it takes for itself."""
    ports = [port]
    if arguments.has("enable-dp-attention") and (arguments.dp_size or 1) > 1:
        first = port + ZMQ_PORT_OFFSET
        if first + FIXED_DERIVED_PORTS > LAST_PORT:
            first = port - ZMQ_PORT_OFFSET
        ports += range(first, first + FIXED_DERIVED_PORTS + (arguments.dp_size or 1))
    for flag in ("nccl-port", "grpc-port"):
        given = arguments.number(flag, None)
        ports += [given] if given else []
    return tuple(dict.fromkeys(ports))


def place(profile: Profile, options: StartOptions) -> Profile:
    """The recipe with `--gpus` and `--port` in the place of its own."""
    placement = profile.placement
    if options.gpus is not None:
        placement = replace(placement, gpus=options.gpus)
    if options.port is not None:
        placement = replace(placement, port=options.port)
    return replace(profile, placement=placement)


def wanted_port(profile: Profile) -> int:
    """Where it serves; SGLang's own default when nobody says."""
    own = profile.arguments.get("port")
    if profile.placement.port is not None:
        return profile.placement.port
    return own if isinstance(own, int) else DEFAULT_PORT


def wanted_gpus(profile: Profile, environment: Mapping[str, str]) -> tuple[int, ...] | None:
    """The GPUs that placement or CUDA_VISIBLE_DEVICES names; None for all of the host's."""
    if profile.placement.gpus is not None:
        return profile.placement.gpus
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    words = [word.strip() for word in (visible or "").split(",") if word.strip()]
    if visible is None or not all(map(_INDEX.fullmatch, words)):
        return None
    return tuple(int(word) for word in words)


def start_environment(profile: Profile, host: Host | None) -> dict[str, str]:
    """What is added to the login environment; GPUs numbered as the driver numbers them."""
    environment = server_environment(profile, host)
    if "CUDA_VISIBLE_DEVICES" in environment:
        environment.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    return environment


def plan_start(
    profile: Profile,
    reading: Preflight,
    options: StartOptions,
    *,
    launch_id: str,
    profile_hash: str = "",
    secret_places: Mapping[str, str] | None = None,
) -> Plan:
    """What starting `profile` would do, and why it would not be done."""
    profile = place(profile, options)
    port = wanted_port(profile)
    python = reading.build.python if reading.build else reading.host.python or "python3"
    argv = server_argv(profile, python=(python,), port=port)
    arguments = parse_argv(argv)
    environment = start_environment(profile, reading.host)
    instances = named_instances(environment)
    gpus = gpu_checks.choose(reading, arguments, wanted_gpus(profile, environment), instances)
    ports = derived_ports(arguments, port)
    secrets = secret_uses(server_secrets(profile, reading.host))
    running = _running(reading, profile, profile_hash, port, gpus)
    # other instances of the same GPU are others' places
    in_the_way = () if instances else gpus
    stops = _stops(reading, in_the_way, ports) if options.replace else ()
    common = Plan(
        id=launch_id,
        host=reading.host.name,
        kind="replace" if stops else "start",
        profile=profile.name,
        steps=(),
        checks=(),
        argv=_shown_argv(argv, secrets, reading.state_dir, launch_id),
        environment={**environment, **_masked(secrets)},
        secrets=secrets,
        ports=ports,
        gpus=gpus,
        recipe=profile,
        version=reading.build.version if reading.build else None,
        profile_hash=profile_hash,
        state_dir=reading.state_dir,
        uses_user_scope=uses_user_scope(reading),
    )
    if running is not None and not options.replace:
        words = f"{server_words(running)} runs this profile already, on port {port}"
        return replace(common, target=running, checks=(passed("running", words),))
    times = load_times(reading.records, profile.name)
    planned = _with_stops(common, reading, stops, times)
    checks = _start_checks(planned, reading, arguments, options, secret_places or {})
    judged = profile_checks(reading.profile, unchecked=options.unchecked)
    return replace(planned, checks=(*checks, *judged))


def uses_user_scope(reading: Preflight) -> bool:
    """Only a lingering user manager outlives the sessions that systemd ends."""
    survival = reading.survival
    at_risk = survival.kills_processes and not reading.host.enter
    return bool(at_risk and survival.lingers and survival.has_user_manager)


def _with_stops(
    plan: Plan, reading: Preflight, stops: tuple[Server, ...], times: LoadTimes | None
) -> Plan:
    busy = [s for s in stops if (s.evidence.running_requests or 0) > 0]
    steps = (
        *(step for server in stops for step in stop_steps(server, now=False)),
        *_launch_steps(plan, times),
    )
    loads = f"{times.loads} earlier load{'s' if times.loads > 1 else ''} here" if times else ""
    return replace(
        plan,
        steps=steps,
        stops=stops,
        expected_s=sum(step.expected_s or 0 for step in steps) if times else None,
        expected_from=loads,
        expected_missing="" if times else f"{plan.host} has no record of a load of {plan.profile}",
        times=times,
        needs_typed=reading.host.name if busy else None,
        why_typed="Requests of others are running there." if busy else "",
        default_is_safe=not stops,
    )


def _launch_steps(plan: Plan, times: LoadTimes | None) -> tuple[Step, ...]:
    where = f"log kept in launches/{plan.id}"
    how = f"detached{', in a scope of its own' if plan.uses_user_scope else ''}; {where}"
    steps = [
        Step("launch", "launch", how, expected_s=1.0),
        Step("ready", "wait until ready", "", expected_s=times.ready_s if times else None),
    ]
    recipe = plan.recipe
    if recipe is not None and recipe.corpora:
        names = ", ".join(corpus.name for corpus in recipe.corpora)
        steps.append(Step("corpora", "load n-gram corpora", names))
    return tuple(steps)


def _rules_told(reading: Preflight) -> frozenset[str]:
    """The rules by which the check of the profile found an error."""
    findings = reading.profile.findings if reading.profile is not None else ()
    return frozenset(one.rule for one in findings if one.severity is Severity.ERROR)


def _start_checks(
    plan: Plan,
    reading: Preflight,
    arguments: ServerArguments,
    options: StartOptions,
    secret_places: Mapping[str, str],
) -> tuple[Check, ...]:
    gpus, ports, stops = plan.gpus, plan.ports, plan.stops
    freed = frozenset(pid for server in stops for pid in server.pids)
    keys = [use.target for use in plan.secrets if use.is_argument]
    offline = reading.is_offline
    model, draft = arguments.model or "", arguments.draft_model
    found = [
        start_checks.check_read_only(reading),
        start_checks.check_nodes(arguments),
        start_checks.check_build(reading, keys),
        start_checks.check_secrets(secret_places),
        start_checks.check_spelled_secrets(_spelled_secrets(plan, reading)),
        start_checks.check_driver(reading, needs_gpus=gpus != ()),
        gpu_checks.check_gpus(reading, arguments, gpus, stops, named_instances(plan.environment)),
        start_checks.check_ports(reading, ports, freed),
        start_checks.check_model("model", reading.models.get(model), is_offline=offline),
        None
        if draft is None
        else start_checks.check_model("draft model", reading.models.get(draft), is_offline=offline),
        *check_draft(
            arguments,
            reading.configs,
            plan.environment,
            told=_rules_told(reading),
            unchecked=options.unchecked,
        ),
        start_checks.check_disk(reading),
        start_checks.check_shm(reading.shm),
        start_checks.check_survival(reading, reading.survival),
        start_checks.check_locks(reading, plan.lock_keys),
        start_checks.check_soak(reading, ports[0]),
    ]
    return tuple(check for check in found if check)


def _spelled_secrets(plan: Plan, reading: Preflight) -> tuple[str, ...]:
    return spelled_secrets(plan.recipe, reading.host.environment) if plan.recipe else ()


def _running(
    reading: Preflight,
    profile: Profile,
    profile_hash: str,
    port: int,
    gpus: tuple[int, ...] | None,
) -> Server | None:
    """A living server of ours that is what this start asks for, down to the text of its recipe."""
    hashes = {record.launch_id: record.profile_hash for record in reading.records}
    dead = (ServerState.ABSENT, ServerState.CRASHED, ServerState.DRAINING)
    for server in reading.servers:
        same = (server.profile, server.port) == (profile.name, port) and server.state not in dead
        same_gpus = gpus is None or server.gpus is None or server.gpus == gpus
        same_text = hashes.get(server.launch_id or "") == profile_hash
        if server.is_ours and same and same_gpus and same_text:
            return server
    return None


def _stops(
    reading: Preflight, gpus: tuple[int, ...] | None, ports: Sequence[int]
) -> tuple[Server, ...]:
    """Servers under care that use a GPU or port of the new one; never another's."""
    ours = [s for s in reading.servers if s.is_ours and not s.is_multi_node and s.pids]
    return tuple(s for s in ours if s.port in ports or set(s.gpus or ()) & set(gpus or ()))


def secret_uses(secrets: Mapping[str, str]) -> tuple[SecretUse, ...]:
    """Each secret with its destination in words."""
    words = {
        True: "a --config file of mode 0600, removed once read",
        False: "the environment, sent on stdin",
    }
    return tuple(
        SecretUse(name, destination, words[destination.startswith(ARGUMENT)])
        for destination, name in sorted(secrets.items())
    )


def _masked(secrets: Sequence[SecretUse]) -> dict[str, str]:
    return dict.fromkeys((use.target for use in secrets if not use.is_argument), MASK)


def _shown_argv(
    argv: tuple[str, ...], secrets: Sequence[SecretUse], state_dir: str | None, launch_id: str
) -> tuple[str, ...]:
    if not any(use.is_argument for use in secrets):
        return argv
    return (*argv, "--config", f"{state_dir or 'STATE_DIR'}/launches/{launch_id}/keys.yaml")
