"""Profiles: where a finding is, what the host and the models add, and whose word counts."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.adapters.toml_positions import positions
from specctl.domain import flags
from specctl.domain.checkpoint.values import ModelConfig
from specctl.domain.host import Host
from specctl.domain.inheritance import Document
from specctl.domain.lint.build import Build
from specctl.domain.lint.case import Surroundings
from specctl.domain.lint.engine import lint
from specctl.domain.lint.finding import Severity, by_line, worst
from specctl.domain.profile import Corpus, Profile, Speculation
from specctl.domain.resolve import resolve
from specctl.domain.source import Algorithm, Flag, Place, Tree

LATEST = Build("0.5.23", is_assumed=False)


def profile(algorithm=None, arguments=None, **fields):
    speculation = Speculation(algorithm, arguments or {}) if algorithm else None
    return Profile(name="p", model="/m", file="profiles/p.toml", speculation=speculation, **fields)


def found(one, build=LATEST, **around):
    findings = lint(one, build, Surroundings(**around)).findings
    return [(f.rule, f.severity.value, f.key) for f in findings if f.severity is not Severity.HINT]


def document(name, text):
    return Document(name, f"profiles/{name}.toml", tomllib.loads(text), positions(text))


def resolved(*documents, name="child"):
    one, problems = resolve(name, {d.name: d for d in documents})
    assert one is not None, problems
    return one


PARENT = """\
model = "/m"
[arguments]
enable-mixed-chunk = true
cuda-graph-bs-decode = [
  1,
  "two",
]
"""


def test_a_finding_is_at_the_line_of_the_file_that_sets_the_value():
    child = """\
extends = "parent"
speculation.algorithm = "NGRAM"
speculation . "eagle-topk" = 4
env = { SGLANG_ENABLE_SPEC_V2 = "1" }
"""
    one = resolved(document("parent", PARENT), document("child", child))
    places = {f.rule: (f.file, f.line, f.key) for f in lint(one, LATEST).findings}
    assert places["ngram-topk"] == ("profiles/child.toml", 3, "speculation.eagle-topk")
    assert places["mixed-chunk"] == ("profiles/parent.toml", 3, "arguments.enable-mixed-chunk")
    assert places["stale-variable"] == ("profiles/child.toml", 4, "env.SGLANG_ENABLE_SPEC_V2")
    assert places["ngram-draft-tokens"][1] == 2


def test_an_item_of_a_list_has_a_line_of_its_own():
    one = resolved(document("child", PARENT))
    tree = Tree(
        "/sglang", "0.5.23", None,
        flags=(Flag("--model-path", "str"), Flag("--enable-mixed-chunk", "bool", is_switch=True),
               Flag("--cuda-graph-bs-decode", "int", takes_many=True)),
    )  # fmt: skip
    (finding,) = lint(one, Build("0.5.23", is_assumed=False, tree=tree)).findings
    assert (finding.rule, finding.line) == ("value-of-wrong-kind", 6)
    assert finding.key == "arguments.cuda-graph-bs-decode[1]"


def test_a_value_of_an_inline_table_and_of_a_host_override():
    text = """\
