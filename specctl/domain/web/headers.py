"""What every answer tells the browser not to do."""

from __future__ import annotations

_OFF = ("camera", "clipboard-read", "display-capture", "geolocation", "microphone", "usb", "serial")

ALWAYS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join([*(f"{name}=()" for name in _OFF), "clipboard-write=(self)"]),
    "Referrer-Policy": "no-referrer",
    "Server": "specctl",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content policy of an answer that is no page."""


def page_policy(nonce: str, socket_origin: str) -> str:
    """The content policy of the page: its own files, its own socket, styles that bear `nonce`."""
    return (
        f"{NOTHING}; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src 'self'; "
        f"img-src 'self'; connect-src 'self' {socket_origin}"
    )
