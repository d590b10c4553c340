"""A stand-in server: `python -m sglang.launch_server --port N`, its behaviour set by FAKE_*.

FAKE_FAIL: a text logged as a scheduler's exception, then the end with status 0.
FAKE_CHILDREN: schedulers, renamed, in the group; FAKE_ORPHANS=1: they outlive their parent.
FAKE_STUBBORN=1: SIGTERM is ignored by all. FAKE_LOAD_S: seconds until ready.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

PR_SET_PDEATHSIG = 1
RUNNING = threading.Event()
"""Set while a request runs."""

ENDED = threading.Event()
CORPORA: dict[str, int] = {}
KEYS: dict[str, str] = {}


def say(text):
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    sys.stderr.write(f"[{stamp}] {text}\n")
    sys.stderr.flush()


def option(name, default=None):
    """As argparse reads it: the last one counts."""
    found = [value for word, value in pairwise(sys.argv) if word == name]
    return found[-1] if found else default


def read_keys():
    path = option("--config")
    if path:
        with open(path) as file:
            for line in file:
                name, _, value = line.partition(": ")
                KEYS[name] = json.loads(value)


def start_children():
    for number in range(int(os.environ.get("FAKE_CHILDREN", "2"))):
        if os.fork() == 0:
            if not os.environ.get("FAKE_ORPHANS"):
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            with open("/proc/self/comm", "w") as file:
                file.write(f"sglang::schedul{number}")
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(60)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def is_allowed(self):
        wanted = KEYS.get("admin-api-key") if self.path in ADMIN else KEYS.get("api-key")
        return wanted is None or self.headers.get("Authorization") == f"Bearer {wanted}"

    def do_GET(self):
        say(f"asked {self.path}")
        if self.path.startswith("/health"):
            self.answer(500, {"error": "nobody may ask this: it generates a token"})
        elif self.path == "/ready":
            self.answer(200, {})
        elif not self.is_allowed():
            self.answer(401, {"error": "Unauthorized"})
        elif self.path.startswith("/v1/loads"):
            running = int(RUNNING.is_set())
            row = {"dp_rank": 0, "num_running_reqs": running, "num_waiting_reqs": 0}
            self.answer(200, {"loads": [row], "version": "0.5.23", "timestamp": "x"})
        elif self.path == "/server_info":
            self.answer(
                200,
                {
                    "version": "0.5.23",
                    "model_path": option("--model-path", "tiny"),
                    "api_key": "k3y",
                    "internal_states": [{}],
                    "tp_size": 1,
                },
            )
        elif self.path == "/list_external_corpora":
            self.answer(200, {"success": True, "corpus_token_counts": CORPORA})
        else:
            self.answer(404, {})

    def do_POST(self):
        say(f"told {self.path}")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.is_allowed():
            self.answer(401, {"error": "Unauthorized"})
        elif self.path == "/abort_request":
            RUNNING.clear()
            self.answer(200, {})
        elif self.path == "/generate":
            RUNNING.set()
            self.answer(200, {})
        elif self.path == "/flush_cache":
            self.answer(200, {"text": "Cache flushed."})
        elif self.path == "/set_internal_state":
            self.answer(200, [True])
        elif self.path == "/add_external_corpus":
            done = body["corpus_id"] not in CORPORA
            CORPORA[body["corpus_id"]] = 1234
            message = "" if done else "Corpus id exists already."
            self.answer(200, {"success": done, "message": message, "loaded_token_count": 1234})
        elif self.path == "/remove_external_corpus":
            self.answer(
                200,
                {
                    "success": CORPORA.pop(body["corpus_id"], None) is not None,
                    "message": "no such corpus",
                },
            )
        else:
            self.answer(404, {})


ADMIN = (
    "/flush_cache",
    "/abort_request",
    "/set_internal_state",
    "/add_external_corpus",
    "/remove_external_corpus",
    "/list_external_corpora",
)


def drain():
    say("SIGTERM received. Draining requests and shutting down...")
    while RUNNING.is_set():
        time.sleep(0.02)
    os._exit(0)


def main():
    read_keys()
    if os.environ.get("FAKE_STUBBORN"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=drain).start())
    say(f"server_args=ServerArgs(model_path='tiny', api_key='{KEYS.get('api-key')}')")
    start_children()
    say("Load weight begin. avail mem=79.00 GB")
    time.sleep(float(os.environ.get("FAKE_LOAD_S", "0.2")))
    if os.environ.get("FAKE_FAIL"):
        say("Scheduler hit an exception: Traceback (most recent call last):")
        sys.stderr.write(os.environ["FAKE_FAIL"] + "\n")
        for _ in range(200):
            say("Received sigquit from a child process. It usually means the child failed.")
        sys.stderr.flush()
        os._exit(0)
    say(
        "Load weight end. elapsed=0.20 s, type=LlamaForCausalLM, avail mem=7 GB, mem usage=9.00 GB."
    )
    say("KV Cache is allocated. #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB")
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(option("--port"))), Handler)
    except OSError:
        say(
            "ERROR:    [Errno 98] error while attempting to bind on address: address already in use"
        )
        time.sleep(60)
        return
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say("INFO:     Uvicorn running on http://127.0.0.1")
    say("The server is fired up and ready to roll!")
    ENDED.wait()


if __name__ == "__main__":
    main()
