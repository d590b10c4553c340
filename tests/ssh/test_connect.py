from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from specctl.adapters.connect import connect
from specctl.domain.errors import (
    HostError,
    HostKeyChangedError,
    HostKeyUnknownError,
    NotAuthenticatedError,
    UnreachableError,
    UsageError,
)
from specctl.domain.host import Host
from tests.ssh.sshd import LOOPBACK, fingerprint, free_port, make_key, public, ssh_host


async def _refusal(lab, kind, name="gpu", **fields):
    with pytest.raises(kind) as caught:
        await connect(ssh_host(name, **fields), settings=lab.settings)
    return caught.value


# ---------------------------------------------------------------- host keys


async def test_c02_an_unknown_key_shows_its_fingerprint_and_how_to_trust_it(lab):
    server = await lab.server("gpu", known=False)
    error = await _refusal(lab, HostKeyUnknownError)
    assert f"host gpu: the host key of [{LOOPBACK}]:{server.port}" in error.message
    assert fingerprint(server.keys[0]) in error.message
    assert "specctl trust gpu" in error.hint
    assert "StrictHostKeyChecking" in error.hint


async def test_c02_a_changed_key_shows_both_fingerprints_the_line_and_the_remedy(lab):
    server = await lab.server("gpu", known=False)
    old = make_key(lab.folder / "old")
    lab.known_hosts.write_text(
        f"# a comment\nother ssh-ed25519 nonsense\n[{LOOPBACK}]:{server.port} {public(old)}\n"
    )
    error = await _refusal(lab, HostKeyChangedError)
    assert "has changed" in error.message
    assert f"{fingerprint(old)} (ssh-ed25519, {lab.known_hosts}:3)" in error.message
    assert fingerprint(server.keys[0]) in error.message
    assert f"ssh-keygen -R '[{LOOPBACK}]:{server.port}' -f {lab.known_hosts}" in error.hint


async def test_c02_a_key_of_another_kind_than_the_known_one_counts_as_changed(lab):
    server = await lab.server("gpu", kinds=("ed25519",), known=False)
    old = make_key(lab.folder / "old", "ecdsa")
    lab.known_hosts.write_text(f"[{LOOPBACK}]:{server.port} {public(old)}\n")
    error = await _refusal(lab, HostKeyChangedError)
    assert fingerprint(old) in error.message
    assert fingerprint(server.keys[0]) in error.message


async def test_c02_a_hashed_name_is_found_and_its_line_named(lab):
    server = await lab.server("gpu")
    old = make_key(lab.folder / "old")
    lab.known_hosts.write_text(_hashed(f"[{LOOPBACK}]:{server.port}", public(old)))
    error = await _refusal(lab, HostKeyChangedError)
    assert f"{lab.known_hosts}:1" in error.message
    lab.known_hosts.write_text(_hashed(f"[{LOOPBACK}]:{server.port}", public(server.keys[0])))
    await (await connect(ssh_host("gpu"), settings=lab.settings)).close()


def _hashed(name: str, key: str) -> str:
    from specctl.adapters.trust import hash_name

    return f"{hash_name(name, b'0123456789abcdefghij')} {key}\n"


async def test_c02_a_revoked_key_is_refused_even_where_it_is_known(lab):
    server = await lab.server("gpu")
    with lab.known_hosts.open("a") as file:
        file.write(f"@revoked * {public(server.keys[0])}\n")
    error = await _refusal(lab, HostKeyChangedError)
    assert "is marked @revoked" in error.message
    assert f"{lab.known_hosts}:2" in error.message


async def test_the_known_one_of_several_keys_is_asked_for(lab):
    server = await lab.server("gpu", kinds=("ed25519", "ecdsa"), known=False)
    lab.know(server, ("ecdsa",))
    await (await connect(ssh_host("gpu"), settings=lab.settings)).close()


