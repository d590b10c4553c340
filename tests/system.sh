#!/bin/sh
# Programs the tests use from the system: installed when root and apt-get is there, else named.
set -eu

missing=""
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || missing="$missing $2"
}

need sshd openssh-server
need ssh openssh-client
need fish fish
need tcsh tcsh
need zsh zsh
need dash dash
need tmux tmux
need gcc gcc
need g++ g++
need make make
need ps procps
need setpriv util-linux
need useradd passwd
need ip iproute2
need git git
need jq jq
need chromium chromium
need Xvfb xvfb
fc-list 2>/dev/null | grep -q DejaVu || missing="$missing fonts-dejavu-core fontconfig"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086  # one word a package
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
    echo "not installed, and this user cannot install:$missing" >&2
    echo "the tests that need them fail and say so" >&2
fi
