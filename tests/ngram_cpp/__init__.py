"""SGLang's own n-gram matcher, compiled from the sources of an installed tree, for comparison."""

from __future__ import annotations
