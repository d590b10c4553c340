"""What each sampled release has, by reading it by hand."""

from __future__ import annotations

FOUR = ("EAGLE", "EAGLE3", "STANDALONE", "NGRAM")
ALGORITHMS: dict[str, tuple[str, ...]] = {
    "0.4.1": (),
    **dict.fromkeys(("0.4.2", "0.4.3.post4", "0.4.4"), ("EAGLE",)),
    **dict.fromkeys(
        ("0.4.6.post5", "0.4.7.post1", "0.4.9", "0.4.10.post2"), ("EAGLE", "EAGLE3")
    ),
    "0.5.2": ("EAGLE", "EAGLE3", "STANDALONE"),
    **dict.fromkeys(
        (
            "0.5.3", "0.5.3.post3", "0.5.4.post3", "0.5.5", "0.5.6.post2", "0.5.7", "0.5.8",
            "0.5.9", "0.5.10.post1",
        ),
        FOUR,
    ),
    "0.5.11": (*FOUR, "DFLASH"),
    **dict.fromkeys(
        ("0.5.12", "0.5.13.post1", "0.5.14", "0.5.15.post1"), (*FOUR, "DFLASH", "FROZEN_KV_MTP")
    ),
    **dict.fromkeys(
        ("0.5.16", "0.5.17", "0.5.18", "0.5.19"), (*FOUR, "DFLASH", "FROZEN_KV_MTP", "DSPARK")
    ),
    **dict.fromkeys(
        ("0.5.20", "0.5.21", "0.5.22", "0.5.23"),
        (*FOUR, "DFLASH", "FROZEN_KV_MTP", "DSPARK", "UNO"),
    ),
}  # fmt: skip
"""In any order."""

WITHOUT_NEXTN = frozenset({"0.4.1", "0.4.2"})


def worker_file(version: str, algorithm: str) -> str:
    """The file of the worker by default."""
    middle, patch = (int(part) for part in version.split(".")[1:3])
    is_second = (middle, patch) >= (5, 11)
    is_only_second = (middle, patch) >= (5, 14)
    name = {
        "EAGLE": "eagle_worker_v2" if is_second else "eagle_worker",
        "EAGLE3": "eagle_worker_v2" if is_second else "eagle_worker",
        "STANDALONE": "standalone_worker_v2" if is_second else "standalone_worker",
        "NGRAM": "ngram_worker",
        "DFLASH": "dflash_worker_v2" if is_only_second else "dflash_worker",
        "FROZEN_KV_MTP": "frozen_kv_mtp_worker_v2" if is_only_second else "frozen_kv_mtp_worker",
        "DSPARK": "dspark_components/dspark_worker_v2",
        "UNO": "uno_worker_v2",
    }[algorithm]
    return f"srt/speculative/{name}.py"
