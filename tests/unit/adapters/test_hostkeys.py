from __future__ import annotations

import asyncssh
import pytest

from specctl.adapters.hops import resolve_hops
from specctl.adapters.hostkeys import KnownHosts, key_error, name_in_file, remove_command
from specctl.adapters.ssh_settings import SshSettings
from specctl.adapters.trust import hash_name
from specctl.domain.errors import HostKeyChangedError, HostKeyUnknownError
from specctl.domain.host import Host

OLD, NEW = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
SALT = b"abcdefghijabcdefghij"


def _line(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key().decode().split()[:2])


def _hop(tmp_path, port=40022):
    settings = SshSettings(config_files=(), known_hosts_files=(tmp_path / "kh",), agent_path="")
    return resolve_hops(Host(name="gpu", address="192.0.2.4", port=port, user="op"), settings)[0]


@pytest.mark.parametrize(
    "names",
    [
        "[192.0.2.4]:40022",
        "host-a,[192.0.2.4]:40022",
        hash_name("[192.0.2.4]:40022", SALT),
    ],
)
def test_c02_every_spelling_of_a_host_is_found_with_its_line(tmp_path, names):
    (tmp_path / "kh").write_text(f"# comment\n\nother {_line(NEW)}\n{names} {_line(OLD)}\n")
    (known,) = KnownHosts((tmp_path / "kh",)).find("192.0.2.4", 40022)
    assert (known.line, known.kind, known.fingerprint) == (4, "key", OLD.get_fingerprint())


def test_c02_lines_that_cannot_be_read_do_not_hide_the_others(tmp_path):
    (tmp_path / "kh").write_text(
        f"broken\n|1|x|y ssh-ed25519 AAAA\n@strange * {_line(NEW)}\nh {_line(OLD)}\n"
    )
    known = KnownHosts((tmp_path / "kh",))
    assert [key.line for key in known.find("h", 22)] == [4]
    assert known.for_asyncssh().match("h", "", None)[0] == [OLD.convert_to_public()]


def test_without_any_entry_nothing_is_trusted(tmp_path):
    known = KnownHosts((tmp_path / "missing",))
    assert known.find("h", 22) == ()
    assert known.for_asyncssh() is not None
    assert known.for_asyncssh().match("h", "", None)[0] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", HostKeyUnknownError),
        ("192.0.2.4 {old}\n", HostKeyUnknownError),  # another port is another server
        ("[192.0.2.4]:40022 {old}\n", HostKeyChangedError),
        ("@revoked * {new}\n", HostKeyChangedError),
        ("[192.0.2.4]:40022 {new}\n@revoked * {new}\n", HostKeyChangedError),
        ("@revoked * {old}\n", HostKeyUnknownError),
        ("@cert-authority [192.0.2.4]:40022 {old}\n", HostKeyUnknownError),
        ("[192.0.2.4]:40022 {new}\n[192.0.2.4]:40022 {old}\n", type(None)),
    ],
)
def test_c02_unknown_changed_and_revoked_are_told_apart(tmp_path, text, kind):
    (tmp_path / "kh").write_text(text.format(old=_line(OLD), new=_line(NEW)))
    known = KnownHosts((tmp_path / "kh",))
    assert type(key_error(_hop(tmp_path), "gpu", known, NEW.convert_to_public())) is kind


def test_c02_an_address_known_from_an_earlier_machine_counts_as_changed(tmp_path):
    (tmp_path / "kh").write_text(f"[192.0.2.4]:40022 {_line(OLD)}\n")
    settings = SshSettings(config_files=(), known_hosts_files=(tmp_path / "kh",), agent_path="")
    (hop,) = resolve_hops(Host(name="gpu", address="gpu.invalid", port=40022), settings)
    error = key_error(
        hop, "gpu", KnownHosts((tmp_path / "kh",)), NEW.convert_to_public(), "192.0.2.4"
    )
    assert isinstance(error, HostKeyChangedError)
    assert "ssh-keygen -R '[192.0.2.4]:40022'" in error.hint


@pytest.mark.parametrize(
    ("port", "command"),
    [(22, "ssh-keygen -R 192.0.2.4 -f "), (40022, "ssh-keygen -R '[192.0.2.4]:40022' -f ")],
)
def test_c02_the_remedy_is_exact(tmp_path, port, command):
    (tmp_path / "kh").write_text(f"{name_in_file('192.0.2.4', port)} {_line(OLD)}\n")
    (known,) = KnownHosts((tmp_path / "kh",)).find("192.0.2.4", port)
    assert remove_command(known, "192.0.2.4", port) == f"{command}{tmp_path / 'kh'}"
