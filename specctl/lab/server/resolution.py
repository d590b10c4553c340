"""From parsed arguments to resolved ones: what SGLang fills in, rewrites and refuses at its start.

Raises what SGLang raises; whoever calls lets it end the process with a traceback and status 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.lab.declaring import field_of
from specctl.lab.dialects import read_dialect_data
from specctl.lab.server.refusals import refuse_combinations
from specctl.lab.server.speculation_rules import check_stages, resolve_speculation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.server.speculation_rules import Say

_FORCED_PAGES = {"trtllm_mha": 64, "flashmla": 64}
_RAGGED_MODES = ("static", "cap-accept", "compact")
_SHOWS_A_MAPPING_SINCE = (0, 5, 20)
_TRUE = {"1", "true", "yes", "y", "on"}


class Arguments:
    """The arguments of a server; a field that its release does not have is None."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value


@dataclass(frozen=True)
class Machine:
    """What resolution looks at besides the arguments."""

    gpu_name: str | None
    """None without a usable GPU."""

    gpu_memory_bytes: int
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Resolved:
    """Arguments a server can start with, and the models they name."""

    args: Arguments
    shown: Mapping[str, Any]
    """Every argument in the order of the release, as its log and /server_info show them."""

    target: Mapping[str, Any]
    draft: Mapping[str, Any] | None

    def text(self, version: tuple[int, ...]) -> str:
        """The arguments as the log line at the start prints them."""
        if version >= _SHOWS_A_MAPPING_SINCE:
            return repr(dict(self.shown))
        return f"ServerArgs({', '.join(f'{name}={value!r}' for name, value in self.shown.items())})"


def resolve(version: str, parsed: Any, machine: Machine, say: Say) -> Resolved:
    """Resolve the namespace of a command line."""
    args = Arguments(vars(parsed))
    _settle_device(args, machine)
    target = read_model_config(args.model_path)
    draft_path = args.speculative_draft_model_path
    draft = read_model_config(draft_path) if draft_path else None
    if draft_path and args.speculative_draft_model_revision is None:
        args.speculative_draft_model_revision = "main"
    if args.speculative_draft_model_quantization == "unquant":
        args.speculative_draft_model_quantization = None
    _check_environment(args, machine)
    _settle_parallel(args, say)
    _settle_attention(args, machine, say)
    resolve_speculation(args, target, draft, say)
    check_stages(args, is_allowed=_is_on(machine.environment.get("SGLANG_ENABLE_PP_SPEC")))
    _settle_memory(args, machine)
    refuse_combinations(args)
    _settle_names(args)
    return Resolved(args, _shown(version, args), target, draft)


def read_model_config(path: str) -> dict[str, Any]:
    """config.json of a model directory; raises what transformers raises where there is none."""
    folder = Path(path).expanduser()
    if not folder.is_dir():
        if path.startswith(("/", "~", ".")) or path.count("/") > 1:
            raise OSError(
                f"Repo id must be in the form 'repo_name' or 'namespace/repo_name': '{path}'. "
                "Use `repo_type` argument if needed."
            )
        raise OSError(
            "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find "
            f"them in the cached files: {path}"
        )
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    except FileNotFoundError:
        raise ValueError(
            f"Unrecognized model in {path}. Should have a `model_type` key in its config.json."
        ) from None
    return config


def _is_on(value: str | None) -> bool:
    return (value or "").lower() in _TRUE


def _settle_device(args: Arguments, machine: Machine) -> None:
    found = "cuda" if machine.gpu_name else "cpu"
    args.device = str(args.device or found).split(":")[0]
    if args.device == "npu":
        raise ImportError("torch_npu is required when run on npu device.")


def _check_environment(args: Arguments, machine: Machine) -> None:
    name = args.speculative_algorithm and str(args.speculative_algorithm).upper()
    mode = machine.environment.get("SGLANG_RAGGED_VERIFY_MODE", "static")
    if name and mode not in _RAGGED_MODES:
        expected = ", ".join(repr(one) for one in _RAGGED_MODES)
        raise ValueError(f"invalid SGLANG_RAGGED_VERIFY_MODE={mode!r}; expected one of {expected}")
    is_eagle = name in {"EAGLE", "EAGLE3", "NEXTN", "DSPARK"} and not args.enable_multi_layer_eagle
    wanted = _is_on(machine.environment.get("SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"))
    if wanted and not is_eagle:
        raise ValueError(
            "DP spec/prefill coordination requires single-layer EAGLE, EAGLE3 or DSPARK"
        )
    if args.enable_return_aux_hidden_states:
        _check_hidden_states(args, name)


