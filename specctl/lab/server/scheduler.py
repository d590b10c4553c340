"""The scheduler's process: an engine run in real time, told what to do by the main process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.lab.building import build_engine, build_tokenizer
from specctl.lab.outcomes import Emission, StepKind, StepOutcome
from specctl.lab.requests import Request
from specctl.lab.server.gpu_use import GpuUse
from specctl.lab.server.hostile import write_hostile_lines
from specctl.lab.server.log import Log, reopen_log
from specctl.lab.server.processes import die_with_parent
from specctl.lab.server.reports import Reporter
from specctl.lab.server.startup import EndedWithoutAWordError, Startup

if TYPE_CHECKING:
    from specctl.lab.engine import Engine
    from specctl.lab.server.launch import Launch
    from specctl.lab.server.wire import Wire

_BEHIND_S = 0.05
"""A machine too slow for the steps' length is forgiven so much, then time is lost."""

_HANG_LOOK_S = 0.25


def run_scheduler(launch: Launch, wire: Wire) -> None:
    """The whole life of the process of rank 0; never returns."""
    log = Log(launch.tag(0), has_milliseconds=bool(os.environ.get("SGLANG_LOG_MS")))
    try:
        Scheduler(launch, wire, log).run()
    except EndedWithoutAWordError:
        wire.send({"on": "vanished"})
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)
    except Exception as error:  # noqa: BLE001  whatever it is ends the server, as it does SGLang
        _say_exception(log, error)
        os.kill(os.getppid(), signal.SIGQUIT)
    while True:
        signal.pause()


def _say_exception(log: Log, error: Exception) -> None:
    import traceback

    log.say(f"Scheduler hit an exception: {''.join(traceback.format_exception(error))}")


