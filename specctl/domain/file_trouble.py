"""What to do about a file that the system refuses."""

from __future__ import annotations

import errno

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def next_step(error: OSError) -> str:
    """A sentence; empty where what the system said is enough."""
    if error.errno == errno.EFBIG:
        return "Raise the limit on the size of files: ulimit -f."
    if error.errno in FULL:
        return "Free some space there, then run it again."
    if error.errno in FORBIDDEN:
        return "Give your user the right to write there, or name another place."
    return ""
