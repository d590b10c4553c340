from __future__ import annotations

from pathlib import Path

import asyncssh
import pytest

from specctl.adapters.hops import Destination, parse_destination, resolve_hops
from specctl.adapters.ssh_settings import SshSettings
from specctl.domain.errors import HostError, UsageError
from specctl.domain.host import Host


@pytest.mark.parametrize(
    ("text", "destination"),
    [
        ("jump", Destination("jump")),
        ("op2@jump2:2222", Destination("jump2", "op2", 2222)),
        ("ssh://op@jump:22", Destination("jump", "op", 22)),
        ("[2001:db8::1]:2222", Destination("2001:db8::1", None, 2222)),
        ("op@192.0.2.1", Destination("192.0.2.1", "op")),
        (" jump ", Destination("jump")),
    ],
)
def test_a_destination_is_read_as_ssh_writes_it(text, destination):
    assert parse_destination(text) == destination


@pytest.mark.parametrize("text", ["", "a:b", "a b:c:d", "@x", "jump:"])
def test_what_is_not_a_destination_is_an_error(text):
    with pytest.raises(UsageError, match="not \\[user@\\]host"):
        parse_destination(text)


def _hops(tmp_path: Path, config: str, **fields):
    file = tmp_path / "config"
    file.write_text(config)
    settings = SshSettings(config_files=(file,), agent_path="")
    return resolve_hops(Host(name="gpu", **fields), settings)


CASE_C01 = """
Host jump
    User op
    Hostname 192.0.2.1
Host jump2
    Hostname 192.0.2.2
Host machine
    Hostname 192.0.2.3
    HostKeyAlias machine-key
    ProxyJump jump,op2@jump2:2222
"""


def test_c01_every_hop_takes_its_own_entry_of_the_config(tmp_path):
    hops = _hops(tmp_path, CASE_C01, ssh="machine", user="me")
    assert [hop.label for hop in hops] == [
        "jump 1 of 2 (jump) to host gpu",
        "jump 2 of 2 (jump2) to host gpu",
        "host gpu",
    ]
    assert [hop.where for hop in hops] == [
        "op@192.0.2.1:22",
        "op2@192.0.2.2:2222",
        "me@192.0.2.3:22",
    ]
    assert [hop.name_for_key for hop in hops] == ["192.0.2.1", "192.0.2.2", "machine-key"]
    assert all(hop.options["keepalive_interval"] == 15 for hop in hops)


@pytest.mark.parametrize(
    ("line", "first"),
    [("", b"aes128-gcm@openssh.com"), ("Ciphers aes256-ctr,aes128-ctr", b"aes256-ctr")],
)
def test_the_cipher_that_costs_least_is_asked_for_first_unless_the_config_says(
    tmp_path, line, first
):
    options = _hops(tmp_path, f"Host machine\n    {line}\n", ssh="machine")[0].options
    assert asyncssh.SSHClientConnectionOptions(**options).encryption_algs[0] == first


def test_the_first_jump_may_have_a_jump_of_its_own(tmp_path):
    config = "Host a\n ProxyJump b\nHost b\n ProxyJump c\nHost d\n ProxyJump none\n"
    assert [hop.destination.name for hop in _hops(tmp_path, config, ssh="a")] == ["c", "b", "a"]
    assert [hop.destination.name for hop in _hops(tmp_path, config, ssh="d")] == ["d"]


def test_what_the_hosts_file_says_wins_over_the_config(tmp_path):
    config = "Host a\n HostName 192.0.2.9\n Port 2200\n User op\n"
    (hop,) = _hops(tmp_path, config, ssh="a", port=2201, user="me")
    assert hop.where == "me@192.0.2.9:2201"


def test_an_ipv6_address_is_bracketed_in_messages(tmp_path):
    (hop,) = _hops(tmp_path, "", address="2001:db8::1", user="op")
    assert hop.where == "op@[2001:db8::1]:22"


def test_what_changes_a_command_or_leaks_is_not_taken_from_the_config(tmp_path):
    config = "Host a\n ForwardAgent yes\n RequestTTY force\n SendEnv LC_*\n SetEnv A=b\n"
    (hop,) = _hops(tmp_path, config, ssh="a")
    assert hop.options["agent_forwarding"] is False
    assert hop.options["request_pty"] is False
    assert hop.options["send_env"] == []
    assert hop.options["env"] == {}


def test_known_hosts_come_from_the_config_else_from_the_users_and_the_systems_files(tmp_path):
    (hop,) = _hops(tmp_path, f"Host a\n UserKnownHostsFile {tmp_path}/kh\n", ssh="a")
    assert hop.known_hosts_files[0] == tmp_path / "kh"
    (hop,) = _hops(tmp_path, "", ssh="a")
    assert hop.known_hosts_files[0] == Path("~/.ssh/known_hosts").expanduser()
    assert Path("/etc/ssh/ssh_known_hosts") in hop.known_hosts_files
    assert not hop.is_verification_off
    (hop,) = _hops(tmp_path, "Host a\n UserKnownHostsFile none\n", ssh="a")
    assert (hop.known_hosts_files, hop.is_verification_off) == ((), True)


def test_a_config_that_cannot_be_read_names_itself(tmp_path):
    with pytest.raises(HostError, match="ssh configuration cannot be read"):
        _hops(tmp_path, "Host a\n Port many\n", ssh="a")


@pytest.mark.parametrize(
    ("config", "interval_s"),
    [("", 15), ("Host a\n ServerAliveInterval 0\n", 15), ("Host a\n ServerAliveInterval 60\n", 15)],
)
def test_c08_a_link_is_watched_whatever_the_config_says(tmp_path, config, interval_s):
    (hop,) = _hops(tmp_path, config, ssh="a")
    assert hop.options["keepalive_interval"] == interval_s


def test_c08_a_more_watchful_config_is_followed(tmp_path):
    (hop,) = _hops(tmp_path, "Host a\n ServerAliveInterval 5\n", ssh="a")
    assert "keepalive_interval" not in hop.options
