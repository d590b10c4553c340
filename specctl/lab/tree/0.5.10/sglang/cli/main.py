"""The `sglang` command."""

import sys

from sglang.launch_server import run_server


def main():
    if sys.argv[1:2] != ["serve"]:
        sys.exit("usage: sglang serve --model-path <model> [options]")
    del sys.argv[1]
    run_server()
