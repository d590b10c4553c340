"""Resolve command lines as a starting server does, many in one process, without starting one.

Reads JSON lines `{"argv": [...], "env": {...}}` and prints one JSON line for each: how far it got
(`argparse`, `resolve`, `check`, `done`), the error if there was one, and the values it ended with.
Run by the interpreter of `.sglang-cpu`.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys

KEPT = (
    "speculative_algorithm", "speculative_num_steps", "speculative_eagle_topk",
    "speculative_num_draft_tokens", "speculative_draft_model_path",
    "speculative_use_rejection_sampling", "speculative_adaptive", "max_running_requests",
    "enable_mixed_chunk", "disable_overlap_schedule", "page_size", "attention_backend",
)  # fmt: skip


def resolve(argv):
    from sglang.srt.arg_groups.overrides import resolved_view
    from sglang.srt.arg_groups.validation_hook import check_server_args
    from sglang.srt.server_args import prepare_server_args

    stage, said = "argparse", io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            arguments = prepare_server_args(argv)
        stage = "resolve"
        arguments.resolve_once()
        stage = "check"
        check_server_args(arguments)
    except SystemExit:
        return {"stage": stage, "error": "argparse: " + said.getvalue()[-200:]}
    except Exception as error:  # noqa: BLE001  whatever it is, is what the server would die of
        return {"stage": stage, "error": f"{type(error).__name__}: {error}"[:300]}
    view = resolved_view(arguments)
    return {"stage": "done", "error": None, "values": {k: getattr(view, k, None) for k in KEPT}}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what SGLang prints is no answer
    base = dict(os.environ)
    for line in sys.stdin:
        asked = json.loads(line)
        os.environ.clear()
        os.environ.update({**base, **asked["env"]})
        answer = resolve(asked["argv"])
        logging.disable(logging.CRITICAL)
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
