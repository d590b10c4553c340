"""Whether a request is let through: by name, by origin, by cookie."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from specctl.domain.web.address import is_name_of, split_host

if TYPE_CHECKING:
    from specctl.domain.web.address import Place
    from specctl.domain.web.door import Door


class Route(Enum):
    """What is asked for, as far as it matters to who may ask."""

    ENTRY = auto()
    """Exchanges the link's token for a cookie: the one route without a cookie."""

    PAGE = auto()
    FILE = auto()
    """Also whatever does not exist: who may not enter does not learn that."""

    SOCKET = auto()


@dataclass(frozen=True, slots=True)
class Request:
    """What of a request decides."""

    route: Route
    hosts: tuple[str, ...]
    """Every Host header."""

    origins: tuple[str, ...] = ()
    fetch_site: str = ""
    """Sec-Fetch-Site: where the browser says the request comes from; empty when it does not."""

    purpose: str = ""
    """Sec-Purpose: the browser fetches ahead of the user."""

    destination: str = ""
    """Sec-Fetch-Dest: what the browser makes of the answer."""

    cookie: str = ""


def refusal(request: Request, place: Place, door: Door) -> str:
    """Why it is refused, for a person; empty when it is let through."""
    return (
        _wrong_host(request, place)
        or _wrong_origin(request, place)
        or _wrong_site(request)
        or _no_visitor(request, door)
    )


def _wrong_host(request: Request, place: Place) -> str:
    """Against DNS rebinding: a foreign name that leads here is not ours."""
    named = split_host(request.hosts[0]) if len(request.hosts) == 1 else None
    if named is not None and is_name_of(place, named[0]):
        return ""
    return "This server is not asked for by that name. Use the link that specctl web printed."


def _wrong_origin(request: Request, place: Place) -> str:
    """Against pages of other servers, those on other ports of this machine included."""
    if not request.origins:
        missing = request.route is Route.SOCKET
        return "A screen is opened by a browser only: Origin is missing." if missing else ""
    own = {f"http://{request.hosts[0].lower()}", place.public_origin}
    if len(request.origins) == 1 and request.origins[0].lower() in own - {""}:
        return ""
    return "A page of another server asked for this."


def _wrong_site(request: Request) -> str:
    if request.route is Route.ENTRY:
        is_opened = request.destination.lower() in {"", "document"}
        is_ahead = "pre" in request.purpose.lower()
        return "" if is_opened and not is_ahead else "The link is opened as a page, or not at all."
    allowed = {"", "same-origin"} | ({"none"} if request.route is not Route.SOCKET else set())
    if request.fetch_site.lower() in allowed or request.route is Route.PAGE:
        return ""
    return "A page of another server asked for this."


def _no_visitor(request: Request, door: Door) -> str:
    if request.route is Route.ENTRY or door.knows(request.cookie):
        return ""
    return (
        "This browser was not let in. Open the link that specctl web printed; "
        "Enter in its terminal makes a new one. Came here by a link on another page? Reload."
    )
