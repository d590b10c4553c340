"""What one start of the server is: its arguments, host, GPUs, models' sizes and durations."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.domain.ngram.settings import MatchType, NgramSettings
from specctl.lab.dialects import numbers_of
from specctl.lab.setting import Setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.place import LabHost
    from specctl.lab.server.placing import Instance
    from specctl.lab.server.resolution import Resolved

_GB = 1 << 30
_PREFIXES_VARIABLES = (0, 5, 3)
_LEARNS_LATE, _REMEMBERS_MATCHES = (0, 5, 14), (0, 5, 11)
"""Releases from which n-gram speculation works in another way."""

_MOST_RUNNING = 2048
"""Requests at once where nothing says otherwise."""

DURATIONS = {
    "imports": 0.3,
    "distributed": 0.3,
    "weights": 2.0,
    "draft_weights": 0.6,
    "memory_pool": 0.2,
    "capture": 0.9,
    "draft_capture": 0.3,
    "warm_up_pause": 0.2,
    "drain_poll": 1.0,
    "crash_pause": 1.0,
    "health": 1.0,
    "health_timeout": 20.0,
}
"""Seconds; a scenario's `durations` replace single ones. Real servers take far longer to load."""

COMING_AND_GOING = frozenset({
    "imports", "distributed", "weights", "draft_weights", "memory_pool", "capture",
    "draft_capture", "warm_up_pause", "drain_poll",
})  # fmt: skip
"""What a scenario's `load_factor` stretches."""


