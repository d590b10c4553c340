from __future__ import annotations

import pytest

from tests.unit.facts.source.small import (
    ARGUMENTS,
    CALLS,
    ENUM,
    NATIVE,
    REGISTRY,
    SPEC,
    WHOLE,
    tree,
)


def of(found, name):
    (one,) = [a for a in found.algorithms if a.name == name]
    return one


def problems(found):
    return [f"{p.place}: {p.words}" for p in found.problems]


def test_an_enumeration_is_read_with_aliases_and_places():
    found = tree(WHOLE)
    assert [a.name for a in found.algorithms] == ["EAGLE", "EAGLE3", "NGRAM"]
    assert of(found, "EAGLE").aliases == ("NEXTN",)
    assert (found.algorithm("nextn"), found.algorithm("x")) == (of(found, "EAGLE"), None)
    assert str(of(found, "NGRAM").place) == f"{SPEC}:8"
    assert (found.version, found.problems) == ("0.5.9", ())


def test_a_worker_is_the_one_that_no_other_condition_guards():
    found = tree(WHOLE)
    eagle, ngram = of(found, "EAGLE3"), of(found, "NGRAM")
    assert eagle.worker == "srt/speculative/eagle_worker.py:EagleWorker"
    assert eagle.other_workers == ("srt/speculative/layers_worker.py:LayersWorker",)
    assert (ngram.worker, ngram.other_workers) == (
        "srt/speculative/ngram_worker.py:NgramWorker", (),
    )  # fmt: skip


def test_files_are_what_is_imported_at_once_and_the_native_ones():
    found = tree(WHOLE, names=NATIVE)
    assert of(found, "EAGLE").files == (
        "srt/speculative/eagle_worker.py",
        "srt/speculative/shared.py",
        "kernels/jit/csrc/kernels/tree.cuh",
    )
    assert of(found, "NGRAM").files == (
        "srt/speculative/ngram_worker.py",
        "srt/speculative/cpp_ngram/corpus.py",
        "srt/speculative/shared.py",
        "kernels/jit/csrc/kernels/tree.cuh",
        "srt/speculative/cpp_ngram/corpus.cpp",
        "srt/speculative/cpp_ngram/param.h",
    )


REGISTERED = """
    def _make_eagle(**kwargs):
        if kwargs.pop("enable_overlap", False):
            enable_overlap = True
        if enable_overlap:
            from sglang.srt.speculative.eagle_worker_v2 import EagleV2
            return EagleV2(**kwargs)
        from sglang.srt.speculative.eagle_worker import EagleWorker
        return EagleWorker(**kwargs)

    class SpeculativeAlgorithm(metaclass=Meta):
        __slots__ = ("name",)

        def is_eagle(self):
            return self._has_flag("EAGLE")

    SpeculativeAlgorithm.register("NONE")
    register_speculative_algorithm(
        "EAGLE", aliases=("NEXTN", "nextn2"), worker_cls=_make_eagle, flags=("EAGLE",)
    )
    register_speculative_algorithm("EAGLE3", _make_eagle, flags=("EAGLE", "EAGLE3"))
    """


def test_a_registry_is_read_with_its_aliases_and_factories():
    found = tree({**WHOLE, SPEC: REGISTERED})
    assert [(a.name, a.aliases) for a in found.algorithms] == [
        ("EAGLE", ("NEXTN", "NEXTN2")), ("EAGLE3", ()),
    ]  # fmt: skip
    assert of(found, "EAGLE3").worker == "srt/speculative/eagle_worker.py:EagleWorker"
    assert of(found, "EAGLE").other_workers == ("srt/speculative/eagle_worker_v2.py:EagleV2",)


def test_the_worker_with_overlap_is_the_default_where_the_build_switches_it_on():
    files = {**WHOLE, SPEC: REGISTERED}
    files["srt/environ.py"] = "class Envs:\n    SGLANG_ENABLE_SPEC_V2 = EnvBool(True)\n"
    assert of(tree(files), "EAGLE").worker == "srt/speculative/eagle_worker_v2.py:EagleV2"
    files["srt/environ.py"] = files["srt/environ.py"].replace("True", "False")
    assert of(tree(files), "EAGLE").worker == "srt/speculative/eagle_worker.py:EagleWorker"


