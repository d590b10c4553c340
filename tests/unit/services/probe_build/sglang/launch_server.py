"""`python -m sglang.launch_server --port N`, with the stand-in engine behind it."""

from __future__ import annotations

import os
import signal
import sys
import time

from sglang.engine import Engine, crash_after


def say(text):
    sys.stderr.write(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] {text}\n")
    sys.stderr.flush()


def option(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    algorithm = option("--speculative-algorithm")
    say("server_args=ServerArgs(model_path='tiny')")
    if algorithm == "STANDALONE":
        say("Scheduler hit an exception: Traceback (most recent call last):")
        sys.stderr.write("torch.cuda.OutOfMemoryError: CUDA out of memory.\n")
        os._exit(1)
    engine = Engine(int(option("--port")), algorithm)
    engine.text = os.environ.get("FAKE_TEXT")
    if "FAKE_STEP_S" in os.environ:
        of_this_launch = 1 + 0.002 * (os.getpid() % 5 - 2)
        engine.nominal_step_s = float(os.environ["FAKE_STEP_S"]) * of_this_launch
        engine.token_s = 0.004
    if algorithm == "EAGLE" and os.environ.get("FAKE_CRASH_AFTER"):
        engine.before = crash_after(int(os.environ["FAKE_CRASH_AFTER"]))
    say("The server is fired up and ready to roll!")
    engine.serve_forever()


if __name__ == "__main__":
    main()
