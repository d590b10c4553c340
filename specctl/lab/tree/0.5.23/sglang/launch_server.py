"""`python -m sglang.launch_server`: hands over to the lab's server program."""

import warnings

from sglang.version import __version__


def run_server(argv=None):
    from specctl.lab.server.main import serve

    serve(__version__, argv)


if __name__ == "__main__":
    warnings.warn(
        "'python -m sglang.launch_server' is still supported, but 'sglang serve' is the "
        "recommended entrypoint.\n  Example: sglang serve --model-path <model> [options]",
        stacklevel=1,
    )
    run_server()
