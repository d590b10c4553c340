"""What the texts of a failed server mean, and what to do next: a table, most specific first.

Texts are SGLang's (0.4.2 to 0.5.23), PyTorch's, NCCL's, Triton's, uvicorn's and argparse's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class CauseKind(StrEnum):
    """The kinds of first cause."""

    ARGPARSE = "argparse"
    PORT_TAKEN = "port taken"
    OOM_WEIGHTS = "out of memory: weights"
    OOM_DRAFT_WEIGHTS = "out of memory: draft weights"
    OOM_KV_POOL = "out of memory: KV pool"
    OOM_TARGET_GRAPH = "out of memory: target graph"
    OOM_DRAFT_GRAPH = "out of memory: draft graph"
    OOM_RUNTIME = "out of memory: runtime"
    OOM = "out of memory"
    KV_POOL_TOO_SMALL = "no room for the KV pool"
    SHM_FULL = "/dev/shm full"
    DISK_FULL = "disk full"
    SIGKILL = "killed"
    SIGNAL = "ended by a signal"
    STOPPED = "stopped"
    STOPPED_GROUP = "stopped: whole group signalled"
    CUDA_ERROR = "CUDA error"
    NO_CUDA = "CUDA not usable"
    DRIVER = "driver"
    MODEL_MISSING = "model missing"
    UNKNOWN_ALGORITHM = "unknown algorithm"
    DRAFT_MISSING = "draft missing"
    DRAFT_KIND = "draft of another kind"
    VOCAB_MISMATCH = "vocabulary mismatch"
    HIDDEN_SIZE_MISMATCH = "hidden size mismatch"
    SPECULATION_ARGUMENTS = "speculation arguments"
    NCCL = "NCCL connection"
    WATCHDOG_NCCL = "NCCL watchdog"
    WATCHDOG_SCHEDULER = "scheduler watchdog"
    TRITON = "Triton compilation"
    FP8_KV = "fp8 KV cache not supported"
    WARM_UP = "warm-up failed"
    HEALTH_PILE_UP = "health checks piled up"
    NOT_ANSWERING = "scheduler not answering"
    EXCEPTION = "exception"
    EXIT_ZERO = "exit 0 without a stop"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Rule:
    """A text that is a cause."""

    kind: CauseKind
    pattern: re.Pattern[str]
    summary: str
    """May use the pattern's named groups."""

    next_step: str
    is_weak: bool = False
    """Counts only when nothing else in the log is a cause."""


def _rule(
    kind: CauseKind, pattern: str, summary: str, next_step: str, *, is_weak: bool = False
) -> Rule:
    return Rule(kind, re.compile(pattern), summary, next_step, is_weak)


K = CauseKind

