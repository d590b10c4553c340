"""A host and a server on it, of which the examples are."""

from __future__ import annotations

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, MigDevice, Sample, ServerSample
from specctl.domain.server import Evidence, Identity, Milestone, Server, ServerState

NOW_S = 1_800_000_000.0
GIB = 2**30
BOOT_ID = "3f0c8a52-7d4e-4b7a-9c55-0d6f1a2b3c4d"
MAIN = Identity(BOOT_ID, 4211, 88_123, 4211, 4211, "5c0ffee1")
SCHEDULER = Identity(BOOT_ID, 4290, 88_240, 4211, 4211, "5c0ffee1")
ARGV = (
    "/opt/venv/bin/python", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5",
    "--tp-size", "8", "--speculative-algorithm", "EAGLE3", "--port", "30000",
)  # fmt: skip
REACHED = ((Milestone.WEIGHTS, 283.1), (Milestone.GRAPH_CAPTURE, 311.9), (Milestone.READY, 332.0))
GPU = GpuSample(
    index=0,
    uuid="GPU-5f3c",
    name="NVIDIA RTX PRO 6000 Blackwell Server Edition",
    utilization_percent=97,
    memory_total_bytes=96 * GIB,
    memory_used_bytes=89 * GIB,
    memory_reserved_bytes=GIB,
    memory_scheme="v2",
    power_w=231.5,
    power_limit_w=600,
    temperature_c=61,
    throttle=("heat (hw)",),
    pcie_rx_bytes_per_s=3.1e9,
    mig=False,
    mig_devices=(MigDevice("MIG-1", "1g.12gb", 12 * GIB, None, Missing(Why.NO_PERMISSION)),),
    processes=(GpuProcess(4290, 88 * GIB, "compute", "serve", "sglang::scheduler_TP0"),),
    missing={
        "energy_j": Missing(Why.NOT_SUPPORTED),
        "ecc_uncorrected": Missing(Why.ERROR, "nvmlDeviceGetFieldValues: Unknown Error"),
    },
)
SAMPLE = Sample(
    time_s=NOW_S - 0.2,
    host=HostSample(
        cpu_percent=12.5, cpu_count=128, missing={"load_1min": Missing(Why.NOT_INSTALLED, "psutil")}
    ),
    gpus=(GPU, GpuSample(1, "GPU-77aa", "", lost=True, missing={"power_w": Missing(Why.LOST)})),
    gpu_source="nvml",
    driver="575.57.08",
    cost_ms=1.4,
)
SERVER = Server(
    name="5c0f",
    state=ServerState.BUSY,
    identity=MAIN,
    is_ours=True,
    owner="serve",
    port=30000,
    gpus=(0, 1, 2, 3, 4, 5, 6, 7),
    model="moonshotai/Kimi-K2.5",
    version="0.5.23",
    profile="kimi-k2.5-eagle3",
    launch_id="5c0ffee1",
    launched_by="aw@laptop",
    argv=ARGV,
    log_path="/home/serve/.local/state/specctl/launches/5c0ffee1/server.log",
    milestone=Milestone.READY,
    algorithm="EAGLE3",
    pids=(4211, 4290),
    evidence=Evidence(process_alive=True, port_open=True, http="200", running_requests=3),
    why="process, port, log and HTTP agree",
    missing={"bind_address": Missing(Why.NOT_YET)},
)
NUMBERS = ServerSample(
    time_s=NOW_S,
    source="/v1/loads",
    tokens_per_s=52.1,
    accept_length=1.5,
    accept_length_scope="interval",
    running_requests=3,
    missing={"ttft_p50_s": Missing(Why.NOT_ENABLED, "--enable-metrics")},
)
