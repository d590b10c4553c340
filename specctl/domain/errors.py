"""Every failure specctl expects, each with what happened and what to do next.

* SpecctlError
  * InvalidFileError        a file of the workspace cannot be used (carries every problem found)
  * UsageError              what was asked for does not exist or contradicts itself
  * RefusedError            a plan was refused before anything was done
    * LockedError           somebody else applies a plan to the same GPUs or port
  * RemoteFailedError       something ran on a host and failed
    * LaunchFailedError     a start did not reach ready
    * AgentAnswerError      the agent could not do what it was asked
    * ServerAnswerError     a server answered, but not with what was asked for
  * HostError               a host cannot be used
    * UnreachableError      nothing answers, or the name does not resolve
    * NotAuthenticatedError the host answers and refuses the user
    * HostKeyUnknownError   the host's key is not in known_hosts
    * HostKeyChangedError   the host's key differs from the one in known_hosts
    * ConnectionLostError   the connection went away while something ran on it
    * AgentError            the agent could not be started or broke its protocol
  * DeadlineError           something did not happen in time
  * NotMetError             a verdict or an expectation was not met
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.problem import Problem


class SpecctlError(Exception):
    """An expected failure: `message` says what happened and where, `hint` what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidFileError(SpecctlError):
    """Files of the workspace that cannot be used, with every problem found in them."""

    def __init__(self, problems: tuple[Problem, ...], *, hint: str = "") -> None:
        super().__init__("\n".join(str(problem) for problem in problems), hint=hint)
        self.problems = problems


class UsageError(SpecctlError):
    """What was asked for does not exist, or contradicts itself."""


class RefusedError(SpecctlError):
    """A plan was refused before anything was done."""


class LockedError(RefusedError):
    """Somebody else applies a plan to the same GPUs or port at this moment."""


class RemoteFailedError(SpecctlError):
    """Something ran on a host and failed."""


class LaunchFailedError(RemoteFailedError):
    """A start that did not reach ready."""


class AgentAnswerError(RemoteFailedError):
    """The agent answered that it could not do what it was asked."""

    def __init__(self, message: str, *, hint: str = "", kind: str = "error") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        """`no_permission`, `not_found`, `not_supported`, `bad_request`, `timed_out`, `error`."""


class ServerAnswerError(RemoteFailedError):
    """A server answered, but not with what was asked for."""

    def __init__(self, message: str, *, hint: str = "", status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """The HTTP status, or None when no HTTP answer arrived."""


class HostError(SpecctlError):
    """A host that cannot be used."""


class UnreachableError(HostError):
    """Nothing answers there, or the name does not resolve."""


class NotAuthenticatedError(HostError):
    """The host answers and refuses the user."""


class HostKeyUnknownError(HostError):
    """The host's key is not in known_hosts."""


class HostKeyChangedError(HostError):
    """The host's key differs from the one in known_hosts."""


class ConnectionLostError(HostError):
    """The connection went away while something ran on it."""


class AgentError(HostError):
    """The agent could not be started, or broke its protocol."""


class DeadlineError(SpecctlError):
    """Something did not happen in time."""


class NotMetError(SpecctlError):
    """A verdict or an expectation that was not met."""
