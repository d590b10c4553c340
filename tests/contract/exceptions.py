"""Where the stand-in speaks differently than the captured servers, and why that is right."""

from __future__ import annotations

_FASTAPI = "the captured 0.5.10 met a newer fastapi than it was made for, and answered 500"
_ASKED = "the captured server was not asked for a path that it does not have"

EXCEPTIONS: dict[tuple[str, str], dict[str, str]] = {
    ("0.5.10", "status /v1/loads"): {": 500 became 200": _FASTAPI},
    ("0.5.10", "log access"): {
        'no INFO:     ADDRESS - "VERB PATH HTTP/N" N Internal Server Error': _FASTAPI,
        'INFO:     ADDRESS - "VERB PATH HTTP/N" N Not Found is new': _ASKED,
    },
}
"""(version, question) to the difference as it is printed, and the reason."""
