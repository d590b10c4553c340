"""What a server says of itself: arguments, state, model, load."""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from specctl.lab.server.web import Answer, Asked, json_answer

if TYPE_CHECKING:
    from specctl.lab.server.state import ServerState

_FAKE_KEYS = {
    "api_key": "sk-simulated-0123456789abcdef",
    "admin_api_key": "adm-simulated-0123456789abcdef",
    "ssl_keyfile_password": "simulated-password-0123456789",
}


class Information:
    """The endpoints that only read."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._created = time.time_ns() // 10**9

    # ------------------------------------------------ /server_info
    async def server_info(self, _asked: Asked) -> Answer:
        """Everything; the scheduler is waited for, however long it is stuck."""
        state = await self._state.link.ask(do="state")
        return json_answer(self._info(state["step_times"]))

    def _info(self, step_times: dict[str, list[float]] | None) -> dict[str, Any]:
        state, launch = self._state, self._state.launch
        info: dict[str, Any] = {**launch.resolved.shown, **state.thresholds}
        info |= self._keys()
        if launch.numbers >= (0, 5, 23):
            info["launch_command"] = self._command()
        info |= {
            "status": "ready",
            "max_total_num_tokens": launch.kv_tokens,
            "max_req_input_len": launch.max_input_tokens,
        }
        if launch.numbers >= (0, 5, 23):
            info["startup_time"] = {**state.startup_times, "tokenizer_e2e": state.tokenizer_s}
            info["hicache_object_layout"] = _no_layout(launch.args.page_size)
            info["kv_events"] = None
        recorded = {} if step_times is None else {"step_time_dict": step_times}
        info["internal_states"] = [{**self._internal(), **recorded}]
        info["version"] = launch.version
        if launch.numbers >= (0, 5, 23):
            info["frontend"] = "python"
        return info

    def _keys(self) -> dict[str, Any]:
        shown = self._state.launch.resolved.shown
        if self._state.launch.lab_host.fault("keys-in-server-info") is None:
            return {}
        return {name: shown[name] or fake for name, fake in _FAKE_KEYS.items() if name in shown}

    def _command(self) -> str:
        words = list(self._state.launch.argv)
        keys = self._keys()
        if keys:
            words += ["--api-key", str(keys["api_key"])]
        return shlex.join(words)

    def _internal(self) -> dict[str, Any]:
        state, launch = self._state, self._state.launch
        shown, snapshot = launch.resolved.shown, state.link.snapshot
        hidden = set(state.shapes.get("state_hidden", ()))
        kept = state.shapes.get("state_keys") or [name for name in shown if name not in hidden]
        own = {"use_mla_backend": "kv_lora_rank" in launch.resolved.target}
        found: dict[str, Any] = {name: shown.get(name, own.get(name)) for name in kept}
        found |= self._keys() | state.thresholds
        if launch.numbers <= (0, 5, 10):
            found |= own
        if launch.numbers == (0, 5, 10):
            found["_mx_config_cache"] = {}
        if launch.numbers >= (0, 5, 23):
            found["world_size"] = launch.ranks
            found["startup_time"] = state.startup_times
        effective = {"effective_max_running_requests_per_dp": launch.max_running}
        if launch.numbers >= (0, 5, 23):
            found |= effective
        found["last_gen_throughput"] = snapshot.get("last_throughput", 0.0)
        found["memory_usage"] = self._memory()
        if launch.numbers == (0, 5, 10):
            found |= effective
        if launch.numbers <= (0, 5, 2):
            found["load"] = snapshot.get("running", 0) + snapshot.get("waiting", 0)
        if launch.numbers >= (0, 5, 23):
            found["decode_cuda_graph_bs"] = []
            found["decode_cuda_graph_memory_gb"] = state.graph_gb
        average = snapshot.get("average_accept_length")
        return found if average is None else {**found, "avg_spec_accept_length": average}

    def _memory(self) -> dict[str, Any]:
        state, launch = self._state, self._state.launch
        usage: dict[str, Any] = {
            "weight": round(state.weight_gb, 3),
            "kvcache": round(state.cache_gb, 3),
        }
        if launch.numbers >= (0, 5, 23):
            usage["startup_available"] = round(float(state.started["free_gb"]), 3)
        usage["token_capacity"] = launch.kv_tokens
        if launch.numbers < (0, 5, 23):
            return {**usage, "graph": round(state.graph_gb, 2) or 0}
        times = state.startup_times["cuda_graph"]
        captured = [phase for phase, seconds in times.items() if seconds]
        share = state.graph_gb / max(1, len(captured))
        graphs = {phase: round(share, 3) if phase in captured else 0.0 for phase in times}
        return {**usage, "token_capacity_swa": None, "graph": graphs}

    # ------------------------------------------------ the model
    async def model_info(self, _asked: Asked) -> Answer:
        """/model_info."""
        launch = self._state.launch
        info = dict(self._state.shapes["model_info"])
        target = launch.resolved.target
        values = {
            "model_path": launch.args.model_path,
            "served_model_name": launch.args.served_model_name,
            "tokenizer_path": launch.args.tokenizer_path,
            "model_type": target.get("model_type", "llama"),
            "architectures": target.get("architectures"),
        }
        return json_answer({**info, **{k: v for k, v in values.items() if k in info}})

    async def models(self, _asked: Asked) -> Answer:
        """/v1/models."""
        launch = self._state.launch
        name = launch.args.served_model_name
        row = {
            "id": name,
            "object": "model",
            "created": self._created,
            "owned_by": "sglang",
            "root": name,
            "parent": None,
            "max_model_len": launch.context_length,
        }
        if launch.numbers <= (0, 5, 2):
            del row["parent"]
        return json_answer({"object": "list", "data": [row]})

    # ------------------------------------------------ load
    async def get_load(self, _asked: Asked) -> Answer:
        """/get_load, until 0.5.20."""
        snapshot = self._state.link.snapshot
        running, waiting = snapshot.get("running", 0), snapshot.get("waiting", 0)
        if self._state.launch.numbers <= (0, 5, 2):
            return json_answer({"load": running + waiting})
        row = {
            "rid": None,
            "http_worker_ipc": None,
            "dp_rank": None,
            "num_reqs": running + waiting,
            "num_waiting_reqs": waiting,
            "num_tokens": snapshot.get("used", 0),
            "ts_tic": time.monotonic(),
        }
        return json_answer([row])

    async def loads(self, asked: Asked) -> Answer:
        """/v1/loads: the snapshot that the scheduler published last."""
        state, launch = self._state, self._state.launch
        published = state.link.published
        wanted = asked.query.get("include", "all").split(",")
        row = self._core(published)
        parts = {
            "memory": self._load_memory(),
            "speculative": self._load_speculation(published),
            "disaggregation": _no_disaggregation(),
            "queues": _queues(published),
        }
        short = {"speculative": "spec", "disaggregation": "disagg"}
        for name, part in parts.items():
            if part is not None and {"all", name, short.get(name, name)} & set(wanted):
                row[name] = part
        stamp = datetime.now(UTC).isoformat(timespec="microseconds")
        return json_answer(
            {
                "timestamp": stamp,
                "version": launch.version,
                "accelerator": self._accelerator(),
                "num_accelerators": launch.ranks,
                "loads": [row],
            }
        )

    def _accelerator(self) -> str | None:
        rows = self._state.launch.lab_host.scenario.get("gpus", [])
        used = [row["name"] for row in rows if row["index"] in self._state.launch.gpus]
        return str(used[0]) if used else None

    def _core(self, published: dict[str, Any]) -> dict[str, Any]:
        launch = self._state.launch
        used = published.get("used", 0)
        return {
            "timestamp": published.get("time", 0.0),
            "dp_rank": 0,
            "num_running_reqs": published.get("running", 0),
            "num_waiting_reqs": published.get("waiting", 0),
            "num_waiting_uncached_tokens": 0,
            "num_used_tokens": used,
            "num_total_tokens": used,
            "num_active_tokens": used,
            "num_prealloc_ready_tokens": 0,
            "max_total_num_tokens": launch.kv_tokens,
            "max_running_requests": launch.max_running,
            "token_usage": published.get("usage", 0.0),
            "gen_throughput": published.get("throughput", 0.0),
            "cache_hit_rate": published.get("hit_rate", 0.0),
            "utilization": 0.0,
            "total_prefill_uncached_tokens": published.get("prefill_tokens", 0),
            "total_prefill_busy_us": 0,
            "decode_moments": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        }

    def _load_memory(self) -> dict[str, Any]:
        state = self._state
        return {
            "weight_gb": round(state.weight_gb, 3),
            "kv_cache_gb": round(state.cache_gb, 3),
            "graph_gb": round(state.graph_gb, 3),
            "token_capacity": state.launch.kv_tokens,
        }

    def _load_speculation(self, published: dict[str, Any]) -> dict[str, Any] | None:
        if not self._state.launch.algorithm or not published.get("accept_length"):
            return None
        return {
            "accept_length": published["accept_length"],
            "accept_rate": published["accept_rate"],
        }


def _no_layout(page_size: int) -> dict[str, Any]:
    return {
        "enabled": False,
        "backend": None,
        "page_size": page_size,
        "hicache_object_layout": {"pools": []},
        "reason": "Hierarchical cache is disabled",
    }


def _no_disaggregation() -> dict[str, Any]:
    queues = ("prefill_bootstrap", "prefill_inflight", "decode_prealloc", "decode_transfer",
              "decode_retracted")  # fmt: skip
    return {
        "mode": "null",
        **{f"{name}_queue_reqs": 0 for name in queues},
        "kv_transfer_speed_gb_s": 0.0,
        "kv_transfer_latency_ms": 0.0,
    }


def _queues(published: dict[str, Any]) -> dict[str, Any]:
    waiting = published.get("waiting", 0)
    return {"waiting": waiting, "grammar": 0, "paused": 0, "retracted": 0, "prealloc_ready": 0}
