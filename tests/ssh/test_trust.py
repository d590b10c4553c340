from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from specctl.adapters.connect import connect
from specctl.adapters.trust import fetch_host_key, write_known_host
from specctl.domain.errors import HostKeyUnknownError, RefusedError
from tests.ssh.sshd import LOOPBACK, fingerprint, make_key, program, public, ssh_host


async def test_a_trusted_key_is_appended_once_and_then_connects(lab):
    server = await lab.server("gpu", known=False)
    lab.known_hosts.write_text("other ssh-ed25519 AAAA")  # no newline at the end
    offered = await fetch_host_key(ssh_host("gpu"), lab.settings)
    assert offered.fingerprint == fingerprint(server.keys[0])
    assert (offered.label, offered.spelled) == ("host gpu", f"[{LOOPBACK}]:{server.port}")
    assert (offered.is_known, offered.others, offered.file) == (False, (), lab.known_hosts)
    assert write_known_host(offered)
    written = lab.known_hosts.read_text()
    assert written.splitlines()[0] == "other ssh-ed25519 AAAA"
    await (await connect(ssh_host("gpu"), settings=lab.settings)).close()
    assert not write_known_host(await fetch_host_key(ssh_host("gpu"), lab.settings))
    assert lab.known_hosts.read_text() == written


async def test_a_new_file_is_private(lab):
    await lab.server("gpu", known=False)
    lab.known_hosts.unlink()
    write_known_host(await fetch_host_key(ssh_host("gpu"), lab.settings))
    assert lab.known_hosts.stat().st_mode & 0o777 == 0o600


async def test_names_are_hashed_where_the_others_are_and_ssh_keygen_finds_them(lab):
    server = await lab.server("gpu", known=False)
    name = f"[{LOOPBACK}]:{server.port}"
    lab.known_hosts.write_text(f"elsewhere {public(server.keys[0])}\n")
    subprocess.run(
        [program("ssh-keygen"), "-H", "-f", str(lab.known_hosts)], check=True, capture_output=True
    )
    write_known_host(await fetch_host_key(ssh_host("gpu"), lab.settings))
    assert name not in lab.known_hosts.read_text()
    found = subprocess.run(
        [program("ssh-keygen"), "-F", name, "-f", str(lab.known_hosts)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert public(server.keys[0]) in found.stdout


async def test_another_key_is_never_replaced(lab):
    server = await lab.server("gpu", known=False)
    old = make_key(lab.folder / "old")
    before = f"[{LOOPBACK}]:{server.port} {public(old)}\n"
    lab.known_hosts.write_text(before)
    offered = await fetch_host_key(ssh_host("gpu"), lab.settings)
    assert [known.fingerprint for known in offered.others] == [fingerprint(old)]
    with pytest.raises(RefusedError) as caught:
        write_known_host(offered)
    assert f"ssh-keygen -R '[{LOOPBACK}]:{server.port}'" in caught.value.hint
    assert lab.known_hosts.read_text() == before


async def test_the_remedy_that_is_printed_works(lab):
    server = await lab.server("gpu", known=False)
    lab.known_hosts.write_text(f"[{LOOPBACK}]:{server.port} {public(make_key(lab.folder / 'o'))}\n")
    with pytest.raises(RefusedError) as caught:
        write_known_host(await fetch_host_key(ssh_host("gpu"), lab.settings))
    command = caught.value.hint.split("`")[1]
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)
    assert write_known_host(await fetch_host_key(ssh_host("gpu"), lab.settings))
    await (await connect(ssh_host("gpu"), settings=lab.settings)).close()


async def test_a_revoked_key_is_not_written(lab):
    server = await lab.server("gpu", known=False)
    lab.known_hosts.write_text(f"@revoked * {public(server.keys[0])}\n")
    offered = await fetch_host_key(ssh_host("gpu"), lab.settings)
    assert offered.is_revoked
    with pytest.raises(RefusedError, match="revoked"):
        write_known_host(offered)


async def test_c01_the_first_untrusted_hop_is_the_one_asked_about(lab):
    bastion = await lab.server("bastion", known=False)
    server = await lab.server("gpu", known=False, config="  ProxyJump bastion\n")
    first = await fetch_host_key(ssh_host("gpu"), lab.settings)
    assert first.label == "jump 1 of 1 (bastion) to host gpu"
    assert first.fingerprint == fingerprint(bastion.keys[0])
    write_known_host(first)
    second = await fetch_host_key(ssh_host("gpu"), lab.settings)
    assert (second.label, second.fingerprint) == ("host gpu", fingerprint(server.keys[0]))


async def test_files_given_by_settings_win_over_the_config(lab):
    await lab.server("gpu")
    empty = lab.folder / "empty"
    with pytest.raises(HostKeyUnknownError):
        await connect(ssh_host("gpu"), settings=replace(lab.settings, known_hosts_files=(empty,)))
