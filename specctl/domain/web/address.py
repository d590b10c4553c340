"""Where the web server listens, and under which names it may be asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from specctl.domain.errors import UsageError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104  asked for, not chosen
_PORT_MOST = 65535
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<user>[^/?#]*@)?(?P<host>[^/?#]*)/?(?P<path>[^?#]*)"
    r"(?P<query>\?[^#]*)?(?P<fragment>#.*)?",
    re.DOTALL,
)
_EXTRAS = {
    "user": "a user, which the page does not ask for",
    "path": "a path, and the page is at /",
    "query": "a query",
    "fragment": "a fragment",
}


@dataclass(frozen=True, slots=True)
class Place:
    """What the server answers to; names are in lower case, IPv6 addresses without brackets."""

    names: frozenset[str]
    takes_any_address: bool = False
    """Every literal address is right: no attacker's name leads to one."""

    public_origin: str = ""
    """`https://ops.example.com`: what a browser sees in front of a proxy; empty without one."""

    @property
    def is_encrypted(self) -> bool:
        """Browsers reach it over TLS."""
        return self.public_origin.startswith("https:")


def is_loopback(address: str) -> bool:
    """Only this machine reaches it."""
    if address == "localhost":
        return True
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def read_place(bind: str, own_names: frozenset[str], public_url: str = "") -> Place:
    """What a server bound to `bind` answers to; `own_names` are this machine's.

    UsageError for an address or URL that is none.
    """
    if bind != "localhost" and _parsed(bind) is None:
        raise UsageError(f"--bind {bind} is no address of this machine", hint="e.g. 127.0.0.1")
    names = {_plain(bind), *(LOOPBACK_NAMES if is_loopback(bind) else ())}
    if bind in _WILDCARDS:
        names = {*LOOPBACK_NAMES, *(name.lower() for name in own_names)}
    origin, name = _public(public_url) if public_url else ("", "")
    return Place(frozenset({*names, name} - {""}), bind in _WILDCARDS, origin)


def _public(url: str) -> tuple[str, str]:
    """(origin, name) of the URL that browsers use; only a `/` at its end is dropped."""
    found = _URL.fullmatch(url.lower())
    if found is None:
        raise _no_origin("it begins with neither http:// nor https://")
    extras = [words for part, words in _EXTRAS.items() if found[part]]
    if extras:
        raise _no_origin(f"it has {' and '.join(extras)}")
    place = split_host(found["host"])
    if place is None:
        raise _no_origin("it has no host that a browser can ask for")
    name, port = place
    usual = {"http": 80, "https": 443}[found["scheme"]]
    shown = bracketed(name) + ("" if port in {None, usual} else f":{port}")
    return f"{found['scheme']}://{shown}", name


def _no_origin(why: str) -> UsageError:
    """Without the URL: there may be a password in it."""
    return UsageError(
        f"--public-url is no origin: {why}",
        hint="Write it as https://ops.example.com, with :PORT where it has one.",
    )


def split_host(text: str) -> tuple[str, int | None] | None:
    """Name and port of a Host header, or None for what is none."""
    found = _HOST.fullmatch(text.lower())
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > _PORT_MOST:
        return None
    return found["six"] or found["name"], port


def is_name_of(place: Place, name: str) -> bool:
    """The server may be asked for by it."""
    return _plain(name) in place.names or (place.takes_any_address and _parsed(name) is not None)


def bracketed(name: str) -> str:
    """As it is written in a URL."""
    return f"[{name}]" if ":" in name else name


def tunnel_line(bind: str, port: int) -> str:
    """What to run on one's own machine to reach a server on the loopback of this one."""
    inner = "localhost" if bind == "localhost" else bracketed(bind)
    return f"ssh -N -L {port}:{inner}:{port} USER@THIS-MACHINE"


def _plain(name: str) -> str:
    """An address in its one short form, anything else as it is."""
    parsed = _parsed(name)
    return name if parsed is None else str(parsed)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
