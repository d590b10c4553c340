"""Findings in one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.checkpoint.values import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.HINT)


def passed(key: str, words: str) -> Finding:
    """Looked at, and well."""
    return Finding(key, Severity.PASS, words)


def hinted(key: str, words: str, means: str = "", next_step: str = "") -> Finding:
    """Worth knowing, or not to be known."""
    return Finding(key, Severity.HINT, words, means, next_step)


def warned(key: str, words: str, means: str, next_step: str) -> Finding:
    """Costs something, or may."""
    return Finding(key, Severity.WARNING, words, means, next_step)


def failed(key: str, words: str, means: str, next_step: str) -> Finding:
    """Does not start, or does not speculate."""
    return Finding(key, Severity.ERROR, words, means, next_step)


def worst(findings: Iterable[Finding]) -> Severity:
    """The worst of all; pass when there are none."""
    found = {finding.severity for finding in findings}
    return next((one for one in _ORDER if one in found), Severity.PASS)
