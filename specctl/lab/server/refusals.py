"""Combinations of speculation with other features that SGLang 0.5.23 refuses at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.lab.server.resolution import Arguments

_LORA = ("NGRAM", "EAGLE", "EAGLE3", "DFLASH", "DSPARK")
_UNIFIED = ("DSPARK", "DFLASH", "EAGLE", "EAGLE3")
_KEEPS_DECODE_CACHE = ("DSPARK", "EAGLE", "EAGLE3")


def refuse_combinations(args: Arguments) -> None:
    """Raise what SGLang raises for a feature that the chosen algorithm cannot be used with."""
    if args.enable_pdmux and (args.chunked_prefill_size or 0) > 0:
        raise AssertionError("PD-Multiplexing is not compatible with chunked prefill.")
    if args.speculative_algorithm is None:
        return
    _refuse_memory(args)
    _refuse_lora(args)
    _refuse_decode_cache(args)


def _refuse_memory(args: Arguments) -> None:
    name = args.speculative_algorithm
    if args.weight_cache_mode not in {None, "off"}:
        raise ValueError(
            "--weight-cache-mode is not supported together with speculative decoding "
            "(--speculative-algorithm)"
        )
    if not args.enable_unified_memory:
        return
    if name not in _UNIFIED:
        raise AssertionError(
            "--enable-unified-memory only supports --speculative-algorithm DSPARK, DFLASH, EAGLE "
            f"and EAGLE3. Got --speculative-algorithm {name}"
        )
    if name.startswith("EAGLE"):
        raise AssertionError("--enable-unified-memory + EAGLE/EAGLE3 requires a unified target")


def _refuse_lora(args: Arguments) -> None:
    if not (args.enable_lora or args.lora_paths):
        return
    name = args.speculative_algorithm
    if name not in _LORA:
        raise ValueError(
            "LoRA is only compatible with NGRAM, EAGLE, NEXTN, EAGLE3, DFLASH, or DSPARK "
            f"speculative decoding, not {name}"
        )
    if args.speculative_adaptive:
        raise ValueError(
            "LoRA with EAGLE/NEXTN/EAGLE3 speculative decoding does not support "
            "--speculative-adaptive"
        )


def _refuse_decode_cache(args: Arguments) -> None:
    name = args.speculative_algorithm
    if args.disaggregation_decode_enable_radix_cache and name not in _KEEPS_DECODE_CACHE:
        raise ValueError(
            "--disaggregation-decode-enable-radix-cache is incompatible with speculative decoding "
            f"(--speculative-algorithm {name})"
        )
