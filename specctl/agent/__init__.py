"""The agent: what specctl streams to a host to measure it and to move its bytes.

It stands alone: Python 3.8 syntax, the standard library, and pynvml, psutil and httpx only where
they are found or were streamed along. On a host the package is called `specctl_agent`, so every
import inside it is relative. It does not interpret SGLang.
"""

from __future__ import annotations
