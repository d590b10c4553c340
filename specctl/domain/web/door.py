"""Who was let in: a link's token is good once, and buys one browser a cookie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from hmac import compare_digest

LINK_S = 3600.0
"""A link that nobody used in this time is good no more."""

VISITORS_MOST = 8
"""Browsers that are let in at a time: the next one puts the first out."""

_SPENT_MOST = 64


@dataclass(frozen=True, slots=True)
class Door:
    """SHA-256 digests of tokens and cookies; never themselves."""

    link: bytes = b""
    made_at_s: float = 0.0
    """When the link was made, on a monotonic clock."""

    spent: tuple[bytes, ...] = ()
    visitors: tuple[bytes, ...] = ()
    """The cookies of those who were let in, first come first."""

    def with_link(self, token: str, now_s: float) -> Door:
        """A new link is good; the one before is not, used or not."""
        return replace(self, link=_digest(token), made_at_s=now_s)

    def admit(self, token: str, cookie: str, now_s: float) -> tuple[Door, str]:
        """The door after `token` was shown, and why nobody was let in: empty when one was."""
        shown = _digest(token)
        if _is_among(shown, self.spent):
            return self, "This link was used before, and is good once."
        if not self.link or not compare_digest(shown, self.link):
            return self, "This link is not good."
        closed = replace(self, link=b"", spent=(*self.spent, shown)[-_SPENT_MOST:])
        if now_s - self.made_at_s > LINK_S:
            return closed, f"This link was good for {LINK_S / 60:.0f} min."
        visitors = (*self.visitors, _digest(cookie))[-VISITORS_MOST:]
        return replace(closed, visitors=visitors), ""

    def knows(self, cookie: str) -> bool:
        """The cookie is of somebody who was let in; compared in constant time."""
        return _is_among(_digest(cookie), self.visitors)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogateescape")).digest()


def _is_among(shown: bytes, kept: tuple[bytes, ...]) -> bool:
    """Takes as long whichever it is."""
    return sum(compare_digest(shown, one) for one in kept) > 0
