"""The shapes of remote and profile files, as pydantic models; the JSON Schemas come from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from specctl.domain import flags
from specctl.domain.arguments import takes_nothing

_SPECULATION_TYPES: dict[str, Any] = {
    "num-steps": {"type": "integer", "minimum": 1},
    "eagle-topk": {"type": "integer", "minimum": 1},
    "num-draft-tokens": {"type": "integer", "minimum": 1},
    "draft-model-path": {"type": "string"},
    "ngram-match-type": {"enum": ["BFS", "PROB"]},
    "attention-mode": {"enum": ["prefill", "decode"]},
}


_SHARED = "specctl-definition"
"""Stands for a reference until pydantic, which knows its own ones only, is done."""

_DEFINITIONS: dict[str, Any] = {
    "Switch": {"type": "boolean"},
    "Value": {"type": ["string", "number", "object"]},
    "Values": {"type": ["array", "string", "number", "object"]},
}


def _flag_schema(flag: str) -> dict[str, Any]:
    kind = "Values" if flag in flags.LISTS else "Value"
    return {"$ref": f"#/definitions/{'Switch' if takes_nothing(flag) else kind}"}


_DEFINITIONS["Arguments"] = {
    "type": "object",
    "propertyNames": {"pattern": "^[a-z0-9][a-z0-9.-]*$"},
    "properties": {
        flag: _flag_schema(flag)
        for flag in sorted(flags.CURRENT)
        if not flag.startswith(flags.SPECULATION_PREFIX) and flag not in {"model-path", "port"}
    },
    "additionalProperties": True,
}
_DEFINITIONS["Speculation"] = {
    "type": "object",
    "properties": {
        "algorithm": {"type": "string", "examples": list(flags.ALGORITHMS)},
        **{
            key: _SPECULATION_TYPES.get(key, _flag_schema(flags.SPECULATION_PREFIX + key))
            for key in sorted(flags.SPECULATION_KEYS - {"algorithm"})
        },
    },
    "additionalProperties": False,
}
_ARGUMENTS = {
    _SHARED: "Arguments",
    "description": "Server arguments as SGLang spells them, without the leading dashes: "
    "true is the bare flag, a list repeats values, a table is passed as JSON, "
    '"secret:NAME" stands for a secret.',
}
_SPECULATION = {
    _SHARED: "Speculation",
    "description": "The draft part; leave the table out for a baseline. "
    "Keys as SGLang spells them, without `--speculative-`.",
}
_ENVIRONMENT = {
    "type": "object",
    "description": 'Environment variables; "secret:NAME" stands for a secret.',
    "additionalProperties": {"type": ["string", "integer"]},
}

ArgumentTable = Annotated[dict[str, Any], WithJsonSchema(_ARGUMENTS)]
SpeculationTable = Annotated[dict[str, Any], WithJsonSchema(_SPECULATION)]
EnvironmentTable = Annotated[dict[str, Any], WithJsonSchema(_ENVIRONMENT)]
GpuList = list[Annotated[int, Field(ge=0)]]
Text = Annotated[str, Field(min_length=1)]
PortNumber = Annotated[int, Field(ge=1, le=65535)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PlacementTable(_Table):
    """Where on a host the server goes."""

    gpus: GpuList | None = Field(
        None, min_length=1, description="GPUs as the driver numbers them; all when left out."
    )
    port: PortNumber | None = Field(None, description="Port of the HTTP API; 30000 if left out.")


class ExpectationTable(_Table):
    """What the profile is expected to reach."""

    accept_length: float | None = Field(
        None, ge=1, description="Tokens emitted per verify step, bonus token included."
    )
    speedup: float | None = Field(None, gt=0, description="Against its baseline; 1.2 is +20 %.")


class CorpusTable(_Table):
    """An n-gram corpus, loaded once the server is ready."""

    name: Text = Field(description="The corpus id at the server.")
    path: Text = Field(description="A file on the host with one JSON string a line.")


class ProfilePart(_Table):
    """What a profile says of every host, and an [on.HOST] table of one."""

    model: Text | None = Field(None, description="A directory on the host, or a repository id.")
    arguments: ArgumentTable | None = None
    speculation: SpeculationTable | None = None
    env: EnvironmentTable | None = None
    placement: PlacementTable | None = None
    expectation: ExpectationTable | None = None
    ready_timeout_s: float | None = Field(
        None, gt=0, description="How long a start may take; 1800 if left out."
    )
    corpora: list[CorpusTable] | None = Field(
        None, description="N-gram corpora to load once the server is ready."
    )
    unset: list[Text] | None = Field(
        None, description='Inherited keys to take away: ["arguments.page-size", "speculation"].'
    )


class ProfileFile(ProfilePart):
    """A file of profiles/: a named, complete recipe for a server."""

    description: str | None = Field(None, description="One line for people.")
    extends: Text | None = Field(None, description="The profile whose values this one starts from.")
    baseline: Text | None = Field(None, description="The profile this one is compared with.")
    on: dict[str, ProfilePart] | None = Field(None, description="What differs on one host.")


class RemoteFile(_Table):
    """A file of remotes/: how to reach a host, and what is where on it."""

    ssh: Text | None = Field(
        None, description="The alias in ~/.ssh/config; proxies and keys are configured there."
    )
    host: Text | None = Field(None, description="Name or address, where there is no alias.")
    port: PortNumber | None = Field(None, description="Of sshd; what ssh says if left out.")
    user: Text | None = Field(None, description="Who to log in as; what ssh says if left out.")
    transport: Literal["ssh", "local"] = Field(
        "ssh", description='"local" is the machine specctl runs on.'
    )
    python: Text | None = Field(None, description="The interpreter that has SGLang.")
    enter: list[Text] | None = Field(
        None, description='Put before every command: ["docker", "exec", "-i", "NAME"].'
    )
    env: EnvironmentTable | None = None
    state_dir: Text | None = Field(
        None, description="Where launch records and logs go on the host."
    )
    model_dirs: list[Text] | None = Field(None, description="Directories that hold models.")
    hf_home: Text | None = Field(None, description="HF_HOME of the servers started here.")
    gpus: GpuList | None = Field(None, description="The GPUs specctl may use; all if left out.")
    labels: dict[str, str] | None = Field(None, description="Free words, shown beside the host.")
    read_only: bool = Field(
        default=False, description="Refuse everything that would change this host."
    )
    notes: str | None = Field(None, description="For people.")


class AlertTable(_Table):
    """When one kind of alert is raised and cleared; what is left out stays as it is."""

    on: bool | None = Field(None, description="false: this kind of alert is never raised.")
    for_s: float | None = Field(
        None, ge=0, description="Seconds for which it must hold before it is raised."
    )
    clear_for_s: float | None = Field(
        None, ge=0, description="Seconds for which it must not hold before it is cleared."
    )


class ThresholdTable(AlertTable):
    """The same, of a value with a threshold; between the two it neither raises nor clears."""

    raise_at: float | None = Field(None, gt=0, description="Raised from here on.")
    clear_at: float | None = Field(None, gt=0, description="Cleared from here on.")


class ThrottleTable(AlertTable):
    """The same, of slowed GPUs."""

    reasons: (
        list[Literal["hw slow", "heat (hw)", "brake (hw)", "heat (sw)", "power cap"]] | None
    ) = Field(None, min_length=1, description="Slow-downs that count.")


class AlertsFile(_Table):
    """The file alerts.toml of a workspace: when alerts are raised and cleared."""

    lost: AlertTable | None = Field(None, description="A host is not reached; 5 s, 5 s.")
    crashed: AlertTable | None = Field(None, description="A server crashed; at once.")
    gpu: AlertTable | None = Field(None, description="A GPU fell off the bus; 3 s, 10 s.")
    collapsed: ThresholdTable | None = Field(
        None,
        description="Accept length of a draft model that proposes: raised under 1.005, cleared "
        "from 1.05; 10 s, 10 s.",
    )
    breakeven: ThresholdTable | None = Field(
        None,
        description="Accept length as a share of its break-even: raised under 1, cleared from "
        "1.03; 15 s, 15 s.",
    )
    throttle: ThrottleTable | None = Field(
        None, description="GPUs are slowed: every reason but power cap; 3 s, 10 s."
    )
    memory: ThresholdTable | None = Field(
        None, description="GPU memory used in percent: raised at 98, cleared under 96; 10 s, 10 s."
    )
    queue: ThresholdTable | None = Field(
        None,
        description="Requests that wait at a server and become more: raised at 16, cleared under "
        "4; 30 s, 10 s.",
    )
    slow_link: ThresholdTable | None = Field(
        None,
        alias="slow-link",
        description="Round trip to a host and back in milliseconds: raised at 400, cleared under "
        "250; 20 s, 20 s.",
    )


MODELS: dict[str, type[BaseModel]] = {
    "rules": AlertsFile,
    "profile": ProfileFile,
    "remote": RemoteFile,
}


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file, for editors."""
    schema: dict[str, Any] = _for_draft_7(MODELS[kind].model_json_schema())
    if kind == "profile":
        schema["definitions"].update(_DEFINITIONS)
    heading = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": f"urn:specctl:{kind}:1"}
    return {**heading, **schema}


def _for_draft_7(value: Any) -> Any:
    """`$defs` is `definitions` there, and a null that TOML cannot write is left out."""
    if isinstance(value, list):
        return [_for_draft_7(item) for item in value]
    if not isinstance(value, dict):
        return value.replace("#/$defs/", "#/definitions/") if isinstance(value, str) else value
    options = [item for item in value.get("anyOf", ()) if item != {"type": "null"}]
    if len(options) == 1 and len(value["anyOf"]) > 1:
        value = {**options[0], **{key: item for key, item in value.items() if key != "anyOf"}}
    if _SHARED in value:
        reference = {"$ref": f"#/definitions/{value[_SHARED]}"}
        return {"description": value["description"], "allOf": [reference]}
    return {
        "definitions" if key == "$defs" else key: _for_draft_7(item)
        for key, item in value.items()
        if not (key == "default" and item is None) and key != "title"
    }
