"""Text that repeats, measured on launches of two profiles, and on launches of the same thing."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from specctl.adapters.ledger import Ledger
from specctl.domain.kept_output import unpack_output
from specctl.domain.runs import RunKind
from specctl.domain.trial.blocks import Block
from specctl.domain.trial.running import answer_of
from specctl.domain.trial.trial_json import block_of
from specctl.services.runs import probe_of
from tests.live.conftest import MODELS, PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import ProbeResult
    from tests.live.conftest import Operator

NAMES = ("ilshift", "irshift", "ibshift", "ipshift", "ixshift", "ixshifts", "ibbshift", "iyshift")
"""After each of these the tiny target goes on with the same lines."""

TOKENS = 96
DECODE = """\
import json, sys
from tokenizers import Tokenizer
known = Tokenizer.from_file(sys.argv[1])
print(json.dumps([known.decode(ids) for ids in json.load(sys.stdin)]))
"""
"""With the interpreter that serves the model."""

FILE = "repeating.jsonl"


def write_workload(operator: Operator, file: str = FILE, names: Sequence[str] = NAMES) -> None:
    """Prompts with one answer; each is new to the server all the same."""
    header = {"max_tokens": TOKENS, "repeats": True, "category": "repetition"}
    rows: list[dict[str, Any]] = [{"workload": header}]
    rows += [{"prompt": f"def {name}(a, b):\n"} for name in names]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (operator.folder / "ws" / file).write_text(text)


def measure_warm(operator: Operator) -> None:
    """Half of the prompts after the other half is drafted better than cold, and cold again."""
    write_workload(operator, "one-half.jsonl", NAMES[::2])
    write_workload(operator, "other-half.jsonl", NAMES[1::2])
    asked = ("probe", f"gpu/{operator.port}", "--workload", "one-half.jsonl", "--json")
    cold = operator.ok(*asked).json
    warm = operator.ok(*asked, "--trained-on", "other-half.jsonl").json
    again = operator.ok(*asked).json
    assert (cold["trained_on"], warm["trained_on"]["workload"]) == (None, "other-half")
    assert warm["accept_length"] > cold["accept_length"]
    assert again["accept_length"] == cold["accept_length"]


def open_ledger(operator: Operator) -> Ledger:
    return Ledger(operator.folder / "home/.local/state/specctl/ledger.db")


def newest_probe(operator: Operator) -> ProbeResult:
    """As the ledger has it."""
    ledger = open_ledger(operator)
    try:
        (run,) = ledger.runs(kind=RunKind.PROBE, most=1)
    finally:
        ledger.close()
    return probe_of(run)


def results_of_trial(operator: Operator, trial: str) -> dict[str, list[ProbeResult]]:
    """What was measured on each launch of a trial, by arm, in order."""
    ledger = open_ledger(operator)
    try:
        blocks = [block_of(document) for document in ledger.blocks(trial)]
    finally:
        ledger.close()
    return {side: [b.results[0] for b in blocks if b.side == side] for side in ("A", "B")}


def assert_counted_as_the_server_does(result: ProbeResult) -> None:
    """Histograms, verify steps and accept length of one launch are those of its server."""
    for request in result.requests:
        histogram = request.histogram or ()
        assert sum(histogram) == request.verify_steps
        accepted = sum(count * drafts for drafts, count in enumerate(histogram))
        assert accepted == request.correct_drafts
    correct = sum(request.correct_drafts or 0 for request in result.requests)
    steps = sum(request.verify_steps or 0 for request in result.requests)
    assert result.accept_length is not None
    assert abs(result.accept_length - (1 + correct / steps)) < 1e-9


def assert_answers_are_kept_as_tokens(results: Sequence[ProbeResult]) -> None:
    """Every answer has its token ids, and they are its text."""
    answers = [(one, unpack_output(one.output)) for each in results for one in each.requests]
    ids = []
    for request, kept in answers:
        assert kept is not None
        assert kept.ids is not None
        assert len(kept.ids) == request.completion_tokens
        ids.append(kept.ids)
    texts = json.loads(
        subprocess.run(
            [str(PYTHON), "-c", DECODE, str(MODELS / "target" / "tokenizer.json")],
            input=json.dumps(ids), capture_output=True, text=True, check=True,
        ).stdout
    )  # fmt: skip
    assert texts == [kept.text for _, kept in answers if kept is not None]


def blocks_of_twins(one: Sequence[ProbeResult], other: Sequence[ProbeResult]) -> list[Block]:
    """Launches of the same thing as a trial takes them, in the order in which they ran."""
    sides = [("A", result) for result in one] + [("B", result) for result in other]
    blocks = []
    for side, result in sorted(sides, key=lambda found: found[1].started_at_s or 0.0):
        answers = {
            str(request.index): answer
            for request in result.requests
            if (answer := answer_of(request)) is not None
        }
        blocks.append(Block("A" if side == "A" else "B", result.started_at_s or 0.0, answers))
    return blocks
