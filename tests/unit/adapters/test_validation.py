"""Every problem of a file at once, each at its line and key."""

from __future__ import annotations

import pytest

from specctl.adapters.files import parse_toml
from specctl.adapters.validation import problems_of

PROFILE = """model_path = "/m"
extra = "--tp 2"
ready_timeout_s = 0
model = ""
unset = "x"

[arguments]
tp_size = 8
port = 1
enable-metrics = "yes"
--tp = 4

[speculation]
algorithm = 3
num_step = 3

[env]
A = true
"B C" = "x"
C = "secret:not a name"

[placement]
gpu = [0]
gpus = [0, -1, "2"]
port = 99999

[expectation]
accept_length = 0.5

[[corpora]]
name = "a"

[on.gpu8]
arguments = { tp_size = 1 }
placement = { ports = 1 }
labels = {}
"""


def rows(kind, text):
    problems = problems_of(kind, parse_toml(text.encode(), "f.toml"))
    return [(problem.line, problem.key, problem.nearest) for problem in problems]


def test_all_problems_of_a_profile_are_found_at_once():
    assert rows("profile", PROFILE.replace("--tp = 4\n", "tp = 4\n")) == [
        (1, "model_path", "model"),
        (2, "extra", ""),
        (3, "ready_timeout_s", ""),
        (4, "model", ""),
        (5, "unset", ""),
        (8, "arguments.tp_size", "tp-size"),
        (9, "arguments.port", ""),
        (10, "arguments.enable-metrics", ""),
        (11, "arguments.tp", "tp-size"),
        (14, "speculation.algorithm", ""),
        (15, "speculation.num_step", "num-steps"),
        (18, "env.A", ""),
        (19, 'env."B C"', ""),
        (20, "env.C", ""),
        (23, "placement.gpu", "gpus"),
        (24, "placement.gpus[1]", ""),
        (24, "placement.gpus[2]", ""),
        (25, "placement.port", ""),
        (28, "expectation.accept_length", ""),
        (30, "corpora[0].path", ""),
        (34, "on.gpu8.arguments.tp_size", "tp-size"),
        (35, "on.gpu8.placement.ports", "port"),
        (36, "on.gpu8.labels", ""),
    ]


def test_c14_the_profile_of_the_case_is_read_and_its_keys_are_named():
    data = b'\xef\xbb\xbfmodel_path = "/models/m"\r\nextra = "--tp 2"\r\n'
    problems = problems_of("profile", parse_toml(data, "p.toml"))
    assert [(p.line, p.key, p.nearest) for p in problems] == [
        (1, "model_path", "model"), (2, "extra", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('ssh = "a"', []),
        ('host = "192.0.2.1"\nport = 22\nuser = "u"', []),
        ('transport = "local"', []),
        ("", [(None, "", "")]),
        ('user = "u"', [(None, "", "")]),
        ('ssh = "a"\nhost = "b"', [(2, "host", "")]),
        ('transport = "local"\nssh = "a"\nport = 1', [(2, "ssh", ""), (3, "port", "")]),
        ('ssh = "a"\nhostname = "b"', [(2, "hostname", "host")]),
        ('ssh = "a"\nenviroment = {}', [(2, "enviroment", "env")]),
        ('ssh = "a"\ntransport = "telnet"', [(2, "transport", "")]),
        ('ssh = "a"\nread_only = "yes"', [(2, "read_only", "")]),
        ('ssh = "a"\nenter = "docker exec"', [(2, "enter", "")]),
        ('ssh = "a"\n[labels]\nn = 1', [(3, "labels.n", "")]),
        ('ssh = "a"\nmodel_dirs = "/m"', [(2, "model_dirs", "")]),
        ('ssh = "a"\nport = 0', [(2, "port", "")]),
        ('ssh = "a"\npython = "/p\\u0000"', [(2, "python", "")]),
        ('ssh = "a"\nenter = ["a", "b\\u0000"]', [(2, "enter[1]", "")]),
    ],
)
def test_remotes(text, expected):
    assert rows("remote", text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[speculation]\nalgorithm = "X"\nnum_step = 1',
            "SGLang spells its flags in lower case with dashes",
        ),
        ("ready_timeout_s = 0", "must be more than 0, not 0"),
        ("placement = 3", "must be a table, not the number 3"),
        ('[placement]\nport = "80"', "must be a whole number, not the string '80'"),
        ("[placement]\nport = 70000", "must be at most 65535, not 70000"),
        ("arguments = []", "must be a table, not a list"),
        ("description = 2026-01-01", "must be a string in quotes, not a date or time"),
        ("nonsense = 1", "no key nonsense in a profile file"),
        ("[arguments]\nnew = 2026-01-01", "is a date or time: write it as a string"),
        ('model = "a\\u0000b"', "holds a NUL character"),
        ('[on.x]\nmodel = "a\\u0000b"', "holds a NUL character"),
        ('[env]\nA = "a\\u0000b"', "holds a NUL character"),
        ("[[corpora]]\nname = 'a'", "is missing"),
        ("[arguments]\ntp-size = 1\ntensor-parallel-size = 2", "is the same flag as tp-size above"),
    ],
)
def test_sentences(text, message):
    (problem,) = problems_of("profile", parse_toml(text.encode(), "f.toml"))
    assert problem.message == message


def test_the_two_spellings_of_a_draft_model_are_one_key():
    text = b'[speculation]\nalgorithm = "EAGLE"\ndraft-model = "a"\ndraft-model-path = "b"'
    (problem,) = problems_of("profile", parse_toml(text, "f.toml"))
    assert (problem.line, problem.message) == (4, "is the same flag as draft-model above")


def test_a_flag_at_the_top_is_told_its_table():
    (problem,) = problems_of("profile", parse_toml(b"tp_size = 8", "f.toml"))
    assert problem.nearest == "tp-size in [arguments]"


def test_a_flag_that_is_not_known_is_a_warning_only():
    (problem,) = problems_of("profile", parse_toml(b"[arguments]\nfrobnicate = 1", "f.toml"))
    assert problem.is_warning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[throtle]\nfor_s = 3",
            "alerts.toml:1  throtle: no key throtle in alerts.toml. Nearest: throttle",
        ),
        (
            "[memory]\nraise_a = 3",
            "alerts.toml:2  memory.raise_a: no key raise_a in [memory]. Nearest: raise_at",
        ),
        ("[queue]\nfor_s = -1", "alerts.toml:2  queue.for_s: must be at least 0, not -1"),
        ('[lost]\non = "no"', "alerts.toml:2  lost.on: must be true or false, not the string 'no'"),
        (
            "[memory]\nraise_at = 90\nclear_at = 95",
            "alerts.toml:3  memory.clear_at: must be at most raise_at, 90, not 95",
        ),
        (
            "[breakeven]\nclear_at = 0.9",
            "alerts.toml:2  breakeven.clear_at: must be at least raise_at, 1, not 0.9",
        ),
        ("[lost]\nraise_at = 3", "alerts.toml:2  lost.raise_at: no key raise_at in [lost]"),
    ],
)
def test_rules_of_alerts(text, expected):
    toml = parse_toml(text.encode(), "alerts.toml")
    assert [str(problem) for problem in problems_of("rules", toml)] == [expected]
