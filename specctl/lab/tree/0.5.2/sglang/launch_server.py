"""`python -m sglang.launch_server`: hands over to the lab's server program."""

from sglang.version import __version__

if __name__ == "__main__":
    from specctl.lab.server.main import serve

    serve(__version__)
