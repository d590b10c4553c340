"""runs as a user runs it, after a probe, a start and a comparison of a stand-in engine."""

from __future__ import annotations

import json

from specctl.domain.kept_output import unpack_output
from tests.cli.test_probe_commands import ONCE, here, port, python
from tests.cli.test_trial_commands import WORKLOAD, paced, trial_of

__all__ = ["here", "paced", "port", "python"]


def shows_and_differs(run, compared, probe):
    shown = run("runs", "show", probe[:6])
    assert shown.status == 0
    assert "accept length" in shown.out
    assert "SGLang" in shown.out
    rows = run("runs", "show", compared).out.splitlines()
    assert [row.split()[0] for row in rows if row.startswith(("base ", "eagle "))] == [
        "base",
        "eagle",
    ]
    assert "prompts the same as the baseline's (" in run("runs", "show", compared).out
    kept = json.loads(run("runs", "show", compared, "--json").out)
    requests = [r for arm in kept["document"]["arms"] for r in arm["result"]["requests"]]
    assert requests
    assert all(unpack_output(request["output"]) for request in requests)
    assert "outcome" in run("runs", "diff", compared, probe).out
    differs = json.loads(run("runs", "diff", compared, probe, "--json").out)
    assert (differs["schema"], differs["left"]["id"]) == ("specctl/rundiff/1", compared)
    assert {row["name"] for row in differs["rows"]} >= {"kind", "profiles", "outcome"}


def test_starts_probes_and_comparisons_are_kept(run, here):
    assert run("start", "here", "eagle", "--yes").status == 0
    probed = run("probe", "here/eagle", *WORKLOAD)
    assert "specctl runs show" in probed.err
    assert run("stop", "here/eagle", "--yes", "--now").status == 0
    assert run("compare", "here", "base", "eagle", *ONCE).status == 0
    found = json.loads(run("runs", "list", "--json").out)
    assert found["schema"] == "specctl/runs/1"
    assert [one["kind"] for one in found["runs"]] == ["comparison", "probe", "launch"]
    assert [one["profiles"] for one in found["runs"]] == [["base", "eagle"], ["eagle"], ["eagle"]]
    listed = run("runs", "list", "--kind", "probe").out
    assert "measured" in listed
    assert "comparison" not in listed
    compared, probe, _ = (one["id"] for one in found["runs"])
    shows_and_differs(run, compared, probe)
    kept = json.loads(run("runs", "show", probe, "--json").out)
    assert kept["schema"] == "specctl/run/1"
    assert (kept["provenance"]["build"], len(kept["provenance"]["tree_hash"])) == ("0.5.23", 32)
    assert kept["provenance"]["arguments"]["eagle"]["speculative_algorithm"] == "EAGLE"
    assert 'algorithm = "EAGLE"' in kept["provenance"]["profiles"]["eagle"]
    assert all("text" not in request for request in kept["document"]["requests"])
    refused = run("runs", "recompute", probe)
    assert refused.status == 2
    assert "only a trial has a verdict" in refused.err
    exported = run("runs", "export", probe)
    assert exported.status == 0
    assert "recompute" not in exported.err, "not offered where it is refused"
    assert "specctl runs list --kind trial" in run("runs", "report", probe, "-o", "r.html").err


def test_a_trial_is_exported_and_recomputed_elsewhere(run, paced, tmp_path):
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--launches", "3", "--yes")
    trial = trial_of(ran.err)
    words = ran.out.rstrip().splitlines()[-1]
    done = run("runs", "export", trial[:5])
    bundle = done.out.strip()
    assert bundle == f"{trial}.specctl.json.gz"
    other = tmp_path / "elsewhere"
    other.mkdir()
    again = run("runs", "recompute", str(paced / bundle), inside=other, HOME=str(other))
    assert again.status == 0
    assert again.out.rstrip().splitlines()[-1] == words
    assert "the same as was said: faster" in again.err
    assert run("runs", "export", trial).status == 2


def test_an_empty_ledger_says_what_fills_it(run):
    ran = run("runs", "list")
    assert (ran.status, ran.out) == (0, "")
    assert "nothing was kept yet" in ran.err
    assert run("runs", "show", "5c0ffee2").status == 2


def test_a_ledger_that_cannot_be_used_costs_no_measurement(run, here, home):
    state = home / ".local/state/specctl"
    state.mkdir(parents=True)
    (state / "ledger.db").write_text("this is no database, and long enough to be looked at" * 50)
    assert run("start", "here", "base", "--yes").status == 0
    probed = run("probe", "here/base", *WORKLOAD)
    assert probed.status == 0
    assert "not kept: the ledger" in probed.err
    assert run("stop", "here/base", "--yes", "--now").status == 0


def test_a_report_is_one_file_that_says_the_verdict(run, paced):
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--launches", "2", "--yes")
    trial = trial_of(ran.err)
    done = run("runs", "report", trial, "-o", "report.html")
    assert (done.status, done.out) == (0, "")
    page = (paced / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "eagle against base on here" in page
    assert 'algorithm = "EAGLE"' in page.replace("&quot;", '"')
    text = run("runs", "report", trial, "--md").out
    assert text.startswith("## eagle against base on here")
    found = json.loads(run("runs", "report", trial, "--json").out)
    assert found["schema"] == "specctl/trial/1"
    assert run("runs", "report", trial, "-o", "no/folder.html").status == 2
