"""Deterministic draws: the same numbers on every machine and in every run."""

from __future__ import annotations

import math
import zlib

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """64 well-mixed bits of `value` (the finaliser of SplitMix64, Steele et al. 2014)."""
    value = (value + GOLDEN) & MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def extend(digest: int, token: int) -> int:
    """The digest of a sequence that goes on with `token`."""
    return (digest * GOLDEN + token + 1) & MASK


def fraction(value: int) -> float:
    """`value`, mixed, as a number from 0 up to but not including 1."""
    return (mix(value) >> 11) / 2**53


def seed_of(*parts: object) -> int:
    """A seed from anything that prints the same everywhere."""
    return mix(zlib.crc32(repr(parts).encode()))


def normal(value: int) -> float:
    """A draw of mean 0 and standard deviation 1 (Box and Muller 1958)."""
    radius = math.sqrt(-2 * math.log(1 - fraction(value)))
    return radius * math.cos(2 * math.pi * fraction(value ^ GOLDEN))
