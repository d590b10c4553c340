"""A report opened in a real browser."""

from __future__ import annotations

from tests.browser import dumped
from tests.unit.domain.report.test_report import HOSTILE, page
from tests.unit.domain.trial.runs import trial_blocks, trial_plan


def opened(folder, text):
    """The page as the browser has it once its scripts, if any, have run."""
    path = folder / "page.html"
    path.write_text(text)
    return dumped(folder, path.as_uri())


def test_hostile_names_run_nothing(tmp_path):
    names = dict.fromkeys(("baseline", "profile", "host", "workload", "id"), HOSTILE)
    plan = trial_plan(3, **names)
    blocks = trial_blocks(3, plan=plan, speedup=1.3)
    shown = opened(tmp_path, page(plan, blocks, conditions=((HOSTILE, HOSTILE),)))
    assert "<title>ran</title>" not in shown
    assert "<script" not in shown
    assert "<img" not in shown
    assert "document.title" in shown


def test_the_browser_would_have_run_it(tmp_path):
    """Without escaping and policy such words do run: the test above can fail."""
    script = HOSTILE[HOSTILE.index("<script>") : HOSTILE.index("<img")]
    assert "<title>ran</title>" in opened(tmp_path, f"<html><body>{script}</body></html>")


def test_the_plots_are_drawn(tmp_path):
    shown = opened(tmp_path, page())
    assert shown.count("<svg") == 6
    assert "<circle" in shown
