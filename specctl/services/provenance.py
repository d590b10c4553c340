"""Under which conditions a run is made, as far as they can be known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl import __version__
from specctl.adapters.git import DIRTY, workspace_commit
from specctl.adapters.toml_writing import to_toml
from specctl.adapters.workspace import Workspace
from specctl.domain.errors import SpecctlError
from specctl.domain.plain import plain
from specctl.domain.runs import Provenance
from specctl.domain.simulated_acceptance import MARK as FORCED
from specctl.facts.redact import redact_environment
from specctl.services.arm_profile import arm_profile
from specctl.services.host_reading import read_gpus
from specctl.services.launch import recipe_hash
from specctl.services.locks import operator
from specctl.services.tree_hash import hash_of_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.profile import Profile
    from specctl.domain.training import TrainedOn
    from specctl.domain.workload import Workload
    from specctl.services.connection import Connection


async def read_provenance(
    connection: Connection,
    profiles: Sequence[Profile],
    workload: Workload | None = None,
    trained_on: TrainedOn | None = None,
) -> Provenance:
    """What is known before a server is asked; GPUs that cannot be read are left out."""
    found = Provenance(
        specctl=__version__,
        operator=operator(),
        host=connection.host.name,
        is_simulated=connection.host.is_simulated,
        profiles={profile.name: recipe_toml(profile) for profile in profiles},
        recipes={profile.name: recipe_hash(profile) for profile in profiles},
        tree_hash=await hash_of_tree(connection, connection.host.python),
        workspace_commit=await _commit_of(profiles, connection.host),
        workload=workload.name if workload else None,
        workload_sha256=workload.sha256 if workload else None,
        trained_on=trained_on,
    )
    try:
        sample = await read_gpus(connection)
    except SpecctlError:  # what the GPUs are is not what the run is about
        return found
    return replace(
        found,
        driver=sample.driver,
        gpus=tuple(gpu.name or "?" for gpu in sample.gpus),
        gpu_clocks_mhz=tuple(
            None if gpu.sm_clock_mhz is None else round(gpu.sm_clock_mhz) for gpu in sample.gpus
        ),
    )


async def _commit_of(profiles: Sequence[Profile], host: Host) -> str | None:
    """Of the workspace; `-dirty` also where its files say another recipe by now than is run.

    They may have been edited, and committed, since they were read.
    """
    commit = await workspace_commit(profiles[0].file) if profiles else None
    if commit is None or commit.endswith(DIRTY):
        return commit
    is_as_read = await asyncio.to_thread(_is_as_read, profiles, host)
    return commit if is_as_read else commit + DIRTY


def _is_as_read(profiles: Sequence[Profile], host: Host) -> bool:
    """The files still make these recipes; a profile that is made up is taken as it is."""
    workspace = Workspace(Path(profiles[0].file).expanduser().absolute().parents[1])
    try:
        return all(
            recipe_hash(arm_profile(workspace, profile.name, host)) == recipe_hash(profile)
            for profile in profiles
            if FORCED not in profile.name
        )
    except SpecctlError:  # it is not there any more, or cannot be used
        return False


def with_arguments(
    provenance: Provenance, arguments: Mapping[str, Mapping[str, Any]], build: str | None
) -> Provenance:
    """With what the servers resolved."""
    known = {**provenance.arguments, **{name: dict(args) for name, args in arguments.items()}}
    return replace(provenance, arguments=known, build=build or provenance.build)


def recipe_toml(profile: Profile) -> str:
    """The complete recipe, everything inherited filled in; secrets by name only."""
    speculation = profile.speculation
    values: dict[str, Any] = {
        "model": profile.model,
        "arguments": plain(profile.arguments),
        "speculation": {}
        if speculation is None
        else {"algorithm": speculation.algorithm, **plain(speculation.arguments)},
        "env": dict(redact_environment(profile.environment)),
        "secrets": dict(profile.secrets),
        "placement": plain(profile.placement),
        "corpora": {corpus.name: corpus.path for corpus in profile.corpora},
    }
    return to_toml(values)