async def test_a_host_key_alias_is_what_known_hosts_is_asked_for(lab):
    server = await lab.server("gpu", known=False, config="  HostKeyAlias machine-key\n")
    lab.known_hosts.write_text(f"machine-key {public(server.keys[0])}\n")
    await (await connect(ssh_host("gpu"), settings=lab.settings)).close()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("  StrictHostKeyChecking no\n", "whatever StrictHostKeyChecking says"),
        ("  UserKnownHostsFile none\n", "UserKnownHostsFile none"),
        ("  UserKnownHostsFile /dev/null\n  StrictHostKeyChecking no\n", "StrictHostKeyChecking"),
    ],
)
async def test_verification_is_never_turned_off_by_the_config(lab, config, words):
    port = (await lab.server("target")).port
    lab.config.write_text(
        f"Host gpu\n  HostName {LOOPBACK}\n  Port {port}\n  IdentityFile {lab.user_key}\n{config}"
        f"  GlobalKnownHostsFile {lab.folder / 'nothing'}\n"
        + ("" if "UserKnown" in config else f"  UserKnownHostsFile {lab.folder / 'empty'}\n")
    )
    error = await _refusal(lab, HostKeyUnknownError)
    assert words in error.hint


# ---------------------------------------------------------------- jumps


async def test_c01_a_jump_gets_the_same_checks_and_errors_name_it(lab):
    await lab.server("bastion")
    server = await lab.server("gpu", config="  ProxyJump bastion\n")
    session = await connect(ssh_host("gpu"), settings=lab.settings)
    connection = (await session.run(("sh", "-c", "echo $SSH_CONNECTION"), timeout_s=10)).text
    assert connection.split()[-1] == str(server.port)
    await session.close()


async def test_c01_an_unknown_jump_is_named_with_its_place_in_the_chain(lab):
    inner = await lab.server("inner", known=False)
    await lab.server("outer")
    await lab.server("gpu", config="  ProxyJump outer,inner\n")
    error = await _refusal(lab, HostKeyUnknownError)
    assert error.message.startswith("jump 2 of 2 (inner) to host gpu: ")
    assert fingerprint(inner.keys[0]) in error.message


async def test_c01_a_changed_target_behind_a_jump_is_named_as_the_target(lab):
    await lab.server("bastion")
    server = await lab.server("gpu", known=False, config="  ProxyJump bastion\n")
    old = make_key(lab.folder / "old")
    with lab.known_hosts.open("a") as file:
        file.write(f"[{LOOPBACK}]:{server.port} {public(old)}\n")
    error = await _refusal(lab, HostKeyChangedError)
    assert error.message.startswith("host gpu: ")


async def test_c01_user_and_port_of_a_jump_may_stand_in_the_entry(lab):
    bastion = await lab.server("bastion")
    lab.config.write_text("")
    lab.entry("bastion", 1)  # a wrong port: the one in the ProxyJump entry must win
    server = await lab.server("gpu", config=f"  ProxyJump no-such-user@bastion:{bastion.port}\n")
    error = await _refusal(lab, NotAuthenticatedError)
    assert error.message.startswith("jump 1 of 1 (bastion) to host gpu: no-such-user@127.0.0.1")
    assert server.port


async def test_c01_what_a_jump_cannot_reach_is_said_of_the_target(lab):
    await lab.server("bastion")
    lab.entry("gpu", free_port(), "  ProxyJump bastion\n")
    error = await _refusal(lab, UnreachableError)
    assert error.message.startswith("host gpu: the jump host could not connect to ")


async def test_a_circle_of_jumps_is_an_error(lab):
    lab.entry("a", 1, "  ProxyJump b\n")
    lab.entry("b", 1, "  ProxyJump a\n")
    error = await _refusal(lab, UsageError, "a")
    assert "circle" in error.message


async def test_a_proxy_command_is_used(lab):
    server = await lab.server("gpu")
    script = f"import sys; from tests.ssh.pipe import pipe; pipe({server.port})"
    lab.config.write_text("")
    lab.entry("gpu", server.port, f'  ProxyCommand python3 -c "{script}"\n')
    session = await connect(ssh_host("gpu"), settings=lab.settings)
    assert (await session.run(("true",), timeout_s=10)).exit_status == 0
    await session.close()


# ---------------------------------------------------------------- who and whether


async def test_address_port_and_user_need_no_config(lab):
    server = await lab.server("gpu")
    lab.config.write_text(
        f"Host {LOOPBACK}\n  IdentityFile {lab.user_key}\n  UserKnownHostsFile {lab.known_hosts}\n"
    )
    host = Host(name="gpu", address=LOOPBACK, port=server.port)
    await (await connect(host, settings=lab.settings)).close()


async def test_a_host_without_a_way_to_it_is_a_usage_error(lab):
    with pytest.raises(UsageError, match="neither an ssh alias nor an address"):
        await connect(Host(name="gpu"), settings=lab.settings)


