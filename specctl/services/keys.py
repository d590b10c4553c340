"""The keys of a server: the one place that knows which secret opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.command import server_secrets
from specctl.services.measured_server import Keys

if TYPE_CHECKING:
    from specctl.adapters.secrets import Secrets
    from specctl.domain.host import Host
    from specctl.domain.profile import Profile

API, ADMIN = "argument:api-key", "argument:admin-api-key"


def keys_of(profile: Profile | None, host: Host, secrets: Secrets) -> Keys:
    """The keys a profile's server asks for; none where the profile names none.

    A key that only a file of the host holds cannot be sent from here.
    """
    if profile is None:
        return Keys()
    named = server_secrets(profile, host)
    return Keys(api=_value(named.get(API), secrets), admin=_value(named.get(ADMIN), secrets))


def _value(name: str | None, secrets: Secrets) -> str | None:
    return None if name is None else secrets.resolve(name).reveal()
