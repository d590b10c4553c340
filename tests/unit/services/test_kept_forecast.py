"""Under which conditions a forecast is kept, and what is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from specctl.domain.errors import RemoteFailedError, UsageError
from specctl.domain.host import Host
from specctl.domain.profile import Profile, Speculation
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.services import kept_forecast
from specctl.services.kept_forecast import conditions_of_forecast, forecast_again, forecast_of

PROFILE = Profile("ngram", "org/model", speculation=Speculation("NGRAM", {}))


async def test_without_a_host_the_recipe_is_known():
    found = await conditions_of_forecast(None, PROFILE)
    assert (found.host, found.is_simulated, found.gpus) == (None, False, ())
    assert len(found.recipes["ngram"]) == 12
    assert 'algorithm = "NGRAM"' in found.profiles["ngram"]


async def test_a_host_that_says_nothing_more_costs_no_forecast(monkeypatch):
    async def fail(_connection, _profiles):
        raise RemoteFailedError("no python there")

    monkeypatch.setattr(kept_forecast, "read_provenance", fail)
    connection: Any = SimpleNamespace(host=Host("lab-1", is_simulated=True))
    found = await conditions_of_forecast(connection, PROFILE)
    assert (found.host, found.is_simulated) == ("lab-1", True)
    assert found.recipes == (await conditions_of_forecast(None, PROFILE)).recipes


@pytest.mark.parametrize(
    ("kind", "document", "words"),
    [
        (RunKind.PROBE, {}, "is a probe, no forecast"),
        (RunKind.FORECAST, {"host": 7}, "does not hold a forecast"),
    ],
)
def test_what_holds_no_forecast_is_refused(kind, document, words):
    run = Run(
        "f0f0f0f0", kind, None, ("ngram",), 1.0, 2.0, "", Provenance("1", "op", None), document
    )
    for read in (forecast_of, forecast_again):
        with pytest.raises(UsageError, match=words):
            read(run)
