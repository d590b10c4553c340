"""init, show, schema, import and lists: standard output, standard error and exit status."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from specctl import __version__
from specctl.adapters.workloads import bundled_names
from specctl.cli.main import COMMANDS
from tests.cli.writing import BASE, write
from tests.data import data_text
from tests.schemas import assert_valid

ROOT = Path(__file__).parents[2]


def test_version(run):
    for flag in ("--version", "-V"):
        assert run(flag) == run("--read-only", flag)
        assert run(flag).out == f"specctl {__version__}\n"
        assert run(flag).err == ""


def test_version_imports_neither_click_nor_a_front_end():
    program = (
        "import sys; from specctl.__main__ import main; main(['--version']); "
        "print([m for m in sys.modules if m.split('.')[0] in ('click', 'pydantic', 'textual')"
        " or m.startswith('specctl.cli')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_help_imports_no_command(run):
    program = (
        "import sys; from specctl.__main__ import main; main(['--help']); "
        "print([m for m in sys.modules if m.split('.')[0] in ('pydantic', 'asyncssh', 'textual')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    shown = run("--help").out
    assert "  init " in shown
    assert "Write a commented workspace with examples." in shown


def test_every_command_of_the_table_can_be_imported(run):
    for section in COMMANDS.values():
        for name in section:
            shown = run(name, "--help")
            assert (shown.status, shown.err) == (0, ""), name
            assert shown.out.startswith(f"Usage: specctl {name} ")


@pytest.mark.parametrize("command", ["flush", "abort", "thresholds", "corpus"])
def test_what_is_done_to_a_server_has_its_help_behind_any_servers_name(run, command):
    shown = run("server", "gpu8", command, "--help")
    assert (shown.status, shown.err) == (0, "")
    assert "\n  specctl server " in shown.out


@pytest.mark.parametrize("command", ["probe", "compare"])
def test_help_names_every_bundled_workload(run, command):
    shown = " ".join(run(command, "--help").out.split())
    assert f"{', '.join(bundled_names())}, or a JSONL file" in shown


@pytest.mark.parametrize(
    ("arguments", "err"),
    [
        ((), "the screen needs a terminal, and no command is given\nhint: specctl --help\n"),
        (("shwo", "p"), "no command called shwo; nearest: show\nhint: specctl --help\n"),
        (("show",), "missing argument 'PROFILE'\nhint: specctl show --help\n"),
        (("show", "--zebra"), "no such option '--zebra'\nhint: specctl show --help\n"),
        (
            ("show", "nothing"),
            "no profile called nothing\n"
            "hint: specctl profiles lists them; profiles/ holds one file each\n",
        ),
        (("-C", "none", "check"), "none is not a directory\nhint: specctl init none\n"),
        (("schema", "profil"), None),
        (("import", "x", "none.sh"), None),
    ],
)
def test_usage_errors_are_one_sentence_a_hint_and_status_2(run, arguments, err):
    ran = run(*arguments)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("specctl: error: ")
    if err is not None:
        assert ran.err == f"specctl: error: {err}"


def test_no_workspace(run, home):
    ran = run("check", inside=home)
    assert ran.status == 2
    assert "no workspace here" in ran.err
    assert "specctl init" in ran.err.split("hint: ")[1]


def test_init_writes_a_workspace_that_passes_its_own_check(run, tmp_path):
    new = tmp_path / "new"
    ran = run("init", str(new))
    assert ran.status == 0
    written = ran.out.splitlines()
    assert f"{new}/remotes/example-8gpu.toml" in written
    assert f"{new}/schema/profile.json" in written
    assert not [name for name in written if "tiny" in name or "cpu.toml" in name]
    assert all(os.path.exists(name) for name in written)
    checked = run("check", inside=new)
    assert checked.status == 0, checked.out
    assert checked.err.startswith("specctl: no errors, no warnings")


def test_init_writes_over_nothing(run, workspace):
    write(workspace, "remotes/local", "# mine\n")
    ran = run("init")
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith("specctl: error: remotes/local.toml exists already: nothing was")
    assert sorted(os.listdir(workspace)) == ["profiles", "remotes"]
    assert os.listdir(workspace / "profiles") == []


SHOWN_COMMAND = """
NAME='it'"'"'s' \\
HF_HOME=/hf \\
CUDA_VISIBLE_DEVICES=0,1 \\
CUDA_DEVICE_ORDER=PCI_BUS_ID \\
'/opt/py thon' -m sglang.launch_server \\
  --model-path org/model \\
  --tp-size 2 \\
  --json-model-override-args '{"a":"b c"}' \\
  --speculative-algorithm NGRAM \\
  --port 31000
