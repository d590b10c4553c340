"""A stand-in engine: it counts, caches and drafts as SGLang does, and decodes nothing.

Its tokens are made of the prompt, so every launch answers alike; a draft is accepted as the
pattern says. What misbehaves is set by attributes, or by FAKE_* when it is launched.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle

CHARACTERS = 4
"""Of a prompt that make one token."""


class Engine(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0, algorithm=None, steps=3):
        super().__init__(("127.0.0.1", port), Handler)
        self.port = self.server_address[1]
        self.algorithm, self.draft_steps = algorithm, steps
        self.pattern = (1, 0, 2) if algorithm else None
        self.token_s, self.first_s = 0.001, 0.005
        self.started = time.time()
        self.lock = threading.Lock()
        self.seen = []
        self.flushes = self.finished = self.generated = self.running = 0
        self.asked = []
        self.has_metrics = True
        self.can_flush = True
        self.text = None
        self.retractions = 0
        self.nominal_step_s = None
        """What a step is said to take, whatever it takes; None: what it took."""

        self.fails = lambda number: None
        """Of the number of a request: an HTTP status, or None."""

        self.before = lambda number: None

    def cached(self, prompt):
        with self.lock:
            found = max((common(prompt, other) for other in self.seen), default=0)
            self.seen.append(prompt)
        return min(found, len(prompt) - 1) // self.unit(prompt)

    @staticmethod
    def unit(prompt):
        return 1 if isinstance(prompt, tuple) else CHARACTERS

    def draft(self, tokens):
        """(accepted drafts of each step), until the tokens are there."""
        steps, left = [], tokens - 1
        pattern = cycle(self.pattern)
        while left > 0:
            steps.append(next(pattern))
            left -= steps[-1] + 1
        return steps

    def info(self):
        return {
            "version": "0.5.23",
            "model_path": "tiny",
            "served_model_name": "tiny",
            "tokenizer_path": "nowhere",
            "status": "ready",
            "speculative_algorithm": self.algorithm,
            "speculative_num_steps": self.draft_steps if self.algorithm else None,
            "speculative_eagle_topk": 1 if self.algorithm else None,
            "speculative_num_draft_tokens": self.draft_steps + 1 if self.algorithm else None,
            "speculative_adaptive_config": None,
            "max_running_requests": 48 if self.algorithm else 256,
            "startup_time": {"total": self.started},
            "internal_states": [{"last_gen_throughput": 1.0, **self._step_times()}],
        }

    def _step_times(self):
        if "SGLANG_RECORD_STEP_TIME" not in os.environ or self.nominal_step_s is None:
            return {}
        return {"step_time_dict": {size: [self.nominal_step_s] * 3 for size in ("1", "2")}}

    def metrics(self):
        return (
            f"sglang:num_requests_total {self.finished}\n"
            f"sglang:generation_tokens_total {self.generated}\n"
            f"sglang:num_running_reqs {self.running}\n"
        )


def common(one, other):
    if type(one) is not type(other):
        return 0
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def words(prompt, tokens):
    digest = hashlib.sha256(repr(prompt).encode()).hexdigest()
    return [hashlib.sha256(f"{digest}{n}".encode()).hexdigest()[:5] + " " for n in range(tokens)]


class Handler(BaseHTTPRequestHandler):
    server: Engine

    def log_message(self, *_):
        pass

    def send(self, status, data, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer(self, status, value):
        self.send(status, json.dumps(value).encode())

    def do_GET(self):
        engine = self.server
        if self.path == "/server_info":
            self.answer(200, engine.info())
        elif self.path == "/metrics" and engine.has_metrics:
            self.send(200, engine.metrics().encode(), "text/plain")
        elif self.path.startswith("/v1/loads"):
            row = {"dp_rank": 0, "num_running_reqs": engine.running}
            self.answer(200, {"loads": [row], "version": "0.5.23", "timestamp": "x"})
        elif self.path == "/ready":
            self.answer(200, {})
        else:
            self.answer(404, {})

    def do_POST(self):
        engine = self.server
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/flush_cache":
            self.flush()
        elif self.path in {"/generate", "/v1/chat/completions"}:
            with engine.lock:
                engine.asked.append((self.path, body))
                number = len(engine.asked)
                engine.running += 1
            self.is_counted = True
            try:
                self.generate(number, body)
            finally:
                self.count_out()
        else:
            self.answer(200, {})

    def count_out(self):
        """Before the answer is whole: whoever has it may send the next request at once."""
        with self.server.lock:
            self.server.running -= self.is_counted
        self.is_counted = False

    def flush(self):
        engine = self.server
        if not engine.can_flush or engine.running:
            self.send(400, b"Cache not flushed because there are pending requests.\n", "text/plain")
            return
        engine.seen.clear()
        engine.flushes += 1
        self.send(200, b"Cache flushed.\n", "text/plain")

    def generate(self, number, body):
        engine = self.server
        engine.before(number)
        status = engine.fails(number)
        if status is not None:
            self.answer(status, {"error": {"message": "overloaded"}})
            return
        if self.path == "/generate":
            self.native(body)
        else:
            self.chat(body)

    def native(self, body):
        engine, began = self.server, time.perf_counter()
        prompt = tuple(body["input_ids"]) if "input_ids" in body else body["text"]
        tokens = body["sampling_params"]["max_new_tokens"]
        cached = engine.cached(prompt)
        steps = engine.draft(tokens) if engine.pattern else [0] * (tokens - 1)
        pieces = [engine.text] * tokens if engine.text else words(prompt, tokens)
        meta = {"prompt_tokens": len(prompt) // engine.unit(prompt), "cached_tokens": cached}
        time.sleep(engine.first_s)
        first = time.perf_counter() - began
        stream = body.get("stream")
        if stream:
            self.begin_stream()
            self.event(pieces[:1], {**meta, "completion_tokens": 1, "finish_reason": None})
        done = 1
        for accepted in steps:
            time.sleep(engine.token_s)
            done = min(tokens, done + accepted + 1)
            if stream and done < tokens:
                self.event(
                    pieces[:done], {**meta, "completion_tokens": done, "finish_reason": None}
                )
        meta.update(
            completion_tokens=tokens,
            finish_reason={"type": "length", "length": tokens},
            num_retractions=engine.retractions,
            **self.times(began, first, len(steps)),
            **self.spec(steps),
        )
        with engine.lock:
            engine.generated += tokens
            engine.finished += 1
        self.count_out()
        if stream:
            self.event(pieces, meta)
            self.end_stream()
        else:
            self.answer(200, {"text": "".join(pieces), "meta_info": meta})

    def times(self, began, first, steps):
        step_s = self.server.nominal_step_s
        if step_s is None:
            return {"first_token_latency": first, "e2e_latency": time.perf_counter() - began}
        return {"first_token_latency": step_s, "e2e_latency": step_s * (steps + 1)}

    def spec(self, steps):
        engine = self.server
        if not engine.algorithm:
            return {}
        histogram = [steps.count(k) for k in range(engine.draft_steps + 1)]
        return {
            "spec_verify_ct": len(steps),
            "spec_num_correct_drafts": sum(steps),
            "spec_num_proposed_drafts": len(steps) * engine.draft_steps,
            "spec_correct_drafts_histogram": histogram,
        }

    def chat(self, body):
        engine = self.server
        tokens = body["max_tokens"]
        time.sleep(engine.first_s)
        usage = {"prompt_tokens": 9, "completion_tokens": tokens}
        with engine.lock:
            engine.generated += tokens
            engine.finished += 1
        text = "".join(words(json.dumps(body["messages"]), tokens))
        if not body["stream"]:
            message = {"content": None, "reasoning_content": text}
            choices = [{"message": message, "finish_reason": "length"}]
            self.count_out()
            self.answer(200, {"choices": choices, "usage": usage})
            return
        self.begin_stream()
        for piece in text.split():
            self.data({"choices": [{"delta": {"reasoning_content": piece}}]})
        self.count_out()
        self.data({"choices": [{"delta": {}, "finish_reason": "length"}]})
        self.data({"choices": [], "usage": usage})
        self.end_stream()

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()

    def event(self, pieces, meta):
        self.data({"text": "".join(pieces), "meta_info": meta})

    def data(self, value):
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")

    def end_stream(self):
        self.wfile.write(b"data: [DONE]\n\n")


def crash_after(requests):
    def before(number):
        if number > requests:
            os._exit(139)

    return before