def test_a_scheduler_that_chooses_the_worker_is_read():
    enum = ENUM[: ENUM.index("        def create_worker")]
    scheduler = """
        class Scheduler:
            def start(self):
                if self.spec_algorithm.is_eagle():
                    from sglang.srt.speculative.eagle_worker import EagleWorker
                    self.draft = EagleWorker()
                elif self.spec_algorithm.is_ngram():
                    from sglang.srt.speculative.ngram_worker import NgramWorker
                    self.draft = NgramWorker()
        """
    found = tree({**WHOLE, SPEC: enum, "srt/managers/scheduler.py": scheduler})
    assert of(found, "EAGLE3").worker == "srt/speculative/eagle_worker.py:EagleWorker"
    assert of(found, "NGRAM").worker == "srt/speculative/ngram_worker.py:NgramWorker"


def test_no_worker_is_guessed():
    found = tree({**WHOLE, SPEC: ENUM[: ENUM.index("        def create_worker")]})
    assert of(found, "NGRAM").worker is None
    assert of(found, "NGRAM").files == ()
    assert f"{SPEC}:8: the worker of NGRAM cannot be told" in problems(found)


def test_a_build_without_speculation_says_so_and_is_no_problem():
    calls = CALLS.replace('"--speculative-', '"--x-').replace("speculative_", "x_")
    found = tree({ARGUMENTS: calls})
    assert (found.has_speculation, found.algorithms, found.problems) == (False, (), ())


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({SPEC: "class SpeculativeAlgorithm:\n    pass\n"}, "declared in a way that is not known"),
        ({SPEC: "def broken(:\n"}, "not valid Python"),
        ({SPEC: "x = 1\0"}, "not "),
        ({"srt/speculative/eagle_worker.py": "class (:\n"}, "not valid Python"),
        ({ARGUMENTS: "class ServerArgs:\n    pass\n"}, "flags are declared in a way"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_the_rest_still_read(files, words):
    found = tree({**WHOLE, **files})
    (file,) = files
    assert any(p.startswith(file) and words in p for p in problems(found)), problems(found)
    assert found.version == "0.5.9"
    if file != SPEC:
        assert [a.name for a in found.algorithms] == ["EAGLE", "EAGLE3", "NGRAM"]
    if file != ARGUMENTS:
        assert found.flag("--speculative-eagle-topk") is not None


def test_what_python_only_warns_of_is_no_problem():
    found = tree({**WHOLE, "srt/speculative/shared.py": 'PATTERN = "\\d"\nSAME = 1 is 1\n'})
    assert found.problems == ()


def test_a_folder_of_speculation_without_its_declarations_is_a_problem():
    files = {name: text for name, text in WHOLE.items() if name != SPEC}
    found = tree(files)
    assert found.has_speculation
    assert any("the algorithms of this build are unknown" in p for p in problems(found))


def test_a_reserved_alias_that_stands_for_nothing_known_is_a_problem():
    registry = '_RESERVED_ALIASES = frozenset({"NEXTN", "OTHER"})\n'
    found = tree({**WHOLE, REGISTRY: registry})
    assert problems(found) == [f"{REGISTRY}: what OTHER stands for cannot be told"]


def test_drafts_are_told_by_the_names_of_their_architectures():
    models = {
        "srt/models/a.py": "\n\nEntryClass = [LlamaForCausalLM, LlamaForCausalLMEagle]",
        "srt/models/b.py": "EntryClass = LlamaForCausalLMEagle3  # one",
        "srt/models/c.py": "EntryClass: list = (\n  OneForCausalLMNextN,\n  # Old,\n  TwoMTP,\n)",
    }
    found = tree(WHOLE, excerpts=models)
    assert of(found, "EAGLE").draft_architectures == (
        "LlamaForCausalLMEagle", "OneForCausalLMNextN", "TwoMTP",
    )  # fmt: skip
    assert of(found, "EAGLE3").draft_architectures == ("LlamaForCausalLMEagle3",)
    assert of(found, "NGRAM").draft_architectures == ()