class Scheduler:
    """Batches requests; owns the engine, the GPUs' load and the reports."""

    def __init__(self, launch: Launch, wire: Wire, log: Log) -> None:
        self._launch, self._wire, self._log = launch, wire, log
        self._use = GpuUse(launch, ())
        self._last: StepOutcome | None = None
        self._has_answered = False
        self._loop_tokens: tuple[int, ...] = ()
        self._garbage_at = 0
        self._due = 0.0
        """When the step that is being worked on will be over."""

        self._report = Reporter(launch, log, launch.kv_tokens)
        self._engine: Engine

    def run(self) -> None:
        """Start, say that it has started, and serve until the main process is gone."""
        (begin,) = self._first_message()
        self._use = GpuUse(self._launch, begin["pids"])
        startup = Startup(self._launch, self._log, self._use)
        self._listening = listen_for_ranks(self._launch.args.nccl_port)
        startup.run()
        self._engine = self._build(begin["boot"])
        self._wire.send(
            {
                "on": "started",
                "timings": startup.timings,
                "free_gb": startup.free_gb,
                "graph_bytes": startup.graph_bytes,
            }
        )
        self._serve()

    def _first_message(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while not found and not self._wire.is_closed:
            found = self._wire.receive(None)
        return found

    def _build(self, boot: int) -> Engine:
        launch = self._launch
        scenario = dict(launch.lab_host.scenario)
        if launch.lab_host.fault("accept-length-one") is not None:
            scenario["drafters"] = unwire(scenario.get("drafters", {}))
        engine = build_engine(
            launch.setting(),
            scenario,
            model_name=launch.model_name,
            draft_name=launch.draft_name if launch.algorithm != "NGRAM" else None,
            boot=boot,
        )
        self._load_corpus(engine)
        return engine

    def _load_corpus(self, engine: Engine) -> None:
        path = self._launch.args.speculative_ngram_external_corpus_path
        if not path or self._launch.algorithm != "NGRAM":
            return
        tokenizer = build_tokenizer()
        documents = [json.loads(line) for line in Path(path).read_text().splitlines() if line]
        loaded = engine.add_corpus(path, [tokenizer.encode(text) for text in documents])
        self._log.say(f"Loaded external ngram corpus '{path}' ({loaded} tokens).")

    # ------------------------------------------------ serving
    def _serve(self) -> None:
        due = time.monotonic()
        while True:
            if not self._engine.has_work or self._hangs():
                self._rest()
                due = time.monotonic()
                continue
            outcome = self._engine.step()
            due = max(due, time.monotonic() - _BEHIND_S) + outcome.duration_s
            self._due = due
            self._work(outcome)
            self._listen_until(due)
            self._deliver(outcome)

    def _hangs(self) -> bool:
        if self._has_answered:
            return False
        return self._launch.lab_host.fault("hang-at-warmup") is not None

    def _rest(self) -> None:
        """Until a message comes; a hanging scheduler looks now and then whether it still hangs."""
        self._use.rest()
        if self._last is not None:
            self._last = None
            self._send_step([])
        began = time.monotonic()
        is_hanging = self._engine.has_work
        messages = self._wire.receive(_HANG_LOOK_S if is_hanging else None)
        self._engine.idle(time.monotonic() - began)
        for message in messages:
            self._heed(message)
        if self._wire.is_closed:
            self._outlive()

    def _outlive(self) -> None:
        """The main process is gone: end, or stay behind as an orphan where that is the fault."""
        if self._launch.lab_host.fault("orphan-scheduler") is None:
            os._exit(0)
        while self._launch.lab_host.folder.is_dir():
            time.sleep(1.0)
        os._exit(0)

    def _work(self, outcome: StepOutcome) -> None:
        parts = outcome.parts
        busy = (parts.target_s + parts.draft_s) / parts.total_s if parts.total_s else 0.0
        if outcome.prefill is not None:
            tokens = outcome.prefill.new_tokens
        else:
            width = self._engine.setting.num_draft_tokens if self._launch.algorithm else 1
            tokens = outcome.batch_size * width
        self._use.work(busy, tokens / max(outcome.duration_s, 1e-6), time.monotonic())

    def _listen_until(self, due: float) -> None:
        while (left := due - time.monotonic()) > 0:
            for message in self._wire.receive(left):
                self._heed(message)
            if self._wire.is_closed:
                self._outlive()

    def _deliver(self, outcome: StepOutcome) -> None:
        self._last = outcome
        self._has_answered = self._has_answered or bool(outcome.emissions)
        before = self._report.reports
        self._report.take(outcome)
        is_due = self._report.reports > before
        if is_due and self._launch.lab_host.fault("hostile-log") is not None:
            write_hostile_lines(self._log)
        self._send_step([self._emission(one) for one in outcome.emissions], is_report=is_due)

    def _send_step(self, out: list[list[Any]], *, is_report: bool = False) -> None:
        engine = self._engine
        running, waiting = len(engine.running), len(engine.waiting)
        snapshot = self._report.snapshot(self._last, running=running, waiting=waiting)
        is_prefill = self._last is not None and self._last.kind is StepKind.PREFILL
        self._wire.send(
            {"on": "step", "out": out, "snapshot": snapshot, "report": is_report or is_prefill}
        )

    def _emission(self, emission: Emission) -> list[Any]:
        tokens = list(emission.tokens)
        if tokens and self._launch.lab_host.fault("garbage-output") is not None:
            tokens = self._garbage(len(tokens))
        if emission.finish is None:
            return [emission.rid, tokens, None, None]
        account = asdict(self._engine.account(emission.rid))
        self._engine.forget(emission.rid)
        finish = {**asdict(emission.finish), "kind": str(emission.finish.kind)}
        return [emission.rid, tokens, finish, account]

    def _garbage(self, count: int) -> list[int]:
        """The same few words, over and over."""
        if not self._loop_tokens:
            self._loop_tokens = tuple(build_tokenizer().encode("and so on, and so on, "))
        loop = self._loop_tokens
        start, self._garbage_at = self._garbage_at, (self._garbage_at + count) % len(loop)
        return [loop[(start + step) % len(loop)] for step in range(count)]

    # ------------------------------------------------ being told
    def _heed(self, message: dict[str, Any]) -> None:
        getattr(self, f"_do_{message['do']}")(message)

    def _reply(self, order: dict[str, Any], **answer: Any) -> None:
        self._wire.send({"on": "reply", "id": order["id"], **answer})

    def _do_submit(self, message: dict[str, Any]) -> None:
        for item in message["requests"]:
            words = {**item, "tokens": tuple(item["tokens"]), "stop": tuple(item["stop"])}
            words["stop_token_ids"] = frozenset(item["stop_token_ids"])
            self._engine.submit(Request(**words))
            account = self._engine.account(item["rid"])
            account.submitted_s -= max(0.0, self._due - time.monotonic())

    def _do_abort(self, message: dict[str, Any]) -> None:
        for rid in message["rids"]:
            self._engine.abort(rid)

    def _do_abort_all(self, _message: dict[str, Any]) -> None:
        self._engine.abort_all()

    def _do_flush(self, message: dict[str, Any]) -> None:
        is_done = self._engine.flush()
        if is_done:
            self._report.flush()
            self._log.say("Cache flushed successfully!")
        else:
            self._log.say(
                "Cache not flushed because there are pending requests. "
                f"#queue-req: {len(self._engine.waiting)}, "
                f"#running-req: {len(self._engine.running)}"
            )
        self._send_step([])
        self._reply(message, ok=is_done)

    def _do_thresholds(self, message: dict[str, Any]) -> None:
        self._report.flush()
        self._send_step([])
        self._reply(message, ok=True)

    def _do_corpora(self, message: dict[str, Any]) -> None:
        self._reply(message, corpora=dict(self._engine.corpora))

    def _do_state(self, message: dict[str, Any]) -> None:
        self._reply(message, step_times=self._report.step_times())

    def _do_add_corpus(self, message: dict[str, Any]) -> None:
        try:
            loaded = self._engine.add_corpus(message["corpus_id"], message["documents"])
        except Exception as error:  # noqa: BLE001  the reason goes to whoever asked
            self._reply(message, ok=False, message=str(error))
            return
        self._reply(message, ok=True, loaded=loaded)

    def _do_remove_corpus(self, message: dict[str, Any]) -> None:
        self._reply(message, ok=self._engine.remove_corpus(message["corpus_id"]))

    def _do_reopen(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            reopen_log(message["path"])

    def _do_outlive(self, _message: dict[str, Any]) -> None:
        die_with_parent(is_bound=False)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def listen_for_ranks(port: int | None) -> socket.socket:
    """The port at which the ranks of a server find each other; any one unless the flag says."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", port or 0))
    listening.listen(8)
    return listening


def unwire(drafters: dict[str, Any]) -> dict[str, Any]:
    """The drafters of a scenario as if none of what they propose ever agreed."""
    return {name: {**row, "accept": [0.0 for _ in row.get("accept", [0.0])]}
            for name, row in drafters.items()}  # fmt: skip
