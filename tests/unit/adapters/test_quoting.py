from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specctl.adapters.quoting import quote_for_any_shell

SHELLS = {
    shell: shutil.which(shell) for shell in ("sh", "bash", "fish", "tcsh", "csh", "zsh", "ksh")
}
NEEDED = {"sh": "dash", "bash": "bash", "fish": "fish", "tcsh": "tcsh"}
ECHO = "import sys,json; print(json.dumps(sys.argv[1:]))"
ARGUMENTS = (
    (),
    ("",),
    ("", "x", ""),
    ("two words", " ", "\t"),
    ("!", "!!", "a!b", "!$", "\\!"),
    ("$HOME", "${HOME}", "`id`", "$(id)", "$", "$$"),
    ("'", "''", '"', "'\"'", "it's"),
    ("\\", "\\\\", "a\\", "\\n", "\\'", "\\0101", "\\c"),
    ("\n", "a\nb", "\n\n", "a\n", "\r\n"),
    ("-n", "--", "-e", "-"),
    ("é", "日本", "🎉", "\x7f", "\x01\x1b[31m"),
    ("~", "~root", "*", "?", "[a]", "{a,b}", "{}", "#x"),
    ("=ls", "a=b", "%self", "^a^b", "%d%s%%", "@x", "+x", ",", ":"),
    ("a;b", "a&b", "a|b", "<x", ">y", "(a)", "&&"),
    ('{"method": "x", "n": [1, 2]}', "--port=3"),
    ("x" * 3000 + "!", "é" * 1500),
)


def _argv_as_read(shell: str, argv: tuple[str, ...]) -> list[str]:
    command = quote_for_any_shell((sys.executable, "-I", "-c", ECHO, *argv))
    done = subprocess.run([shell, "-c", command], capture_output=True, cwd="/", timeout=30)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.mark.parametrize("shell", NEEDED)
def test_the_shells_of_the_cases_are_installed(shell):
    assert SHELLS[shell] is not None, f"{shell} is missing: install the package {NEEDED[shell]}"


@pytest.mark.parametrize("name", [name for name, path in SHELLS.items() if path])
def test_c04_e06_every_shell_reads_the_same_arguments(name):
    shell = SHELLS[name]
    assert shell is not None
    for argv in ARGUMENTS:
        assert _argv_as_read(shell, argv) == list(argv)


_TRICKY = st.text(
    st.sampled_from("ab '\"\\!$`\n\r\t~*?[]{}()<>|&;#%^=-é日,\x7f") | st.characters(codec="utf-8"),
    max_size=12,
).filter(lambda text: "\0" not in text)


@pytest.mark.parametrize("name", [name for name, path in SHELLS.items() if path])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(argv=st.lists(_TRICKY, max_size=4).map(tuple))
def test_c04_any_arguments_survive_any_shell(name, argv):
    shell = SHELLS[name]
    assert shell is not None
    assert _argv_as_read(shell, argv) == list(argv)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_a_command_is_one_line_of_words_that_old_shells_can_hold(argv):
    command = quote_for_any_shell([a.replace("\0", "") for a in argv])
    assert command.isascii()
    assert command.isprintable()
    assert "!" not in command
    assert all(len(word) < 1024 for word in command.split(" "))


def test_plain_arguments_stay_readable():
    assert (
        quote_for_any_shell(("ls", "-l", "/tmp/a b"))
        == "/bin/sh -c 'exec \"$@\"' sh ls -l '/tmp/a b'"
    )


def test_a_shells_own_word_is_not_taken_for_the_program():
    command = quote_for_any_shell(("printf", "%s", "x"))
    script = f"printf() {{ echo wrong; }}\n{command}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout == b"x"
