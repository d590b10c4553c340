"""A trial's report written and shown."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from specctl.adapters.browser import show_page
from specctl.adapters.ledger import Ledger
from specctl.domain.errors import UsageError
from specctl.services.reporting import save_report
from tests.unit.services.test_runs import kept


def test_a_report_is_a_page_beside_the_operator(tmp_path):
    evidence = kept()
    with closing(Ledger(tmp_path / "ledger.db")) as ledger:
        ledger.add(evidence.run)
        for block in evidence.blocks:
            ledger.add_block(evidence.run.id, block)
        path = save_report(ledger, "5c0ffee2", 1.0, tmp_path)
        assert path == tmp_path / "trial-5c0ffee2.html"
        assert path.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
        with pytest.raises(UsageError, match="cannot be written") as caught:
            save_report(ledger, "5c0ffee2", 1.0, tmp_path / "nowhere")
        assert "runs report 5c0ffee2 -o FILE" in caught.value.hint


def test_without_a_display_no_browser_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(UsageError, match="no display") as caught:
        show_page(tmp_path / "page.html", environment={})
    assert str(tmp_path / "page.html") in caught.value.hint


def test_a_browser_of_the_terminal_is_not_started(tmp_path, monkeypatch):
    import webbrowser

    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("w3m"))
    with pytest.raises(UsageError, match="w3m may take this terminal") as caught:
        show_page(tmp_path / "page.html", environment={"DISPLAY": ":0"})
    assert "BROWSER='w3m %s &'" in caught.value.hint


def test_a_page_goes_to_the_browser_as_an_address_and_its_noise_nowhere(
    tmp_path, monkeypatch, capfd
):
    import webbrowser

    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho noise\necho noise >&2\necho "$1" >{tmp_path}/opened\n')
    browser.chmod(0o755)
    command = f"{browser} %s &"
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser(command))
    show_page(tmp_path / "page.html", environment={"DISPLAY": ":0", "BROWSER": command})
    opened = tmp_path / "opened"
    while not (opened.is_file() and opened.read_text()):
        time.sleep(0.01)
    assert opened.read_text().strip() == (tmp_path / "page.html").as_uri()
    assert capfd.readouterr() == ("", "")