def _check_hidden_states(args: Arguments, name: str | None) -> None:
    if name not in {"EAGLE3", "DFLASH", "DSPARK"}:
        raise ValueError(
            "--enable-return-aux-hidden-states needs --speculative-algorithm EAGLE3, DFLASH or "
            f"DSPARK to name the capture convention, got {name!r}."
        )
    if args.speculative_draft_model_path:
        raise ValueError(
            "--enable-return-aux-hidden-states captures without a draft; drop "
            "--speculative-draft-model-path."
        )
    args.speculative_algorithm = None


def _settle_parallel(args: Arguments, say: Say) -> None:
    has_own_field = args.attn_dp_size is not None
    args.attn_dp_size = args.attn_dp_size if has_own_field else 1
    if args.enable_dp_attention and args.attn_dp_size == 1:
        args.attn_dp_size = args.dp_size
    if args.attn_dp_size > 1 and args.tp_size % args.attn_dp_size:
        raise AssertionError
    args.enable_dp_attention = args.attn_dp_size > 1
    if args.pp_size > 1:
        say("Pipeline parallelism is incompatible with overlap schedule.")
        args.disable_overlap_schedule = True


def _settle_attention(args: Arguments, machine: Machine, say: Say) -> None:
    both = {args.decode_attention_backend, args.prefill_attention_backend}
    if args.attention_backend is None and len(both) == 1 and None not in both:
        (args.attention_backend,) = both
    if args.attention_backend is None:
        args.attention_backend = _best_attention(args, machine)
        if args.device == "cpu":
            say(
                "The current platform does not support Intel AMX, will fallback to torch_native "
                "backend."
            )
    if args.attention_backend in {"torch_native", "flex_attention"}:
        kind = "native" if args.attention_backend == "torch_native" else "Flex"
        say(f"Cuda graph is disabled because of using torch {kind} attention backend")
        args.disable_cuda_graph = True
    _settle_page(args, say)
    args.sampling_backend = args.sampling_backend or (
        "flashinfer" if args.device == "cuda" else "pytorch"
    )


def _settle_page(args: Arguments, say: Say) -> None:
    backends = (
        args.attention_backend, args.decode_attention_backend, args.prefill_attention_backend,
        args.speculative_draft_attention_backend,
    )  # fmt: skip
    forced = next((_FORCED_PAGES[one] for one in backends if one in _FORCED_PAGES), None)
    if forced is not None and args.page_size not in {16, 32, 64, 128}:
        say(
            "TensorRT-LLM MHA only supports page_size of 16, 32, 64 or 128, changing page_size "
            f"from {args.page_size} to {forced}."
        )
        args.page_size = forced
    args.page_size = args.page_size or 1


def _best_attention(args: Arguments, machine: Machine) -> str:
    if args.device == "cpu":
        return "torch_native"
    name = machine.gpu_name or ""
    wants_tree = (args.speculative_eagle_topk or 1) > 1
    if wants_tree:
        return "flashinfer"
    if any(word in name for word in ("H100", "H200", "H20", "GH200")):
        return "fa3"
    return "trtllm_mha" if any(word in name for word in ("B200", "B300")) else "flashinfer"


def _settle_memory(args: Arguments, machine: Machine) -> None:
    gigabytes = machine.gpu_memory_bytes / (1 << 30)
    if args.chunked_prefill_size is None:
        sizes = ((20, 2048), (60, 4096), (160, 8192))
        found = next((size for most, size in sizes if gigabytes < most), 16384)
        args.chunked_prefill_size = found if args.device != "cpu" else 4096
        if args.enable_dp_attention:
            args.chunked_prefill_size //= args.attn_dp_size
    if args.mem_fraction_static is None:
        graphs = 1.5 if args.speculative_algorithm else 1.0
        kept = 4.0 + graphs + args.chunked_prefill_size / 8192
        args.mem_fraction_static = round(max(0.5, 1 - kept / max(gigabytes, 12.0)), 3)


def _settle_names(args: Arguments) -> None:
    args.tokenizer_path = args.tokenizer_path or args.model_path
    args.served_model_name = args.served_model_name or args.model_path
    if args.random_seed is None:
        args.random_seed = abs(hash((args.model_path, args.port))) % (1 << 30)


def _shown(version: str, args: Arguments) -> dict[str, Any]:
    """What nobody asked for and nothing above settled is what that release makes of it."""
    known: dict[str, Any] = read_dialect_data(version, "arguments")
    rows: list[dict[str, Any]] = read_dialect_data(version, "flags")
    defaults = {field_of(row): row.get("default") for row in rows}
    shown = {}
    for name, resolved in known.items():
        value = getattr(args, name)
        is_untouched = value is None or value == defaults.get(name)
        shown[name] = resolved if is_untouched and resolved is not None else value
    return shown