# argument:api-key: secret serving (not in ~/.config/specctl/secrets.toml)
"""


def test_show(run, workspace):
    write(workspace, "profiles/base", BASE)
    write(workspace, "remotes/far", 'ssh = "far"\npython = "/opt/py thon"\nhf_home = "/hf"')
    write(
        workspace,
        "profiles/fast",
        'extends = "base"\n[speculation]\nalgorithm = "NGRAM"\n[on.far.placement]\nport = 31000\n',
    )
    ran = run("show", "fast", "--on", "far")
    assert ran.err == ""
    assert ran.status == 0
    lines = [line.split() for line in ran.out.split("\n\n")[1].splitlines()]
    assert [(line[0], line[-1]) for line in lines] == [
        ("model", "profiles/base.toml:2"),
        ("arguments.tp-size", "profiles/base.toml:5"),
        ("arguments.json-model-override-args", "profiles/base.toml:6"),
        ("arguments.api-key", "profiles/base.toml:7"),
        ("speculation.algorithm", "profiles/fast.toml:3"),
        ("env.NAME", "profiles/base.toml:10"),
        ("placement.gpus", "profiles/base.toml:13"),
        ("placement.port", "profiles/fast.toml:5"),
        ("ready_timeout_s", "default"),
    ]
    first = f'{"model":<{len("arguments.json-model-override-args")}}  "org/model"       profiles/'
    assert ran.out.startswith(f"fast on far\n\n{first}"), "columns as wide as what is in them"
    assert ran.out.endswith(SHOWN_COMMAND)


def test_show_as_json(run, workspace):
    write(workspace, "profiles/base", BASE)
    shown = json.loads(run("show", "base", "--json").out)
    assert_valid(shown)
    assert shown["schema"] == "specctl/show/1"
    assert (shown["profile"], shown["host"]) == ("base", None)
    assert shown["argv"][:5] == [
        "python3",
        "-m",
        "sglang.launch_server",
        "--model-path",
        "org/model",
    ]
    assert shown["values"][1] == {
        "key": "arguments.tp-size", "value": 2, "origin": "profiles/base.toml:5",
    }  # fmt: skip
    assert shown["environment"] == {
        "NAME": "it's",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    assert list(shown["secrets"]) == ["argument:api-key"]


def test_show_never_shows_a_secret(run, workspace, home):
    write(workspace, "profiles/base", BASE)
    folder = home / ".config/specctl"
    folder.mkdir(parents=True)
    (folder / "secrets.toml").write_text('serving = { env = "KEY" }')
    (folder / "secrets.toml").chmod(0o600)
    for arguments in (("show", "base"), ("show", "base", "--json")):
        ran = run(*arguments, KEY="hush-hush")
        assert "secret serving (variable KEY)" in ran.out
        assert "hush-hush" not in ran.out + ran.err


SPELLED_OUT = """model = "m"
[arguments]
api-key = "hush-hush"
[env]
MY_PASSWORD = "hush-hush"
NOTE = "hf_hushhushhushhushhush"
"""


@pytest.mark.parametrize("extra", [(), ("--json",)])
@pytest.mark.parametrize(
    ("arguments", "status"), [(("show", "a"), 0), (("start", "here", "a", "--dry-run"), 1)]
)
def test_a_secret_that_a_profile_spells_out_is_not_printed(
    run, workspace, arguments, status, extra
):
    write(workspace, "profiles/a", SPELLED_OUT)
    python, state_dir = json.dumps(sys.executable), json.dumps(str(workspace / "state"))
    write(
        workspace,
        "remotes/here",
        f'transport = "local"\npython = {python}\nstate_dir = {state_dir}\n',
    )
    ran = run(*arguments, *extra)
    assert ran.status == status, ran.err
    assert "MY_PASSWORD" in ran.out
    assert "hush" not in ran.out + ran.err


def test_a_host_that_a_filter_leaves_out_and_that_is_not_reached_is_named(run, workspace):
    python = json.dumps(sys.executable)
    write(workspace, "remotes/here", f'transport = "local"\npython = {python}\n')
    write(workspace, "remotes/gone", 'ssh = "gone.invalid"\n')
    ran = run("status", "--filter", "host=here")
    assert (ran.status, ran.out.splitlines()[0]) == (3, "here  reached")
    assert "not reached, and left out by the filter: gone" in ran.err


def test_a_broken_file_is_refused_with_all_its_problems(run, workspace):
    write(workspace, "profiles/a", "modle = 1\n[placement]\nport = 0\n")
    ran = run("show", "a")
    assert ran.status == 2
    assert ran.err == (
        "specctl: error: 2 problems\n"
        "  profiles/a.toml:1  modle: no key modle in a profile file. Nearest: model\n"
        "  profiles/a.toml:3  placement.port: must be at least 1, not 0\n"
        "hint: specctl check a\n"
    )


@pytest.mark.parametrize("name", ["profile", "remote", "status"])
def test_schema(run, name):
    assert json.loads(run("schema", name).out)["$id"] == f"urn:specctl:{name}:1"


def test_schema_without_a_name_lists_them(run):
    ran = run("schema")
    assert (ran.status, ran.err) == (0, "")
    names = [line.split()[0] for line in ran.out.splitlines()]
    assert names[0] == "NAME"
    assert {f"{name}.json" for name in names[1:]} == set(os.listdir(ROOT / "schema"))
    assert "event" in names


def test_import_of_a_script(run, workspace):
    ran = run("import", "new", "-", given=data_text("launch/docker-run-quoted-gpus.txt"))
    assert ran.status == 0
    assert ran.out == "profiles/new.toml\n"
    assert (
        "specctl: warning: the variable HF_TOKEN holds a secret: not written, named "
        "secret:hf-token instead\n"
    ) in ran.err
    text = (workspace / "profiles/new.toml").read_text()
    assert "# container image lmsysorg/sglang:v0.5.6\n" in text
    assert tomllib.loads(text)["speculation"]["algorithm"] == "NEXTN"
    assert run("check", "new").status == 0
    again = run("import", "new", "-", given="sglang serve m")
    assert again.status == 2
    assert "profiles/new.toml exists already" in again.err
    assert (workspace / "profiles/new.toml").read_text() == text


def test_e06_import_shows_where_a_quote_is_open(run, workspace):
    script = workspace / "start.sh"
    script.write_text("sglang serve m \\\r\n --chat-template '/models/my template.jinja\r\n")
    ran = run("import", "new", "start.sh")
    assert ran.status == 2
    assert ran.err.startswith(
        "specctl: error: line 2, column 18: ' is never closed: '/models/my template.jinja\n"
    )
    assert not (workspace / "profiles/new.toml").exists()


def test_import_says_no_secret_and_writes_none(run, workspace):
    ran = run("import", "new", "-", given="A_TOKEN=hush-hush sglang serve m --api-key hush-hush")
    assert ran.status == 0
    assert "hush-hush" not in ran.out + ran.err + (workspace / "profiles/new.toml").read_text()
    assert 'api-key = "secret:api-key"' in (workspace / "profiles/new.toml").read_text()


def test_an_error_is_free_of_control_characters(run, workspace):
    ran = run("show", "\x1b[31mred\x07")
    assert ran.status == 2
    assert "\x1b" not in ran.err
    assert "no profile called red" in ran.err


def test_no_colour_in_a_pipe(run, workspace):
    write(workspace, "profiles/a", "x = 1")
    assert "\x1b" not in run("check", TERM="xterm").out


@pytest.mark.parametrize(("variables", "has_colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_in_a_terminal(workspace, home, variables, has_colour):
    write(workspace, "profiles/a", "x = 1")
    leader, follower = pty.openpty()
    environment = {**os.environ, "HOME": str(home), "TERM": "xterm", **variables}
    environment.pop("NO_COLOR" if not variables else "", None)
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    subprocess.run(
        [sys.executable, "-m", "specctl", "check"],
        cwd=workspace, env=environment, stdout=follower, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    os.close(follower)
    shown = os.read(leader, 10_000)
    os.close(leader)
    assert (b"\x1b[31merror  \x1b[0m" in shown) is has_colour


def test_a_reader_that_leaves_is_no_error(workspace, home):
    environment = {**os.environ, "HOME": str(home)}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    line = f"{sys.executable} -m specctl schema profile | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=workspace, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "{\n0\n"
    assert done.stderr == ""


def test_profiles_are_listed_with_what_is_wrong_in_each(run, workspace):
    write(workspace / "profiles", "base", BASE)
    write(workspace / "profiles", "other", 'extends = "base"\ndescription = "\\u001b[31mred"\n')
    write(workspace / "profiles", "odd", "model = \n")
    done = run("profiles")
    assert done.status == 0, done.err
    rows = {line.split()[0]: line for line in done.out.splitlines()}
    assert set(rows) == {"profile", "base", "other", "odd"}
    assert "One line" in rows["base"]
    assert "✗1" in rows["odd"]
    assert "unusable: specctl check odd" in rows["odd"]
    assert "\x1b" not in done.out
    document = json.loads(run("profiles", "--json").out)
    assert_valid(document)
    assert [row["is_usable"] for row in document["profiles"]] == [True, False, True]


def test_without_a_profile_or_a_host_the_list_says_what_to_do(run):
    for verb, next_step in (("profiles", "specctl import"), ("hosts", "specctl add")):
        done = run(verb)
        assert (done.status, done.out) == (0, "")
        assert next_step in done.err


def test_hosts_are_listed_without_being_reached(run, workspace):
    write(
        workspace / "remotes",
        "gpu8",
        'ssh = "nowhere.invalid"\nread_only = true\nnotes = "a\\nb"\n',
    )
    done = run("hosts")
    assert done.status == 0, done.err
    assert done.out.splitlines()[1].split() == [
        "gpu8",
        "(read-only)",
        "ssh",
        "nowhere.invalid",
        "a",
        "b",
    ]
    assert_valid(json.loads(run("hosts", "--json").out))
