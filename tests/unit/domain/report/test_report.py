from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from xml.etree import ElementTree

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.report.markdown import write_markdown
from specctl.domain.report.page import Reported, write_page
from specctl.domain.report.plots import draw_acceptance, draw_steps
from specctl.domain.report.references import read_published
from specctl.domain.report.svg import Axis, Plot
from specctl.domain.trial.predicting import Predicted
from specctl.domain.trial.summary import summarise
from tests.unit.domain.trial.runs import trial_block, trial_blocks, trial_plan, voided

HOSTILE = (
    '"><script>document.title="ran"</script><img src=x onerror=alert(1)>&amp;|*[a](javascript:1)'
)
PUBLISHED = read_published(
    resources.files("specctl").joinpath("reference/published.csv").read_text("utf-8").splitlines()
)


def page(plan=None, blocks=None, **more):
    plan = plan or trial_plan(3)
    blocks = tuple(trial_blocks(3, speedup=1.3, plan=plan) if blocks is None else blocks)
    one = Reported(plan, blocks, (("host", "gpu8"),), (("base", 'model = "m"'),))
    return write_page([replace(one, **more)], PUBLISHED, "Made for a test.")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def tags(text):
    parser = Tags()
    parser.feed(text)
    return parser.seen


def test_the_page_says_the_verdict_and_draws_it():
    text = page()
    assert "<b>faster</b>" in text
    assert "eagle3 against base on gpu8" in text
    assert text.count("<svg ") == 6
    assert "a step costs 1.54 plain ones" in text
    assert "Published points: SpecForge SpecBundle (MIT)." in text
    assert "SIMULATED" not in text


def test_what_was_predicted_is_a_ring_of_its_own_and_a_sentence():
    predicted = Predicted(1, 1.25, 2.0, 1.6, "trial 91aa, 3 launches")
    text = page(trial_plan(3, predicted=(predicted,)))
    assert text.count('<circle class="expected"') == 1
    assert "by trial 91aa, 3 launches; measured 1.2" in text
    assert "x, first tokens and all: residual +3." in text
    bare = page()
    assert '<circle class="expected"' not in bare
    assert "predicted: not known (no prediction was made before this trial began)" in bare


def test_void_windows_are_outlined_and_say_why():
    hot = Void(VoidKind.ARM, "the GPU throttled")
    blocks = trial_blocks(3, speedup=1.3)
    text = page(blocks=[voided(blocks[1], hot), *blocks[:1], *blocks[2:]])
    assert text.count('class="launch void"') == 1
    assert "launch 2: eagle3: the GPU throttled" in text
    assert page().count('class="launch void"') == 0


def test_step_times_show_what_passes_between_the_steps_that_were_recorded():
    blocks = [replace(one, recorded_step_s={"1": 0.012}) for one in trial_blocks(3, speedup=1.3)]
    text = page(blocks=blocks)
    words = r"eagle3 at concurrency 1: 15\.\d\d ms a step, of which 3\.\d\d ms pass between"
    assert re.search(words, text)
    assert text.count('class="bar-between"') == 1, "a plain step is shorter than what was recorded"
    assert 'class="bar-base"' in text
    assert ">A at 1</text>" in text
    assert ">B at 1</text>" in text
    assert 'class="bar-between"' not in page()
    plan = trial_plan(3)
    assert draw_steps(plan, (), summarise(plan, ())) == ""


def test_void_windows_are_in_no_acceptance():
    loop = Void(VoidKind.ARM, "a loop")
    plan, blocks = trial_plan(3), trial_blocks(3, speedup=1.3)
    every = [voided(one, loop) if one.side == "B" else one for one in blocks]
    assert "accepted at least 1" in draw_acceptance(plan, blocks)
    assert "accepted at least 1" not in draw_acceptance(plan, every)


def test_a_practice_host_is_called_one():
    plan = trial_plan(3, is_simulated=True)
    assert "SIMULATED: measured on a practice host" in page(plan)
    one = Reported(plan, tuple(trial_blocks(3, plan=plan)), (), ())
    assert "SIMULATED" in write_markdown([one], "")


def test_nothing_on_the_page_is_loaded_or_run():
    plan = trial_plan(
        3, baseline=HOSTILE, profile=HOSTILE, host=HOSTILE, workload=HOSTILE, id=HOSTILE
    )
    blocks = [
        *trial_blocks(3, plan=plan, speedup=1.3),
        trial_block(plan, 0, attempt=1, failure=HOSTILE, own=True),
    ]
    text = page(plan, blocks, conditions=((HOSTILE, HOSTILE),), recipes=((HOSTILE, HOSTILE),))
    found = tags(text)
    assert not {tag for tag, _ in found} & {
        "script",
        "img",
        "iframe",
        "link",
        "object",
        "a",
        "form",
    }
    for _, attributes in found:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert "default-src 'none'" in text
    assert not re.search(r"https?:|@import", text)
    assert "&lt;script&gt;" in text


def test_every_plot_is_well_formed():
    plan = trial_plan(3, baseline=HOSTILE, profile="b\x00\x1f", host="ü")
    for svg in re.findall(r"<svg .*?</svg>", page(plan), re.DOTALL):
        ElementTree.fromstring(svg.replace("\x00", "").replace("\x1f", ""))


def test_the_same_trial_gives_the_same_page():
    assert page() == page()


@pytest.mark.parametrize("pairs", [0, 1])
def test_a_trial_with_hardly_anything_in_it_has_a_page(pairs):
    text = page(trial_plan(8), trial_blocks(pairs, plan=trial_plan(8)))
    assert "<b>open</b>" in text


def test_markdown_has_no_markup_of_a_hosts():
    plan = trial_plan(3, profile=HOSTILE, host="gpu\n# 8")
    text = write_markdown([Reported(plan, tuple(trial_blocks(3, plan=plan)), (), ())], "made")
    assert "<script>" not in text
    assert "\n# 8" not in text
    assert "[a](" not in text
    assert text.splitlines()[2].startswith("**")


def test_published_points_are_read_and_the_implausible_named():
    assert len(PUBLISHED) > 30
    odd = [one for one in PUBLISHED if not one.is_plausible]
    assert {one.model for one in odd} == {"Llama-4-Scout-17B-16E-Instruct"}
    llama = next(p for p in PUBLISHED if p.model.startswith("Llama-3.1-8B") and p.num_steps == 3)
    assert (llama.accept_length, llama.speedup) == pytest.approx((2.92, 2.13), abs=0.011)


def test_an_axis_of_names_has_no_numbers():
    assert Axis("", 0.0, 2.0, has_ticks=False).ticks() == ()
    assert Axis("", 0.0, 2.0).ticks() == (0.0, 0.5, 1.0, 1.5, 2.0)


def test_axes_have_round_ticks_inside():
    axis = Axis.around("x", [0.0, 9.7])
    assert axis.ticks() == (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    empty = Axis.around("x", [])
    assert (empty.low < 0, empty.high > 1) == (True, True)
    same = Axis.around("x", [5.0, 5.0, float("nan")])
    assert same.low < 5 < same.high
    plot = Plot("t", axis, axis)
    assert plot.at(axis.low, axis.low)[0] < plot.at(axis.high, axis.low)[0]
