"""The prefix cache and the KV slots, against plain bookkeeping."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.lab.kv_cache import KvCache, Lease
from specctl.lab.prefix_tree import PrefixTree

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple)


@given(st.lists(TOKENS, max_size=20), TOKENS)
def test_the_longest_held_prefix_is_found(held, asked):
    tree = PrefixTree()
    for tokens in held:
        tree.insert(tokens)
    prefixes = {tokens[:length] for tokens in held for length in range(1, len(tokens) + 1)}
    expected = max((n for n in range(len(asked) + 1) if asked[:n] in prefixes), default=0)
    assert tree.find(asked)[1] == expected
    assert tree.size == len(prefixes)


@given(st.lists(TOKENS, min_size=1, max_size=12), st.integers(0, 40))
def test_eviction_spares_what_is_locked(held, count):
    tree = PrefixTree()
    nodes = [tree.insert(tokens)[0] for tokens in held]
    kept = tree.find(held[0])[0]
    tree.lock(kept)
    before = tree.size
    freed = tree.evict(count)
    assert tree.find(held[0])[1] == len(held[0])
    assert tree.locked == len(held[0])
    assert tree.size == before - freed
    assert freed >= min(count, before - tree.locked)
    tree.unlock(kept)
    assert tree.locked == 0
    tree.evict(before)
    assert tree.size == 0
    assert nodes


def test_eviction_takes_the_oldest_first():
    tree = PrefixTree()
    tree.insert((1, 2, 3))
    tree.insert((4, 5))
    tree.find((1, 2, 3))
    assert tree.evict(1) == 2
    assert tree.find((1, 2, 3))[1] == 3
    assert tree.find((4, 5))[1] == 0


@given(st.integers(0, 2**32))
def test_slots_are_never_lost_or_invented(seed):
    rng = random.Random(seed)
    cache = KvCache(60, caches_prefixes=rng.random() < 0.8)
    running: list[tuple[Lease, tuple[int, ...]]] = []
    for _ in range(60):
        if rng.random() < 0.5 and len(running) < 4:
            tokens = tuple(rng.randrange(2) for _ in range(rng.randint(1, 10)))
            lease = cache.open(tokens)
            if len(tokens) - lease.shared > cache.available:
                cache.close(lease, None)
                continue
            cache.grow(lease, len(tokens) - lease.shared)
            cache.share(lease, tokens)
            running.append((lease, tokens))
        elif running:
            lease, tokens = running.pop(rng.randrange(len(running)))
            if rng.random() < 0.5 and cache.available >= 2:
                cache.grow(lease, 2)
                running.append((lease, (*tokens, 5, rng.randrange(3))))
            else:
                cache.close(lease, tokens if rng.random() < 0.7 else None)
        assert 0 <= cache.used <= 60
        assert cache.used <= sum(len(tokens) for _, tokens in running)
    for lease, tokens in running:
        cache.close(lease, tokens)
    assert cache.used == 0
    assert cache.available == 60


def test_without_slots_nothing_grows():
    cache = KvCache(4, caches_prefixes=True)
    lease = cache.open((1, 2))
    cache.grow(lease, 4)
    with pytest.raises(MemoryError, match="1 KV slots wanted, 0 are left"):
        cache.grow(lease, 1)


def test_a_prompt_is_never_cached_whole():
    cache = KvCache(100, caches_prefixes=True)
    lease = cache.open((1, 2, 3))
    cache.grow(lease, 3)
    cache.close(lease, (1, 2, 3))
    assert cache.look_up((1, 2, 3)) == (2, 2)
    assert cache.look_up((1, 2, 3, 4)) == (3, 3)
    cache.flush()
    assert cache.look_up((1, 2, 3, 4)) == (0, 0)
