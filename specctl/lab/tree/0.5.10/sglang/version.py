"""The version of this build, from the file that the build wrote."""

from sglang._version import __version__

__all__ = ["__version__"]
