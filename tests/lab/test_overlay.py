"""The lab's hosts and profiles beside a workspace's own, and how the way to them is checked."""

from __future__ import annotations

import asyncssh

from specctl.lab.operator_side import PORTS_PER_HOST
from tests.lab.practice import SIMULATED

OWN = 'ssh = "somewhere"\nnotes = "mine"\n'


def test_its_hosts_and_profiles_are_there_without_a_workspace(practice):
    workspace = practice.workspace
    assert list(workspace.hosts()) == ["lab-1", "lab-2"]
    assert all(host.is_simulated for host in workspace.hosts().values())
    assert {"lab-baseline", "lab-eagle3-foreign", "lab-ngram"} <= set(workspace.profiles())
    assert practice.run("check").status == 0, practice.run("check").err


def test_each_host_has_ports_of_its_own(practice):
    profiles = [practice.workspace.profile("lab-ngram", on) for on in ("lab-1", "lab-2")]
    first, second = (profile.placement.port for profile in profiles)
    assert second - first == PORTS_PER_HOST


def test_they_are_beside_a_workspaces_own_and_in_no_file_of_it(practice, tmp_path):
    (tmp_path / "remotes").mkdir()
    (tmp_path / "remotes/own.toml").write_text(OWN)
    ran = practice.run("-C", str(tmp_path), "show", "lab-baseline", "--on", "lab-2")
    assert ran.status == 0, ran.err
    assert SIMULATED in ran.out + ran.err
    doctored = practice.run("-C", str(tmp_path), "doctor", "lab-2")
    assert doctored.status == 0, doctored.out + doctored.err
    assert [p.name for p in tmp_path.rglob("*.toml")] == ["own.toml"]


def test_of_one_name_the_workspaces_own_host_is_taken(practice, tmp_path):
    from specctl.adapters.overlay import Overlay
    from specctl.adapters.workspace import Workspace

    (tmp_path / "remotes").mkdir()
    (tmp_path / "remotes/lab-1.toml").write_text(OWN)
    overlay = Overlay(practice.lab.root, practice.lab.ssh_config)
    hosts = Workspace(tmp_path, overlay=overlay).hosts()
    assert (hosts["lab-1"].notes, hosts["lab-1"].is_simulated) == ("mine", False)
    assert hosts["lab-2"].is_simulated


def test_a_host_key_that_is_not_the_labs_is_refused(home):
    home.up()
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().split()
    place = home.lab.known_hosts.read_text().split()[0]
    home.lab.known_hosts.write_text(f"{place} {other[0]} {other[1]}\n")
    ran = home.run("doctor", "lab-1")
    assert ran.status == 2
    assert "host lab-1" in ran.out
    assert "changed" in ran.out


def test_nobody_enters_without_the_labs_key(home, tmp_path):
    home.up()
    stranger = asyncssh.generate_private_key("ssh-ed25519")
    stranger.write_private_key(str(home.lab.key))
    ran = home.run("doctor", "lab-1")
    assert ran.status == 2
    assert "accepts none of the keys tried" in ran.out