async def test_a_refused_key_is_named(lab):
    await lab.server("gpu")
    other = make_key(lab.folder / "other")
    lab.config.write_text(lab.config.read_text().replace(str(lab.user_key), str(other)))
    error = await _refusal(lab, NotAuthenticatedError)
    assert "host gpu: " in error.message
    assert fingerprint(other) in error.message
    assert "ssh-add" in error.hint


async def test_a_key_with_a_passphrase_is_not_tried_and_the_hint_says_why(lab):
    server = await lab.server("gpu")
    secret = make_key(lab.folder / "secret", passphrase="words")
    lab.config.write_text("")
    lab.entry("gpu", server.port, f"  IdentityFile {secret}\n")
    error = await _refusal(lab, NotAuthenticatedError)
    assert "passphrase" in error.hint


async def test_an_identity_file_that_is_missing_is_named(lab):
    server = await lab.server("gpu")
    lab.config.write_text("")
    lab.entry("gpu", server.port, f"  IdentityFile {lab.folder / 'gone'}\n")
    error = await _refusal(lab, NotAuthenticatedError)
    assert "gone" in error.message or "none was found" in error.message


async def test_a_config_that_cannot_be_read_is_named(lab):
    lab.config.write_text("Host gpu\n  Port many\n")
    error = await _refusal(lab, HostError)
    assert "ssh configuration" in error.message
    assert "many" in error.message


async def test_nothing_listening_is_refused(lab):
    lab.entry("gpu", free_port())
    error = await _refusal(lab, UnreachableError)
    assert "refused the connection" in error.message


async def test_a_name_that_does_not_resolve_is_said_so(lab, monkeypatch):
    async def getaddrinfo(*_args, **_kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    lab.config.write_text("Host gpu\n  HostName gpu.invalid\n")
    error = await _refusal(lab, UnreachableError)
    assert "the name gpu.invalid does not resolve" in error.message


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EHOSTUNREACH, "no route"),
        (errno.ENETUNREACH, "no network"),
        (errno.EIO, "input/output error"),
    ],
)
async def test_the_systems_errors_are_put_into_words(lab, monkeypatch, number, words):
    async def create_connection(*_args, **_kwargs):
        raise OSError(number, "Input/output error")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", create_connection)
    lab.entry("gpu", 22)
    assert words.lower() in (await _refusal(lab, UnreachableError)).message.lower()


async def test_a_server_that_stays_silent_meets_the_deadline(lab):
    with socket.socket() as silent:
        silent.bind((LOOPBACK, 0))
        silent.listen()
        lab.entry("gpu", silent.getsockname()[1])
        with pytest.raises(UnreachableError, match=r"did not answer within 0.3 s"):
            await connect(ssh_host("gpu"), settings=replace(lab.settings, connect_timeout_s=0.3))


# ---------------------------------------------------------------- MaxStartups


@asynccontextmanager
async def _dropping(port: int, drops: int):
    """A door that hangs up on its first visitors, as sshd does past MaxStartups."""
    visits = 0
    open_tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal visits
        visits += 1
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        if visits > drops:
            far_reader, far_writer = await asyncio.open_connection(LOOPBACK, port)
            await asyncio.gather(_carry(reader, far_writer), _carry(far_reader, writer))
        else:
            await _shut(writer)

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    try:
        yield server.sockets[0].getsockname()[1], lambda: visits
    finally:
        server.close()
        async with asyncio.timeout(5):
            await asyncio.gather(*open_tasks)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
    await _shut(writer)


async def _shut(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_c07_a_dropped_handshake_is_tried_again(lab):
    server = await lab.server("gpu")
    async with _dropping(server.port, 2) as (port, visits):
        lab.config.write_text("")
        lab.entry("gpu", port, "  HostKeyAlias gpu\n")
        lab.known_hosts.write_text(f"gpu {public(server.keys[0])}\n")
        session = await connect(ssh_host("gpu"), settings=lab.settings)
        await session.close()
        assert visits() == 3


async def test_c07_a_server_that_always_hangs_up_is_given_up_with_the_likely_reasons(lab):
    async with _dropping(0, 99) as (port, visits):
        lab.entry("gpu", port)
        with pytest.raises(UnreachableError, match="hung up before the login") as caught:
            await connect(ssh_host("gpu"), settings=replace(lab.settings, handshake_tries=2))
        assert "MaxStartups" in caught.value.hint
        assert visits() == 2
