from __future__ import annotations

from specctl.facts.source.restriction_kinds import kind_of
from tests.unit.facts.source.small import ARGUMENTS, SPEC, WHOLE, tree


def rules(found, name):
    (one,) = [a for a in found.algorithms if a.name == name]
    return [(r.effect, r.kind, r.words, r.condition) for r in one.restrictions]


def test_what_is_raised_asserted_warned_of_and_set_is_found():
    found = rules(tree(WHOLE), "EAGLE")
    assert found == [
        (
            "asserted", "top-k", "assert self.speculative_eagle_topk is None",
            "self.speculative_num_steps is None and not (self.speculative_eagle_topk is None)",
        ),
        ("rewritten", "steps", "speculative_num_steps = 5", "self.speculative_num_steps is None"),
        ("warned", "page-size", "page size {self.page_size} is no good", "self.page_size > 1"),
    ]  # fmt: skip


def test_what_a_called_function_refuses_is_the_callers():
    found = rules(tree(WHOLE), "NGRAM")
    assert found == [
        ("refused", "device", "NGRAM needs CUDA, not {device}.", "self.device != 'cuda'"),
        ("refused", "dp-attention", "No dp attention here.", "self.enable_dp_attention"),
    ]


def test_places_are_lines_of_the_file():
    found = tree(WHOLE)
    (device, _) = next(a for a in found.algorithms if a.name == "NGRAM").restrictions
    line = WHOLE[ARGUMENTS].split("\n")[(device.place.line or 0) - 1]
    assert "NGRAM needs CUDA" in line
    assert device.place.file == ARGUMENTS


def test_a_function_that_others_call_too_is_nobodys():
    calls = WHOLE[ARGUMENTS].replace(
        "def __post_init__(self):", "def __post_init__(self):\n            self.finish()"
    )
    found = rules(tree({**WHOLE, ARGUMENTS: calls}), "NGRAM")
    assert [words for _, _, words, _ in found] == ["NGRAM needs CUDA, not {device}."]


HOOK = """
    def handle(server_args):
        cfg = view(server_args)
        if cfg.speculative_algorithm is None:
            return
        if cfg.speculative_algorithm not in ("EAGLE", "NGRAM"):
            raise ValueError("--speculative-x supports EAGLE and NGRAM only")
        if cfg.speculative_algorithm == "EAGLE":
            return
        declare_resolution(server_args, "handle", speculative_eagle_topk=cfg.breadth)
    """


def test_a_guard_that_leaves_counts_for_what_follows_it():
    found = tree({**WHOLE, "srt/arg_groups/speculative_hook.py": HOOK})
    words = {
        one.name: [
            r.words
            for r in one.restrictions
            if r.place.file == "srt/arg_groups/speculative_hook.py"
        ]
        for one in found.algorithms
    }
    assert words == {
        "EAGLE": [],
        "EAGLE3": ["--speculative-x supports EAGLE and NGRAM only"],
        "NGRAM": ["speculative_eagle_topk = cfg.breadth"],
    }


def test_a_dispatcher_in_the_declarations_leads_to_the_handlers():
    spec = WHOLE[SPEC].replace(
        "        def create_worker",
        "        def handle_server_args(self, server_args):\n"
        "            if self.is_ngram():\n"
        "                _handle_ngram(server_args)\n\n"
        "        def create_worker",
    )
    hook = """
        def _handle_ngram(server_args):
            # specul
            raise ValueError("no n-grams today")
        """
    found = tree({**WHOLE, SPEC: spec, "srt/arg_groups/speculative_hook.py": hook})
    assert "no n-grams today" in [words for _, _, words, _ in rules(found, "NGRAM")]
    assert "no n-grams today" not in [words for _, _, words, _ in rules(found, "EAGLE")]


def test_functions_that_call_each_other_come_to_an_end():
    hook = """
        def one(server_args):
            if server_args.speculative_algorithm == "NGRAM":
                two(server_args)

        def two(server_args):
            one(server_args)
            raise ValueError("round and round")
        """
    found = tree({**WHOLE, "srt/arg_groups/speculative_hook.py": hook})
    assert "round and round" in [words for _, _, words, _ in rules(found, "NGRAM")]


def test_kinds_go_by_the_message_first():
    assert kind_of("Currently x does not support dp attention.", "self.page_size > 1") == (
        "dp-attention"
    )
    assert kind_of("this is not possible", "self.page_size > 1") == "page-size"
    assert kind_of("this is not possible", "") == "other"
