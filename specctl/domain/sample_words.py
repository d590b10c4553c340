"""What the fields of a sample are called where a person reads of them: the heads of the panels."""

from __future__ import annotations

GPU_WORDS = {
    "utilization_percent": "UTIL", "memory_used_bytes": "MEM", "power_w": "W",
    "power_limit_w": "W limit", "temperature_c": "°C", "sm_clock_mhz": "GHz",
    "pcie_rx_bytes_per_s": "PCIe", "nvlink_rx_bytes_per_s": "NVLink", "throttle": "SLOWED BY",
    "memory_temperature_c": "MEM °C", "memory_clock_mhz": "MEM GHz", "ecc_uncorrected": "ECC",
    "pcie_generation": "LINK",
}  # fmt: skip
"""Fields of a GPU whose reason is told in the panel, in its order."""

LISTED_WORDS = {
    **{name: GPU_WORDS[name] for name in (
        "utilization_percent", "memory_used_bytes", "power_w", "power_limit_w", "temperature_c",
        "sm_clock_mhz", "pcie_rx_bytes_per_s", "nvlink_rx_bytes_per_s", "ecc_uncorrected",
        "throttle",
    )},
    "memory_total_bytes": "MEM in all", "sm_clock_mhz": "SM clock", "processes": "HELD BY",
}  # fmt: skip
"""Those whose reason is told under the table of GPUs."""

SERVER_WORDS = {
    "tokens_per_s": "tok/s", "accept_length": "accept length", "running_requests": "running",
    "queued_requests": "queued", "token_usage": "KV", "ttft_p50_s": "TTFT",
}  # fmt: skip
"""The same of a server."""
