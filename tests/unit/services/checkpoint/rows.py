"""Rows of a checked draft."""

from __future__ import annotations

from specctl.domain.checkpoint.values import Severity

ERROR, WARNING, HINT, PASS = Severity.ERROR, Severity.WARNING, Severity.HINT, Severity.PASS


def finding(checked, key):
    return next(f for f in checked.findings if f.key == key)


def troubles(checked):
    return {f.key: f.severity for f in checked.findings if f.severity is not PASS}
