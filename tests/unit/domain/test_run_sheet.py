"""A run of the ledger as names and words."""

from __future__ import annotations

from specctl.domain.probe_json import probe_json
from specctl.domain.run_sheet import compare_runs, sheet_of
from specctl.domain.runs import Provenance, Run, RunKind
from tests.unit.domain.trial.runs import result


def run(document, *, run_id="aa", arguments=None, kind=RunKind.PROBE):
    provenance = Provenance("0.1.0", "kim", "gpu8", arguments=arguments or {})
    return Run(run_id, kind, "gpu8", ("eagle3",), 1.0, 2.0, "measured", provenance, document)


def test_a_probe_is_told_with_every_raw_request():
    measured = result("B")
    sheet = sheet_of(run(probe_json(measured)), (("driver", "580"),))
    assert dict(sheet.figures)["accept-length"] == "2"
    assert "requests" not in dict(sheet.figures)
    assert len(sheet.requests) == len(measured.requests)
    first = sheet.requests[0]
    assert (first.number, first.category, first.error) == (1, "code", None)
    assert first.latency_s == measured.requests[0].server_latency_s


def test_arms_go_by_their_profiles_and_empty_values_are_left_out():
    document = {"arms": [{"profile": "a", "failure": "", "result": {"requests": [{"error": "x"}]}},
                         {"profile": "b", "load_s": 2.5, "ok": True}]}  # fmt: skip
    sheet = sheet_of(run(document, kind=RunKind.COMPARISON), ())
    assert sheet.figures == (
        ("arms a profile", "a"), ("arms b profile", "b"), ("arms b load-s", "2.5"),
        ("arms b ok", "yes"),
    )  # fmt: skip
    assert [(one.arm, one.error, one.latency_s) for one in sheet.requests] == [("a", "x", None)]


def test_a_damaged_document_is_no_number():
    sheet = sheet_of(run({"requests": [{"completion_tokens": "many", "ttft_s": True}, 3]}), ())
    assert [(one.tokens, one.ttft_s) for one in sheet.requests] == [(None, None)]
    assert sheet_of(run({"requests": 7}), ()).requests == ()


def test_two_runs_differ_in_conditions_arguments_and_figures():
    left = sheet_of(
        run({"tokens_per_s": 52.0, "same": 1}, arguments={"p": {"tp_size": 8}}),
        (("driver", "580"),),
    )
    right = sheet_of(run({"tokens_per_s": 41.0, "same": 1}), (("driver", "590"),))
    found = [(one.kind, one.name, one.left, one.right) for one in compare_runs(left, right)]
    assert found == [
        ("condition", "driver", "580", "590"),
        ("argument", "tp-size", "8", None),
        ("figure", "tokens-per-s", "52", "41"),
    ]
    assert compare_runs(left, left) == ()
