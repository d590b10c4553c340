#!/bin/sh
# Build .sglang-cpu/ at the repository root: real SGLang, serving tiny models on this machine's CPU.
# Returns at once when nothing it was built from has changed. PYTHON=... chooses the interpreter.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$(dirname -- "$here")")
environment=$root/.sglang-cpu
python=$environment/bin/python
started=$(date +%s)

say() { printf 'sglang-cpu: %s\n' "$*" >&2; }
refuse() { say "$*"; exit 1; }
digest() { cat "$@" | sha256sum | cut -d ' ' -f 1; }
stamped() { [ "$(cat "$environment/$1" 2>/dev/null)" = "$2" ]; }

# One build at a time; the others wait here and then find it done.
if command -v flock >/dev/null 2>&1; then
    exec 9<"$0"
    flock 9
fi

installed=$(digest "$here/build.sh" "$here/requirements.txt" "$here/requirements-nodeps.txt")
checked=$(find "$here/stubs" "$here/check.py" "$here/models" -type f ! -name '*.pyc' | sort |
    xargs sha256sum | digest - "$here/build.sh")
if stamped .installed "$installed" && stamped .checked "$checked"; then
    say "up to date ($environment)"
    exit 0
fi

suits() { # an interpreter that runs, is new enough and can make environments
    "$1" -c 'import sys, ensurepip, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

find_base() {
    for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3; do
        if suits "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    refuse "needs Python 3.11, 3.12 or 3.13 with venv (Debian: python3-venv); set PYTHON to its path"
}

install() {
    base=$(find_base)
    command -v "${CXX:-c++}" >/dev/null 2>&1 ||
        refuse "needs a C++ compiler for SGLang's n-gram matcher: no '${CXX:-c++}' on PATH (Debian: g++)"
    say "installing with $("$base" --version) into $environment (about a minute, 1.7 GB with a CPU build of torch)"
    if [ -e "$environment" ] && [ ! -e "$environment/pyvenv.cfg" ]; then
        refuse "$environment exists and is not a Python environment; move it away"
    fi
    rm -rf "$environment"
    "$base" -m venv "$environment"
    "$python" -m pip install --quiet --requirement "$here/requirements.txt"
    "$python" -m pip install --quiet --no-deps --requirement "$here/requirements-nodeps.txt"
}

# Paths are relative to where they stand, so that a moved checkout keeps working.
link_stubs() {
    packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' '../../../../tests/sglang_cpu/stubs' 'import sglang_cpu_stubs.startup' \
        >"$packages/sglang_cpu.pth"
}

# The models appear in the environment's Hugging Face cache: specctl/tiny-target and so on.
link_models() {
    for model in target draft eagle; do
        repository=$environment/hf/hub/models--specctl--tiny-$model
        mkdir -p "$repository/refs" "$repository/snapshots"
        printf 'local' >"$repository/refs/main"
        ln -sfn "../../../../../tests/sglang_cpu/models/$model" "$repository/snapshots/local"
    done
}

if ! stamped .installed "$installed"; then
    install
    link_stubs
    link_models
    printf '%s\n' "$installed" >"$environment/.installed"
fi

rm -f "$environment/.checked"
"$python" "$here/check.py"
printf '%s\n' "$checked" >"$environment/.checked"
say "ready: $python ($(du -sh "$environment" | cut -f 1), $(($(date +%s) - started)) s)"