@dataclass(frozen=True)
class Launch:
    """One start."""

    version: str
    resolved: Resolved
    argv: Sequence[str]
    lab_host: LabHost
    gpus: tuple[int, ...]
    """One per scheduler; empty on a host without."""

    environment: Mapping[str, str] = field(default_factory=dict)
    instance: Instance | None = None
    """Of a GPU in MIG mode."""

    @property
    def args(self) -> Any:
        """The resolved arguments."""
        return self.resolved.args

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version, comparable."""
        return numbers_of(self.version)

    @property
    def ranks(self) -> int:
        """Scheduler processes."""
        return max(1, int(self.args.tp_size) * int(self.args.pp_size))

    def tag(self, rank: int) -> str:
        """What a scheduler's log lines carry: nothing when it is the only one."""
        if self.ranks == 1:
            return ""
        tp = int(self.args.tp_size)
        stage = f" PP{rank // tp}" if int(self.args.pp_size) > 1 else ""
        return f"{stage} TP{rank % tp}"

    def title(self, rank: int) -> str:
        """The process title of a scheduler."""
        return f"sglang::scheduler{self.tag(rank).replace(' ', '_')}"

    def duration_s(self, name: str) -> float:
        """How long a part of a start, or of a stop, takes."""
        scenario = self.lab_host.scenario
        factor = float(scenario.get("load_factor", 1.0)) if name in COMING_AND_GOING else 1.0
        durations: Mapping[str, float] = scenario.get("durations", {})
        return factor * float(durations.get(name, DURATIONS[name]))

    @property
    def model_name(self) -> str:
        """The model's directory name, by which the scenario knows it."""
        return Path(self.args.model_path).name

    @property
    def draft_name(self) -> str | None:
        """The drafter's directory name."""
        path = self.args.speculative_draft_model_path
        return Path(path).name if path else None

    @property
    def model(self) -> Mapping[str, Any]:
        """What the scenario says of the model; empty when it does not know it."""
        found: Mapping[str, Any] = self.lab_host.scenario.get("models", {}).get(self.model_name, {})
        return found

    @property
    def weight_bytes(self) -> int:
        """Of the target, on each GPU."""
        return _size(self.model) // self.ranks

    @property
    def draft_weight_bytes(self) -> int:
        """Of the drafter, on each GPU."""
        drafters = self.lab_host.scenario.get("drafters", {})
        return _size(drafters.get(self.draft_name, {})) // self.ranks if self.draft_name else 0

    @property
    def gpu_memory_bytes(self) -> int:
        """Of one GPU; a guess of the host's memory on a host without."""
        if self.instance is not None:
            return self.instance.memory_bytes
        rows = self.lab_host.scenario.get("gpus", [])
        sizes = [row.get("memory_bytes") or 0 for row in rows if row.get("index") in self.gpus]
        return min(sizes, default=0) or 24 * _GB

    @property
    def kv_bytes_per_token(self) -> int:
        """On each GPU, from the model's shape."""
        config = self.resolved.target.get("text_config", self.resolved.target)
        layers = int(config.get("num_hidden_layers", 32))
        if "kv_lora_rank" in config:
            width = int(config["kv_lora_rank"]) + int(config.get("qk_rope_head_dim", 64))
            return layers * width * 2
        heads = int(config.get("num_key_value_heads") or config.get("num_attention_heads", 8))
        size = config.get("head_dim") or int(config.get("hidden_size", 4096)) // max(
            1, int(config.get("num_attention_heads", 32))
        )
        return max(1, layers * heads * int(size) * 4 // self.ranks)

    @property
    def exchanged_bytes_per_token(self) -> int:
        """By each GPU, each way: two all-reduces a layer, as a ring of the ranks does them."""
        config = self.resolved.target.get("text_config", self.resolved.target)
        width = int(config.get("hidden_size", 4096)) * 2
        layers = int(config.get("num_hidden_layers", 32))
        return 2 * layers * width * 2 * (self.ranks - 1) // self.ranks

    @property
    def kv_tokens(self) -> int:
        """Slots of the KV cache: what the memory has room for, unless the arguments say less."""
        if self.args.max_total_tokens:
            return int(self.args.max_total_tokens)
        room = self.gpu_memory_bytes * float(self.args.mem_fraction_static)
        left = room - self.weight_bytes - self.draft_weight_bytes
        return max(4096, int(left / self.kv_bytes_per_token))

    @property
    def kv_bytes(self) -> int:
        """Of the KV cache, on each GPU."""
        return self.kv_tokens * self.kv_bytes_per_token

    @property
    def context_length(self) -> int:
        """Tokens a request may come to."""
        config = self.resolved.target.get("text_config", self.resolved.target)
        return int(self.args.context_length or config.get("max_position_embeddings", 131_072))

    @property
    def max_running(self) -> int:
        """Requests decoded at once."""
        return int(self.args.max_running_requests or _MOST_RUNNING)

    @property
    def max_input_tokens(self) -> int:
        """What a prompt may come to."""
        return min(self.context_length, self.kv_tokens) - 6

    @property
    def has_graphs(self) -> bool:
        """Whether decode steps are captured as CUDA graphs."""
        is_off = self.args.disable_cuda_graph or self.args.disable_decode_cuda_graph
        return not is_off and self.args.cuda_graph_backend_decode != "disabled" and bool(self.gpus)

    @property
    def algorithm(self) -> str | None:
        """That speculates; None for none."""
        name = self.args.speculative_algorithm
        return None if name in {None, "NONE"} else str(name)

    @property
    def simulated_accept_length(self) -> float | None:
        """SGLANG_SIMULATE_ACC_LEN, once without SGLANG_; what cannot be read is no wish."""
        prefix = "SGLANG_" if self.numbers >= _PREFIXES_VARIABLES else ""
        try:
            length = float(self.environment.get(f"{prefix}SIMULATE_ACC_LEN", "-1"))
        except ValueError:
            return None
        return length if length > 0 and self.algorithm else None

    def setting(self) -> Setting:
        """The arguments that the engine heeds; raises ValueError for a bad n-gram setting."""
        args = self.args
        return Setting(
            algorithm=self.algorithm,
            num_steps=int(args.speculative_num_steps or 0),
            eagle_topk=int(args.speculative_eagle_topk or 1),
            num_draft_tokens=int(args.speculative_num_draft_tokens or 0),
            ngram=self._ngram() if self.algorithm == "NGRAM" else NgramSettings(),
            learns_at_once=self.numbers < _LEARNS_LATE,
            corpus_max_tokens=int(args.speculative_ngram_external_corpus_max_tokens or 10_000_000),
            max_running_requests=self.max_running,
            max_total_tokens=self.kv_tokens,
            chunked_prefill_size=int(args.chunked_prefill_size),
            max_prefill_tokens=int(args.max_prefill_tokens),
            context_length=self.context_length,
            caches_prefixes=not args.disable_radix_cache,
            simulated_accept_length=self.simulated_accept_length,
        )

    def _ngram(self) -> NgramSettings:
        args = self.args
        return NgramSettings(
            max_trie_depth=args.speculative_ngram_max_trie_depth,
            min_bfs_breadth=args.speculative_ngram_min_bfs_breadth,
            max_bfs_breadth=args.speculative_ngram_max_bfs_breadth,
            num_draft_tokens=args.speculative_num_draft_tokens,
            match_type=MatchType(args.speculative_ngram_match_type),
            capacity=args.speculative_ngram_capacity,
            external_sam_budget=args.speculative_ngram_external_sam_budget or 0,
            remembers_matches=self.numbers >= _REMEMBERS_MATCHES,
        )


def _size(row: Mapping[str, Any]) -> int:
    """The bytes of a model that scenario.json describes."""
    return int(row.get("weight_bytes") or row.get("bytes") or _GB)
