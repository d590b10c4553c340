"""Models that are there or not, keys and secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.host import Host
from specctl.domain.plan import Level
from specctl.domain.preflight import (
    HubState,
    ModelReading,
)
from specctl.domain.profile import Speculation
from specctl.domain.proof import GIB
from tests.unit.domain.start_plan.readings import BUILD, PROFILE, READING, check, plan

HUB = "moonshotai/Kimi-K2.5"


@pytest.mark.parametrize(
    ("hub", "offline", "level", "words"),
    [
        (HubState.COMPLETE, False, Level.PASS, "is in /hub, 595 GiB"),
        (HubState.COMPLETE, True, Level.PASS, "is in /hub"),
        (HubState.PARTIAL, False, Level.WARN, "595 GiB of 600 GiB is in /hub, 1 files unfinished"),
        (HubState.PARTIAL, True, Level.REFUSE, "HF_HUB_OFFLINE"),
        (HubState.ABSENT, False, Level.WARN, "600 GiB to download"),
        (HubState.ABSENT, True, Level.REFUSE, "HF_HUB_OFFLINE"),
    ],
)
def test_repository_in_the_cache(hub, offline, level, words):
    model = ModelReading(
        HUB, is_path=False, hub=hub, place="/hub", have_bytes=595 * GIB, total_bytes=600 * GIB,
        unfinished=("x.incomplete",) if hub is HubState.PARTIAL else (),
    )  # fmt: skip
    reading = replace(READING, models={HUB: model}, is_offline=offline)
    found = check(plan(replace(PROFILE, model=HUB), reading), "model")
    assert found.level is level
    assert words in found.words


def test_draft_model_is_looked_for_too():
    draft = "/srv/models/draft"
    speculation = Speculation("EAGLE3", {"draft-model-path": draft})
    missing = ModelReading(draft, is_path=True, exists=False)
    reading = replace(READING, models={**READING.models, draft: missing})
    found = plan(replace(PROFILE, speculation=speculation), reading)
    assert [c.name for c in found.refusals] == ["draft model"]


def test_keys_need_a_build_that_reads_them_from_a_file():
    profile = replace(PROFILE, secrets={"argument:api-key": "serving", "env:HF_TOKEN": "hf"})
    found = plan(profile)
    assert not found.is_refused
    assert found.argv[-2:] == ("--config", "/state/launches/0badc0de/keys.yaml")
    assert found.launch_argv == found.argv[:-2]
    assert found.environment["HF_TOKEN"] == "••••"
    assert [(use.name, use.target) for use in found.secrets] == [
        ("serving", "api-key"),
        ("hf", "HF_TOKEN"),
    ]
    for has_config in (False, None):
        old = replace(READING, build=replace(BUILD, has_config=has_config))
        assert "--config" in check(plan(profile, old), "sglang").words
        assert plan(profile, old).is_refused
    unknown = plan(profile, secret_places={"serving": "not in secrets.toml"})
    assert check(unknown, "secrets").level is Level.REFUSE


@pytest.mark.parametrize(
    ("arguments", "environment", "host_environment", "key"),
    [
        ({"api-key": "swordfish"}, {}, {}, "arguments.api-key"),
        ({"served-model-name": f"hf_{'x' * 20}"}, {}, {}, "arguments.served-model-name"),
        ({}, {"HF_TOKEN": "swordfish"}, {}, "env.HF_TOKEN"),
        ({}, {"AWS_SECRET_ACCESS_KEY": "swordfish"}, {}, "env.AWS_SECRET_ACCESS_KEY"),
        ({}, {}, {"WANDB_API_KEY": "swordfish"}, "env.WANDB_API_KEY"),
    ],
)
def test_a_secret_that_is_spelled_out_is_refused(arguments, environment, host_environment, key):
    profile = replace(
        PROFILE, arguments={**PROFILE.arguments, **arguments}, environment=environment
    )
    reading = replace(READING, host=Host("gpu8", environment=host_environment))
    found = check(plan(profile, reading), "secrets")
    assert found.level is Level.REFUSE
    assert key in found.words
    assert "swordfish" not in found.words


def test_an_empty_or_named_secret_is_not_spelled_out():
    named = replace(PROFILE, environment={"HF_TOKEN": ""}, secrets={"argument:api-key": "serving"})
    assert not plan(named).is_refused
