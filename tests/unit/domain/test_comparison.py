from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.comparison import ONE_LAUNCH, Arm, Comparison, find_unasked, stand
from specctl.domain.comparison_rows import (
    HEADERS,
    category_rows,
    comparison_rows,
    comparison_words,
)
from specctl.domain.probe import Void, VoidKind
from specctl.domain.probe_json import comparison_json
from specctl.domain.probing import Window, add_up
from specctl.domain.profile import Profile, Speculation
from tests.unit.domain.requests import request, speculated


def result(requests, algorithm, void=()):
    reasons = [Void(VoidKind.ARM, words) for words in void]
    return add_up(Window("s", "p", 1, algorithm, 10.0, client_cpu_s=0.1), requests, void=reasons)


def baseline_arm():
    requests = [
        request(
            index=n,
            completion_tokens=101,
            server_ttft_s=0.1,
            server_latency_s=2.1,
            text_sha256=str(n),
        )
        for n in range(4)
    ]
    return Arm("base", None, result(requests, None))


def spec_arm(latency_s=1.6, void=()):
    requests = [
        speculated((0, 20, 20), index=n, completion_tokens=101, server_ttft_s=0.1,
                   server_latency_s=latency_s, text_sha256=str(n))
        for n in range(4)
    ]  # fmt: skip
    return Arm("eagle", "EAGLE", result(requests, "EAGLE", void), steps=3)


def test_an_arm_against_its_baseline():
    standing = stand(baseline_arm(), spec_arm())
    assert standing.cost is not None
    assert standing.cost.base_s == pytest.approx(0.02)
    assert standing.cost.step_s == pytest.approx(1.5 / 40)
    assert standing.cost.break_even == pytest.approx(1.875)
    assert standing.cost.accept_length == pytest.approx(2.5)
    assert standing.pairing is not None
    assert standing.pairing.speedup == pytest.approx(2.1 / 1.6)
    assert standing.cost.decode_speedup == pytest.approx(2.5 / 1.875)
    assert standing.pairing.first_token_share == pytest.approx(0.1 / 2.1)
    assert standing.suspects == ()


def test_a_void_arm_and_a_missing_one_have_no_speedup():
    void = stand(baseline_arm(), spec_arm(void=("degenerate output",)))
    assert (void.pairing, void.unknown) == (None, "eagle is void: degenerate output")
    failed = stand(baseline_arm(), Arm("eagle", failure="Out of GPU memory"))
    assert failed.unknown == "eagle gave no result: Out of GPU memory"


def test_a_speedup_beyond_the_accept_length_suspects_the_baseline():
    (words,) = stand(baseline_arm(), spec_arm(latency_s=0.6)).suspects
    assert "suspect the baseline" in words


def test_greedy_outputs_that_differ_are_noted():
    arm = spec_arm()
    assert arm.result is not None
    changed = replace(arm.result.requests[2], text_sha256="other", text="xy")
    requests = (*arm.result.requests[:2], changed, arm.result.requests[3])
    arm = replace(arm, result=replace(arm.result, requests=requests))
    (note,) = stand(baseline_arm(), arm).notes
    assert note == "1 of 4 greedy outputs differ (first: prompt 3)"


def test_what_nobody_asked_for_is_found():
    base = Arm("base", arguments={"max_running_requests": 256, "port": 1, "tp_size": 8, "a": 1})
    arm = Arm(
        "eagle",
        arguments={
            "max_running_requests": 48,
            "port": 2,
            "tp_size": 4,
            "a": 1,
            "speculative_num_steps": 3,
        },
    )
    profile = Profile("base", "m", arguments={"tp-size": 8})
    other = Profile("eagle", "m", arguments={"tp-size": 4}, speculation=Speculation("EAGLE", {}))
    (found,) = find_unasked(base, arm, profile, other)
    assert (found.key, found.base, found.arm) == ("max-running-requests", 256, 48)


def comparison(*arms, **more):
    return Comparison("gpu8", "mixed", 1, (baseline_arm(), *arms), **more)


def test_one_row_per_arm():
    failed = Arm("ngram", "NGRAM", failure="the server died while it was measured")
    rows = comparison_rows(comparison(spec_arm(), failed))
    assert [len(row) for row in rows] == [len(HEADERS)] * 3
    assert rows[0] == ("base", "40.4", "50.0", "—", "—", "20.00", "baseline", "—")
    assert rows[1] == ("eagle", "40.4", "66.7", "2.50", "1.88", "37.50", "1.31x", "4/4")
    assert rows[2] == ("ngram", *["—"] * 7)


def test_words_end_with_what_one_launch_is_worth():
    words = comparison_words(
        comparison(
            spec_arm(),
            Arm("ngram", failure="crashed", hint="Read its log."),
            restored=("x runs again",),
        )
    )
    assert words[-1] == ONE_LAUNCH
    assert "ngram: crashed (Read its log.)" in words
    assert "x runs again" in words
    assert any("brings 2.50 tokens, more than it costs while decoding" in line for line in words)
    assert not any(word in " ".join(words) for word in ("faster", "slower"))


def test_categories_are_told_apart():
    base, arm = baseline_arm(), spec_arm()
    assert category_rows(comparison(arm)) == ()

    def split(one):
        assert one.result is not None
        requests = tuple(
            replace(r, category="code" if r.index else "chat") for r in one.result.requests
        )
        return replace(one, result=replace(one.result, requests=requests))

    found = Comparison("gpu8", "mixed", 1, (split(base), split(arm)))
    assert category_rows(found) == (
        ("eagle", "chat", "1", "2.50", "1.31x"),
        ("eagle", "code", "3", "2.50", "1.31x"),
    )
    void = split(spec_arm(void=("warm",)))
    assert category_rows(Comparison("gpu8", "mixed", 1, (split(base), void))) == ()


def test_an_interruption_is_said():
    assert any("Interrupted" in line for line in comparison_words(comparison(interrupted=True)))


def test_json_gives_no_verdict_and_says_why():
    found = comparison_json(comparison(spec_arm()))
    assert (found["verdict"], found["why_no_verdict"]) == (None, ONE_LAUNCH)
    (standing,) = found["standings"]
    assert standing["break_even_accept_length"] == pytest.approx(1.875)
    assert standing["speedup"] == pytest.approx(2.1 / 1.6)
    assert "text" not in found["arms"][1]["result"]["requests"][0]
    assert found["arms"][0]["result"]["missing"]["accept_length"] == "speculation off"


def test_of_sampled_answers_nothing_is_said_and_why():
    base, arm = baseline_arm(), spec_arm()
    assert base.result is not None
    assert arm.result is not None
    warm = [replace(one, result=replace(one.result, temperature=0.7)) for one in (base, arm)]
    assert stand(base, arm).outputs is not None
    assert stand(*warm).outputs is None
    found = comparison_json(Comparison("h", "mixed", 1, tuple(warm)))["standings"][0]
    assert (found["outputs"], "sampled" in found["missing"]["outputs"]) == (None, True)
