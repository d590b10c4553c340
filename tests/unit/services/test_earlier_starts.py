"""Case A18: 0.85 ran out of memory, 0.84 was too little; each hint sends back to the other."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.ledger import Ledger
from specctl.domain.plain import plain
from specctl.domain.runs import Provenance, Run, RunKind
from specctl.facts.diagnosis import first_cause
from specctl.services.earlier_starts import with_earlier_starts
from specctl.services.outcome import Outcome
from tests.unit.facts.captures import case

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "0.5.23"
READY = Outcome("ready", "h", succeeded=True, words="Ready in 5:32")


def attempt(number: int, words: str = "") -> Outcome:
    """As a start of the case ended."""
    (line,) = [x for x in case("A18").split("\n") if x.startswith(f"attempt{number} ")]
    cause = first_cause([line.split(": ", 1)[1]], exit_status=1, version=VERSION)
    assert cause is not None
    return Outcome(
        f"a{number}", "h", succeeded=False, words=words or cause.words, hint=cause.next_step,
        cause=cause,
    )  # fmt: skip


def keep(path: Path, *outcomes: Outcome, host: str = "h", profile: str = "eagle") -> None:
    """Starts one after another."""
    with closing(Ledger(path)) as ledger:
        for at_s, outcome in enumerate(outcomes, start=1):
            ledger.add(
                Run(
                    f"{host}{profile}{at_s:08d}", RunKind.LAUNCH, host, (profile,), float(at_s),
                    float(at_s), outcome.words, Provenance("1", "op", "h", profiles={profile: ""}),
                    plain(outcome),
                )
            )  # fmt: skip


def test_two_opposite_walls_are_a_dead_end(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    keep(ledger, attempt(1, "GPU memory ran out"), attempt(1, "GPU memory ran out"))
    found = with_earlier_starts(attempt(2), ledger, "eagle", VERSION)

    assert found.hint.startswith("It does not fit by --mem-fraction-static alone")
    assert "--cuda-graph-max-bs-decode" in found.hint
    assert found.cause is not None
    assert found.cause.next_step == found.hint
    assert found.notes == ("an earlier start of eagle failed the other way: GPU memory ran out",)


@pytest.mark.parametrize(
    ("kept", "about"),
    [
        ((), {}),
        ((attempt(2),), {}),
        ((attempt(1), READY), {}),
        ((attempt(1),), {"host": "other"}),
        ((attempt(1),), {"profile": "other"}),
        ((replace(attempt(1), cause=None),), {}),
    ],
    ids=["none", "the same wall", "one succeeded since", "host", "profile", "no cause"],
)
def test_otherwise_the_next_step_stays(
    tmp_path: Path, kept: tuple[Outcome, ...], about: dict[str, str]
) -> None:
    ledger = tmp_path / "ledger.db"
    keep(ledger, *kept, **about)
    now = attempt(2)

    assert with_earlier_starts(now, ledger, "eagle", VERSION) is now


def test_a_start_that_succeeded_or_a_ledger_that_is_none_changes_nothing(tmp_path: Path) -> None:
    assert with_earlier_starts(READY, tmp_path / "none.db", "eagle", VERSION) is READY
    damaged = tmp_path / "ledger.db"
    damaged.write_bytes(b"no database" * 100)
    now = attempt(2)
    assert with_earlier_starts(now, damaged, "eagle", VERSION) is now
