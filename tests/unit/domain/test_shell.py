"""Shell scripts, units and docker commands read without running anything."""

from __future__ import annotations

import shlex
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.docker_run import docker_start, read_docker_run
from specctl.domain.errors import UsageError
from specctl.domain.shell_script import read_script
from specctl.domain.systemd_unit import read_unit


def words(text):
    """Of the last command of a script."""
    return list(read_script(text).commands[-1].words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("a \\\n  b", ["a", "b"]),
        ("a \\\r\n  b\r\n", ["a", "b"]),
        ("\ufeffa b", ["a", "b"]),
        ("a b # comment", ["a", "b"]),
        ("a b#c", ["a", "b#c"]),
        ("a '' b", ["a", "", "b"]),
        ("X=1; a $X ${X}2 '$X' \"$X\"", ["a", "1", "12", "$X", "1"]),
        ("X='b c'; a $X \"$X\"", ["a", "b", "c", "b c"]),
        ("X=a; X+=b; a $X", ["a", "ab"]),
        ("X=(b 'c d'\n # no\n e); X+=(f); a \"${X[@]}\"", ["a", "b", "c d", "e", "f"]),
        ("a ${X:-b c} ${Y-d}", ["a", "b", "c", "d"]),
        ("X=/m/target; a ${X%/*}/draft ${X##*/} ${X#/m}", ["a", "/m/draft", "target", "/target"]),
        ("X=; a ${X:+b} ${X:-c}", ["a", "c"]),
        ("a $'b\\nc'", ["a", "b\nc"]),
        ('a "b\\"c\\$d\\\\e\\x"', ["a", 'b"c$d\\e\\x']),
        ("a <rank> <head>:20000", ["a", "<rank>", "<head>:20000"]),
        ("a $MISSING", ["a", "<MISSING>"]),
        ("a $(nproc --all)", ["a", "<nproc --all>"]),
        ("a `hostname`", ["a", "<hostname>"]),
        ("a b$", ["a", "b$"]),
        ('a "$@" b', ["a", "b"]),
        ("a > out.log 2>&1", ["a"]),
        ("cat <<'EOF' > x\nit's \"open\nEOF\na b", ["a", "b"]),
        ("cat <<-E\n\tno\n\tE\na b", ["a", "b"]),
        ("cat <<<'x'; a b", ["a", "b"]),
        ("unset X; X=1; unset X; a $X", ["a", "<X>"]),
    ],
)
def test_words_are_expanded_as_a_shell_would(text, expected):
    assert words(text) == expected


def test_exported_variables_reach_the_command_and_others_do_not():
    text = "A=1\nexport B=2 C\nC=3; export C\nD=4 run\n"
    (command,) = read_script(text).commands
    assert command.environment == {"B": "2", "C": "3", "D": "4"}
    assert command.line == 4


def test_what_is_not_followed_is_remarked_on():
    script = read_script("source env.sh\nif true; then\n  a $(id) $1 > log\nfi\n")
    (command,) = script.commands
    assert command.words == ("a", "<id>", "<argument 1>")
    assert command.redirections == (">log",)
    assert script.remarks == [
        "line 1: `source env.sh` is not read",
        "line 2: `if` is not followed; every branch is read",
        "line 3: $(id) is never run here: fill it in",
        "line 3: $1 is not set in this text: fill it in",
        "line 4: `fi` is not followed; every branch is read",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("--chat-template '/models/my template.jinja\n", "line 1, column 17: '"),
        ('run\n a "b', 'line 2, column 4: "'),
        ("a $(b", "line 1, column 3: $("),
        ("X=(a b", "line 1, column 3: ("),
        ("a `b", "line 1, column 3: `"),
    ],
)
def test_e06_an_open_quote_is_shown_with_its_place(text, place):
    with pytest.raises(UsageError) as caught:
        read_script(text)
    assert caught.value.message.startswith(place)


@given(st.lists(st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"]))))
def test_e06_quoted_words_come_back_as_they_were(argv):
    text = shlex.join(["program", *argv])
    assert words(text) == ["program", *argv]


@given(st.text())
def test_no_text_breaks_the_reader(text):
    with suppress(UsageError):
        read_script(text)


def test_docker_options_end_at_the_image():
    line = shlex.split(
        "sudo docker run -it --rm --init -eA=1 -e B --env=C='x y' --gpus '\"device=2,3\"' "
        "--shm-size 16g --entrypoint python3 -p 1:2 image:tag -m sglang.launch_server"
    )
    start = docker_start(line)
    assert start == 3
    run = read_docker_run(line[start:])
    assert run.image == "image:tag"
    assert run.words == ("python3", "-m", "sglang.launch_server")
    assert run.environment == {"A": "1", "B": None, "C": "x y"}
    assert run.gpus == (2, 3)
    assert "--shm-size 16g is left out" in run.remarks


def test_a_unit_is_read_as_systemd_reads_it():
    unit = read_unit(
        '[Unit]\nExecStart=no\n[Service]\nEnvironment=A=1 "B=x y"\nEnvironment=A=2\n'
        "EnvironmentFile=-/etc/x\n; note\nExecStart=-/bin/run \\\n# inside\n  --a ${A} 'b c' $Z\n"
        "Restart=always\nUser=svc\n"
    )
    assert unit.words == ("/bin/run", "--a", "2", "b c", "<Z>")
    assert unit.environment == {"A": "2", "B": "x y"}
    assert unit.remarks == [
        "EnvironmentFile /etc/x is not read: add what it sets",
        "User=svc is left out",
        "$Z is not set in this unit: fill it in",
    ]
