from __future__ import annotations

from itertools import pairwise

import pytest

from specctl.domain.fillers import fill, find_unfilled, make_fillers, mean_in_flight
from specctl.domain.probe import Prompt
from specctl.domain.probing import Window, add_up
from specctl.domain.workload import Rendered, shared_beginning
from tests.unit.domain.requests import request

SEEDS = (Prompt(text="Name the days.", max_tokens=96), Prompt(text="Write a haiku.", max_tokens=96))


def prompts(tokens, kind="m"):
    found = [Prompt(text=f"{kind}{n}", max_tokens=count) for n, count in enumerate(tokens)]
    return tuple(Rendered(one, text=one.text, index=n) for n, one in enumerate(found))


def sizes(rendered):
    return [one.prompt.max_tokens for one in rendered]


def test_no_filler_begins_like_another():
    texts = [str(filler.text) for filler in make_fillers(SEEDS, 24)]
    assert len(set(texts)) == 24
    assert max(shared_beginning(a, b) for a in texts for b in texts if a != b) <= 2


def test_fillers_of_talks_differ_from_their_first_message_on():
    talk = Prompt(messages=(("system", "Be brief."), ("user", "Hello")))
    one, other = make_fillers((talk,), 2)
    assert one.messages == (("system", "1. Be brief."), ("user", "1. Hello"))
    assert one.messages[0] != other.messages[0]


def test_as_many_go_before_as_after_and_the_order_is_kept():
    measured = prompts([100] * 6 + [400, 80])
    found = fill(measured, prompts([96] * 8, "f"), 4)
    assert found.measured == measured
    assert sizes(found.before) == [25, 50, 75, 100]
    assert sizes(found.after) == [400] * 4
    assert len(found.sequence) == 4 + 8 + 4
    names = [one.text for one in (*found.before, *found.after)]
    assert names == [f"f{n}" for n in range(8)]


def test_one_at_a_time_needs_none():
    found = fill(prompts([10] * 3), prompts([9] * 4, "f"), 1)
    assert found.sequence == found.measured
    assert fill((), prompts([9] * 8, "f"), 4).sequence == ()


def closed_loop(sequence, concurrency, token_s=0.01):
    """(results in order) of a server that serves every place alike."""
    free = [0.0] * concurrency
    found = []
    for rendered in sequence:
        free.sort()
        began, tokens = free[0], rendered.prompt.max_tokens
        free[0] = began + tokens * token_s
        found.append(
            request(began_s=began, client_latency_s=tokens * token_s, completion_tokens=tokens)
        )
    return found


@pytest.mark.parametrize("concurrency", [2, 4, 8, 16])
def test_the_batch_is_full_while_the_measured_requests_run(concurrency):
    tokens = [64 + 37 * n % 200 for n in range(40)]
    loop = fill(prompts(tokens), prompts([96] * 2 * concurrency, "f"), concurrency)
    results = closed_loop(loop.sequence, concurrency)
    measured = results[concurrency : concurrency + 40]
    others = [*results[:concurrency], *results[concurrency + 40 :]]
    assert mean_in_flight(measured, others) == pytest.approx(concurrency)
    assert all(a.began_s <= b.began_s for a, b in pairwise(measured))
    bare = closed_loop(loop.measured, concurrency)
    assert mean_in_flight(bare, ()) < concurrency
    window = Window("s", None, concurrency, None, 99.0)
    assert add_up(window, measured, fillers=others).tokens_per_s == pytest.approx(
        concurrency / 0.01
    )


def test_a_batch_that_emptied_is_said():
    assert find_unfilled(3.99, 4) is None
    assert find_unfilled(None, 4) is None
    assert find_unfilled(0.5, 1) is None
    assert "3.50 of 4 requests" in str(find_unfilled(3.5, 4))
    assert mean_in_flight([], []) is None