model = "/m"
speculation = { algorithm = "NGRAM", eagle-topk = 2 }
[on.gpu8]
arguments = { page-size = 16, attention-backend = "triton" }
"""
    one, _ = resolve("p", {"p": document("p", text)}, on=Host("gpu8"))
    assert one is not None
    lines = {f.rule: f.line for f in lint(one, LATEST).findings}
    assert (lines["ngram-topk"], lines["ngram-pages"]) == (2, 4)


def test_a_variable_of_the_host_is_in_the_file_of_the_host():
    host = Host("gpu8", environment={"SGLANG_ENABLE_SPEC_V2": "1"}, file="remotes/gpu8.toml")
    (finding,) = lint(profile(), LATEST, Surroundings(), host).findings
    assert (finding.rule, finding.file, finding.line) == ("stale-variable", host.file, None)


def test_findings_by_line_for_marks_beside_a_text():
    one = resolved(document("child", PARENT + '[speculation]\nalgorithm = "STANDALONE"\n'))
    findings = lint(one, LATEST).findings
    marks = by_line(findings, "profiles/child.toml")
    assert worst(marks[3]) is Severity.REWRITE
    assert worst(marks[9]) is Severity.WARNING
    assert by_line(findings, "profiles/other.toml") == {}
    assert worst(()) is None


CHAIN = {"num-steps": 3, "eagle-topk": 1, "num-draft-tokens": 4}
LLAMA = ModelConfig(("LlamaForCausalLM",), vocab_size=256_000)


def test_a01_an_eagle3_draft_under_eagle_is_refused_where_its_config_is_at_hand():
    one = profile("EAGLE", {**CHAIN, "draft-model-path": "/models/target-eagle3"})
    assert found(one) == [("eagle3-draft-under-eagle", "warning", "speculation.algorithm")]
    draft = ModelConfig(("LlamaForCausalLMEagle3",), draft_vocab_size=32_000)
    assert found(one, draft_config=draft) == [
        ("eagle3-draft-under-eagle", "error", "speculation.algorithm")
    ]
    right = profile("EAGLE3", {**CHAIN, "draft-model-path": "/models/target-eagle3"})
    assert found(right, draft_config=draft) == []


def test_a03_numbers_that_the_server_would_rewrite_or_refuse():
    asked = {"num-steps": 4, "eagle-topk": 1, "num-draft-tokens": 24, "draft-model-path": "/d"}
    linted = lint(profile("NEXTN", asked), LATEST)
    rewrite = next(f for f in linted.findings if f.severity is Severity.REWRITE)
    assert rewrite.message.startswith("the server will change 24 to 5")
    assert linted.resolved["speculative-num-draft-tokens"] == 5
    assert linted.resolved["speculative-algorithm"] == "EAGLE"
    assert linted.resolved["max-running-requests"] == 48
    block = {"num-draft-tokens": 7, "dflash-block-size": 16, "draft-model-path": "/d"}
    assert found(profile("DFLASH", block)) == [
        ("dflash-block-size", "error", "speculation.dflash-block-size")
    ]
    tree = {"num-steps": 3, "eagle-topk": 4, "num-draft-tokens": 8, "draft-model-path": "/d"}
    paged = {"page-size": 64, "attention-backend": "flashmla"}
    one = profile("EAGLE", tree)
    assert found(Profile(**{**_fields(one), "arguments": paged})) == [
        ("eagle-tree-pages", "error", "arguments.page-size")
    ]


def _fields(one):
    return {name: getattr(one, name) for name in Profile.__dataclass_fields__}


def test_a04_a_standalone_draft_with_another_vocabulary():
    one = profile("STANDALONE", {**CHAIN, "draft-model-path": "/d"})
    draft = ModelConfig(("LlamaForCausalLM",), vocab_size=49_152)
    known: dict[str, Any] = {"target_config": LLAMA, "draft_config": draft}
    assert found(one, **known) == [
        ("standalone-vocabulary", "error", "speculation.draft-model-path")
    ]
    old = lint(one, Build("0.5.5", is_assumed=False), Surroundings(**known)).findings
    assert any("would answer garbage" in finding.message for finding in old)


def test_a18_the_knob_of_the_graphs_has_the_name_of_its_version():
    old, new = {"cuda-graph-max-bs": 16}, {"cuda-graph-max-bs-decode": 16}
    before = Build("0.5.9", is_assumed=False)
    assert found(Profile("p", "/m", arguments=old), before) == []
    assert found(Profile("p", "/m", arguments=new)) == []
    (finding,) = lint(Profile("p", "/m", arguments=old), LATEST).findings
    assert (finding.rule, finding.severity) == ("ambiguous-flag", Severity.ERROR)
    assert finding.nearest == "cuda-graph-max-bs-decode"
    assert found(Profile("p", "/m", arguments=old), Build())[0][1] == "warning"
    (other,) = lint(Profile("p", "/m", arguments=new), before).findings
    assert (other.rule, other.severity) == ("unknown-flag", Severity.ERROR)
    assert "0.5.14 and later" in other.message


def test_a22_removed_flags_and_variables_are_named_with_what_took_their_place():
    old = {
        "ngram-min-match-window-size": 1, "ngram-max-match-window-size": 12,
        "ngram-branch-length": 18,
    }  # fmt: skip
    one = profile("NGRAM", old, environment={"SGLANG_ENABLE_SPEC_V2": "1"})
    findings = {f.key: f for f in lint(one, LATEST).findings}
    branch = findings["speculation.ngram-branch-length"]
    assert (branch.severity, branch.nearest) == (Severity.ERROR, "ngram-max-trie-depth")
    assert "0.5.3 to 0.5.9" in branch.message
    assert findings["env.SGLANG_ENABLE_SPEC_V2"].severity is Severity.WARNING
    assert found(one, Build("0.5.9", is_assumed=False)) == []
    foreign = Profile("p", "/m", arguments={"num-speculative-tokens": 3})
    (finding,) = lint(foreign, LATEST).findings
    assert (finding.severity, finding.nearest) == (Severity.ERROR, "speculative-num-draft-tokens")


def test_a24_two_watchdogs_are_two_flags_of_the_build():
    arguments = {"watchdog-timeout": 300, "dist-timeout": 600, "soft-watchdog-timeout": 60}
    assert found(Profile("p", "/m", arguments=arguments)) == []
    (finding,) = lint(Profile("p", "/m", arguments={"watchdog_timeout": 300}), LATEST).findings
    assert finding.nearest == "watchdog-timeout"


def test_e06_values_arrive_as_words_and_are_judged_as_such():
    arguments: dict[str, Any] = {
        "json-model-override-args": {"a": "b c"}, "served-model-name": "it's $HOME a!b",
        "chat-template": "/models/my template.jinja", "cuda-graph-bs-decode": (1, 2),
    }  # fmt: skip
    assert found(Profile("p", "/m", arguments=arguments)) == []
    assert found(profile("NGRAM", {"ngram-capacity": "1e6"}))[0][0] == "value-of-wrong-kind"
    quoted = found(profile("NGRAM", {"ngram-match-type": "'BFS'"}))
    assert quoted == [("value-outside-choices", "error", "speculation.ngram-match-type")]


def test_corpora_need_a_budget_and_ngram():
    corpora = (Corpus("c", "/c"),)
    assert found(profile(corpora=corpora)) == [("ngram-corpora", "error", "corpora")]
    unused = [("ngram-corpora-unused", "warning", "corpora")]
    assert found(profile("NGRAM", corpora=corpora)) == unused
    assert found(profile("NGRAM", {"ngram-external-sam-budget": 4}, corpora=corpora)) == []
    much = profile("NGRAM", {"ngram-external-sam-budget": 12}, corpora=corpora)
    assert found(much)[0][:2] == ("ngram-corpora", "error")


@pytest.mark.parametrize(
    ("memory_gib", "severity"), [(None, "hint"), (1024, None), (100, "warning"), (14, "error")]
)
def test_the_trie_is_weighed_against_the_memory_of_the_host(memory_gib, severity):
    one = profile("NGRAM", environment={})
    one = Profile(**{**_fields(one), "arguments": {"tp-size": 8}})
    memory = None if memory_gib is None else memory_gib << 30
    findings = lint(one, LATEST, Surroundings(memory_bytes=memory)).findings
    spoken = [f for f in findings if f.rule == "ngram-memory"]
    assert [f.severity.value for f in spoken] == ([severity] if severity else [])
    if severity:
        assert "13.1 GiB" in spoken[0].message


def test_the_backend_is_foreseen_where_the_gpus_are_known():
    paged = Profile(**{**_fields(profile("NGRAM")), "arguments": {"page-size": 16}})
    assert found(paged) == [("ngram-pages", "warning", "arguments.page-size")]
    assert found(paged, device="cuda", capability=(9, 0)) == [
        ("ngram-pages", "error", "arguments.page-size")
    ]
    assert found(paged, device="cuda", capability=(8, 0)) == []


FLAGS = (
    Flag("--model-path", "str"),
    Flag("--speculative-algorithm", "str"),
    Flag("--speculative-num-steps", "int"),
    Flag("--speculative-brand-new", "int"),
    Flag("--attention-backend", "str", choices=("fa9", "flashinfer")),
    Flag("--speculative-draft-attention-backend", "str"),
    Flag("--old", "str", is_deprecated=True, replacement="--new"),
    Flag("--older", "str", refusal="gone since 0.6", replacement="--new"),
    Flag("--new", "str", place=Place("srt/fields.py", 7)),
)
TREE = Tree("/sglang", "0.6.0", "abc", (Algorithm("EAGLE"), Algorithm("MEDUSA")), FLAGS)


def test_a_newer_build_needs_no_newer_specctl():
    build = Build("0.6.0", is_assumed=False, tree=TREE)
    assert found(profile("MEDUSA", {"brand-new": 3}), build) == []
    assert found(profile("NGRAM"), build)[0] == (
        "algorithm-unknown", "error", "speculation.algorithm",
    )  # fmt: skip
    assert found(profile("MEDUSA", {"draft-attention-backend": "fa3"}), build) == [
        ("draft-attention-backend", "error", "speculation.draft-attention-backend")
    ]
    arguments = {"old": "1", "older": "1"}
    findings = lint(Profile("p", "/m", arguments=arguments), build).findings
    assert [(f.rule, f.fix) for f in findings] == [
        ("retired-flag", "write --new"), ("deprecated-flag", "write --new"),
    ]  # fmt: skip


def test_a_flag_of_a_build_that_was_read_in_part_is_not_called_unknown():
    tree = replace(TREE, flags=FLAGS[2:])
    (one, *_) = [
        f
        for f in lint(profile("EAGLE"), Build("0.6.0", is_assumed=False, tree=tree)).findings
        if f.rule == "unknown-flag"
    ]
    assert (one.severity, one.fix) == (
        Severity.WARNING, "look what specctl inspect could not read",
    )  # fmt: skip
    assert "was not found in SGLang 0.6.0, some of whose flags are unread" in one.message


def test_the_names_a_build_takes_are_said_once_each():
    tree = Tree("/x", "0.5.2", None, algorithms=(Algorithm("EAGLE"), Algorithm("NEWER")))
    build = Build("0.5.2", is_assumed=False, tree=tree)
    (one,) = [f for f in lint(profile("NGRAM"), build).findings if f.severity is Severity.ERROR]
    assert one.fix == "one of EAGLE, NEWER"


def test_a_build_without_speculation_says_so():
    tree = Tree(
        "/sglang", "0.4.1", "abc", (), (Flag("--model-path", "str"),), has_speculation=False
    )
    build = Build("0.4.1", is_assumed=False, tree=tree)
    findings = lint(profile("EAGLE"), build).findings
    assert findings[0].rule == "unknown-flag"


ASSERTING = 'raise ValueError("UNO requires --uno-lora-path.")\n'


@pytest.mark.parametrize(
    ("version", "text", "severity"),
    [
        ("0.5.23", ASSERTING, "error"),
        ("0.5.23", "pass\n", "hint"),
        ("0.7.0", ASSERTING, "error"),
        ("0.7.0", "pass\n", "hint"),
        ("0.5.19", ASSERTING, None),
    ],
)
def test_the_source_at_hand_has_the_last_word(version, text, severity):
    texts = {"srt/arg_groups/speculative_hook.py": text}
    build = Build(version, is_assumed=False, texts=texts)
    findings = lint(profile("UNO", {"num-draft-tokens": 4}), build).findings
    spoken = [f for f in findings if f.rule == "uno-lora"]
    assert [f.severity.value for f in spoken] == ([severity] if severity else [])
    if severity == "error":
        assert str(spoken[0].place) == "srt/arg_groups/speculative_hook.py:1"
        assert spoken[0].source_line == ASSERTING.strip()
    if severity == "hint":
        assert "the source of this build has no such line" in spoken[0].message


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
KEYS = st.one_of(st.sampled_from(sorted(flags.KNOWN)), st.text(min_size=1, max_size=9))


@given(
    algorithm=st.one_of(st.none(), st.sampled_from(flags.ALGORITHMS), st.text(max_size=6)),
    speculation=st.dictionaries(
        st.one_of(st.sampled_from(sorted(flags.SPECULATION_KEYS)), st.text(max_size=5)), VALUES
    ),
    arguments=st.dictionaries(KEYS, VALUES),
    environment=st.dictionaries(st.text(max_size=6), st.text(max_size=6)),
    version=st.sampled_from(("0.4.1", "0.4.2", "0.5.5", "0.5.16", "0.5.23", "?", "9.9.9")),
)
def test_no_value_is_too_odd(algorithm, speculation, arguments, environment, version):
    one = Profile(
        "p", "/m", arguments=arguments, environment=environment,
        speculation=None if algorithm is None else Speculation(algorithm, speculation),
    )  # fmt: skip
    linted = lint(one, Build(version, is_assumed=False))
    assert all(finding.message for finding in linted.findings)