RULES: tuple[Rule, ...] = (
    _rule(
        K.ARGPARSE,
        r"^[\w./ -]{0,60}(?:sglang|launch_server|__main__)[\w./ -]{0,20}: error: (?P<what>.+)",
        "the server refused its arguments: {what}",
        "Correct that argument in the profile; `specctl show` prints the command line it makes.",
    ),
    _rule(
        K.PORT_TAKEN,
        r"\[Errno 98\].*?\('[^']*', (?P<port>\d+)\)|\[Errno 98\]|address already in use"
        r"|[Pp]ort (?P<port2>\d+) (?:is )?(?:already )?(?:in use|not available)",
        "its port is taken{at_port}: the server has loaded but cannot serve",
        "Stop this server (0.5.23 does not exit by itself), then free the port or start with "
        "another --port.",
    ),
    _rule(
        K.SHM_FULL,
        r"Fatal Python error: Bus error|exit(?:ed with)? code:? ?-7\b"
        r"|No space left on device.*?/dev/shm",
        "bus error: /dev/shm is full",
        "Look at `df -h /dev/shm`; remove segments whose creator is gone, or give the container "
        "more (--shm-size).",
    ),
    _rule(
        K.DISK_FULL,
        r"No space left on device|Disk quota exceeded",
        "a disk is full: {line}",
        "Free space where the model cache, the log and /tmp lie.",
    ),
    _rule(
        K.VOCAB_MISMATCH,
        r"share the same vocabulary as the target model, but got target vocab_size=(?P<target>\d+)"
        r" and draft vocab_size=(?P<draft>\d+)",
        "the vocabularies differ: target {target}, draft {draft}",
        "Use a draft model with the target's tokenizer, or EAGLE-3 or NGRAM instead of STANDALONE.",
    ),
    _rule(
        K.HIDDEN_SIZE_MISMATCH,
        r"Sizes of tensors must match except in dimension 0\. Expected size (?P<target>\d+) but got"
        r" size (?P<draft>\d+)",
        "draft and target hidden sizes differ ({target} against {draft})",
        "Use a draft made for this target; one request alone does not show this, two together do.",
    ),
    _rule(
        K.UNKNOWN_ALGORITHM,
        r"Unknown speculative algorithm name: (?P<name>.*)|invalid choice: '(?P<name2>\w+)'.*EAGLE",
        "this build does not know the speculative algorithm {name}",
        "See which algorithms the build has with `specctl source HOST`, or upgrade SGLang there.",
    ),
    _rule(
        K.DRAFT_MISSING,
        r"'VocabParallelEmbedding' object has no attribute 'weight'",
        "EAGLE has no usable draft: the target was loaded as its own draft",
        "Set speculation.draft-model-path to a draft made for this target (or use NGRAM, which "
        "needs none).",
    ),
    _rule(
        K.DRAFT_KIND,
        r"object has no attribute 'hot_token_id'|set_eagle3_layers_to_capture",
        "draft and algorithm do not belong together: {line}",
        "EAGLE3 needs an EAGLE-3 draft (architecture ...Eagle3) and a target that supports it.",
    ),
    _rule(
        K.SPECULATION_ARGUMENTS,
        r"'>' not supported between instances of 'NoneType' and 'int'"
        r"|speculative_eagle_topk\S* > 1 with page_size"
        r"|only supports topk = 1 for speculative decoding|selected index k out of range"
        r"|speculative decoding (?:does not support|only supports|is not supported)"
        r"|^--speculative-\S+ .*(?:only supports|requires|must be|incompatible)"
        r"|speculative_ngram\S* must be",
        "the speculation arguments contradict each other: {line}",
        "Give none of num-steps, eagle-topk and num-draft-tokens, or all three.",
    ),
    _rule(
        K.MODEL_MISSING,
        r"Repo id must be in the form .*?: '(?P<path>[^']*)'"
        r"|(?:OSError|FileNotFoundError|RepositoryNotFoundError|LocalEntryNotFoundError): .*"
        r"(?:not a local folder|No such file or directory: '(?P<path2>[^']*)'|not appear to have"
        r"|Repository Not Found|couldn't (?:connect|find))"
        r"|couldn't find them in the cached files"
        r"|Unrecognized model in (?P<path3>\S+)"
        r"|Cannot find any model weights with `?(?P<path4>[^`]*)",
        "the model {path}is not there or not complete",
        "Correct the path, or download the model on that host; offline hosts need it in HF_HOME.",
    ),
    _rule(
        K.FP8_KV,
        r"Unsupported rhs dtype fp8e4nv|type fp8e4nv not supported in this architecture"
        r"|fp8.*kv.*not supported",
        "this GPU cannot use an fp8 KV cache (no fp8 dot product in Triton)",
        "Start without --kv-cache-dtype fp8_e4m3.",
    ),
    _rule(
        K.TRITON,
        r"triton\.compiler\.errors\.\w+|CompilationError: at \d+:\d+|PassManager::run failed"
        r"|triton\.runtime\.errors\.\w+",
        "a Triton kernel does not compile: {line}",
        "Try another --attention-backend (or draft attention backend); report it with the build's "
        "version.",
    ),
    _rule(
        K.HEALTH_PILE_UP,
        r"q\.shape\[0\] \((?P<q>\d+)\) does not match qo_indptr\[-1\] \((?P<n>\d+)\)",
        "a batch of piled-up one-token requests broke: health checks that timed out stay queued",
        "Let at most one health check wait at a time, with a client timeout above 20 s.",
    ),
    _rule(
        K.WATCHDOG_NCCL,
        r"Watchdog caught collective operation timeout: .*?OpType=(?P<op>\w+).*?"
        r"Timeout\(ms\)=(?P<ms>\d+)",
        "a collective ({op}) waited {ms} ms for a rank that never came (NCCL's watchdog)",
        "Find the rank that is not there (its GPU idles while the others are at 100 %); "
        "--dist-timeout governs this watchdog, --watchdog-timeout does not.",
    ),
    _rule(
        K.WATCHDOG_SCHEDULER,
        r"^(?:\w+ )?[Ww]atchdog [Tt]imeout \((?:self\.)?watchdog_timeout=(?P<s>[\d.]+)",
        "the scheduler made no step for {s} s (SGLang's own watchdog)",
        "Look at the thread dumps below it for where it waits; --watchdog-timeout governs this "
        "one, NCCL's has its own (--dist-timeout).",
    ),
    _rule(
        K.NCCL,
        r"NCCL WARN .*?(?P<what>connect to \S+ (?:returned|failed).*|Connection (?:refused|closed))"
        r"|NCCL error: (?P<what2>remote process exited or there was a network error)"
        r"|DistNetworkError|DistStoreError|connect\(\) timed out",
        "ranks could not reach each other: {what}",
        "The peer is gone or the network is in the way: check that every rank started, and "
        "NCCL_SOCKET_IFNAME.",
    ),
    _rule(
        K.KV_POOL_TOO_SMALL,
        r"larger than the profiled value (?P<tokens>-\d+)",
        "no room for the KV pool: {tokens} tokens are left after the weights",
        "",
    ),
    _rule(
        K.OOM,
        r"CUDA out of memory|OutOfMemoryError|HIP out of memory"
        r"|Triton Error \[CUDA\]: out of memory|(?:Prefill|Decode) out of memory",
        "GPU memory ran out {phase}{size}",
        "",
    ),
    _rule(
        K.KV_POOL_TOO_SMALL,
        r"Not enough memory\. Please try to increase --mem-fraction-static",
        "no room for the KV pool after the weights",
        "",
    ),
    _rule(
        K.DRIVER,
        r"CUDA driver version is insufficient|NVML: Driver/library version mismatch"
        r"|system not yet initialized|no CUDA-capable device is detected"
        r"|forward compatibility was attempted",
        "the GPU driver cannot be used: {line}",
        "Compare `nvidia-smi` with the build's CUDA version; a driver upgrade needs a reboot or a "
        "module reload. `specctl doctor` shows both.",
    ),
    _rule(
        K.NO_CUDA,
        r"has no attribute '_cuda_setDevice'|Torch not compiled with CUDA enabled"
        r"|No accelerator .* is available|Found no NVIDIA driver",
        "this Python's PyTorch has no CUDA: {line}",
        "Use the interpreter that has SGLang's CUDA build, or --device cpu.",
    ),
    _rule(
        K.CUDA_ERROR,
        r"CUDA error: (?P<what>[^\n]+)|CUBLAS_STATUS_\w+|cudaError\w+",
        "CUDA error: {what}",
        "Start again with CUDA_LAUNCH_BLOCKING=1 to learn which kernel; look for Xid lines in "
        "`dmesg` in case the GPU itself is at fault.",
    ),
    _rule(
        K.WARM_UP,
        r"Initialization failed\. warmup error",
        "the warm-up request failed",
        "Read the exception below it; a proxy in the environment (http_proxy) catches the warm-up "
        "too.",
    ),
    _rule(
        K.STOPPED,
        r"^SIGTERM received",
        "somebody asked it to stop (SIGTERM)",
        "See who stopped it: a supervisor, a login session that ended, a person.",
    ),
    _rule(
        K.SIGKILL,
        r"[Ss]ubprocess (?P<name>\S+) \(pid=\d+\) crashed with exit code -9"
        r"|exit(?:ed with)? code:? ?-9\b",
        "a scheduler was killed (SIGKILL)",
        "Mostly the kernel's out-of-memory killer: look in `dmesg -T` and in the container's "
        "memory.events.",
    ),
    _rule(
        K.SIGNAL,
        r"[Ss]ubprocess (?P<name>\S+) \(pid=\d+\) crashed with exit code (?P<code>-\d+)"
        r"|Fatal Python error: (?P<fault>.+)|Segmentation fault",
        "a process of the server ended abnormally: {line}",
        "Read the lines before it and `dmesg -T`.",
    ),
    _rule(
        K.SIGKILL,
        r"^(?:\S+: line \d+: +\d+ )?Killed\b",
        "it was killed (SIGKILL)",
        "Mostly the kernel's out-of-memory killer: look in `dmesg -T` and in the container's "
        "memory.events.",
        is_weak=True,
    ),
    _rule(
        K.UNKNOWN,
        r"Rank \d+ scheduler (?:is dead|died during initialization)",
        "a scheduler died; its own lines are not in this log",
        "Read the log of that rank or that host.",
        is_weak=True,
    ),
    _rule(
        K.NOT_ANSWERING,
        r"Health check failed\. Server couldn't get a response from detokenizer",
        "the scheduler stopped answering",
        "See whether its GPU is busy: busy = a long prefill, idle = it hangs (py-spy dump --pid).",
        is_weak=True,
    ),
)

EXITS: dict[int, tuple[CauseKind, str, str]] = {
    0: (
        K.EXIT_ZERO,
        "it exited with status 0 although nobody stopped it",
        "SGLang ends so after a crashed child: read the end of the log, and `dmesg -T`.",
    ),
    2: (
        K.ARGPARSE,
        "it refused its arguments (status 2)",
        "Run the command line by hand to see the message; `specctl show` prints it.",
    ),
    7: (
        K.SHM_FULL,
        "bus error (SIGBUS): /dev/shm is full",
        "Look at `df -h /dev/shm`; remove segments whose creator is gone.",
    ),
    9: (
        K.SIGKILL,
        "it was killed (SIGKILL) and its log gives no cause",
        "Mostly the kernel's out-of-memory killer: look in `dmesg -T` and in the container's "
        "memory.events.",
    ),
    15: (
        K.STOPPED,
        "it was ended by SIGTERM",
        "See who stopped it: a supervisor, a login session that ended, a person.",
    ),
}
"""By exit status 0 or 2, else by signal number."""
