"""`specctl checkpoint HOST TARGET DRAFT`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.checkpoint_text import write_report
from specctl.cli.invocation import json_option
from specctl.cli.output import write_json
from specctl.cli.running import fleet_of, run
from specctl.domain.checkpoint.report import report
from specctl.domain.checkpoint.values import Severity
from specctl.domain.plain import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.cli.invocation import Invocation
    from specctl.domain.checkpoint.report import CheckpointReport
    from specctl.domain.host import Host
    from specctl.domain.profile import Profile
    from specctl.facts.transcripts import Transcript
    from specctl.services.checkpoint import CheckedDraft, CheckpointRequest

STATUSES = {Severity.PASS: 0, Severity.HINT: 0, Severity.WARNING: 1, Severity.ERROR: 2}
MOST_TRANSCRIPT_BYTES = 64 << 20


@click.command()
@click.argument("host")
@click.argument("target", required=False)
@click.argument("draft", required=False)
@click.option("--profile", metavar="NAME", help="Take target, draft and algorithm from a profile.")
@click.option("--against", metavar="DRAFT", help="Another draft, to compare their vocabularies.")
@click.option("--algorithm", metavar="NAME", help="Instead of the one the draft is made for.")
@click.option("--tp", type=click.IntRange(1, 1024), metavar="N", help="GPUs it is split over.")
@click.option(
    "--transcripts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="JSON lines on this machine: token ids, or texts for the host's tokenizer.",
)
@json_option
@click.pass_obj
def command(invocation: Invocation, /, host: str, *, as_json: bool, **asked: Any) -> int:
    """Check a draft beside its target by their small files; no weight is read.

    TARGET and DRAFT are paths on HOST, or repositories in its Hugging Face cache; the same one
    twice checks a model's own layers for multi-token prediction.
    Exit status: 0 when all is well, 1 for warnings, 2 for errors.

    \b
    specctl checkpoint gpu8 /models/target /models/draft
    specctl checkpoint gpu8 org/model org/draft --against org/older-draft
    specctl checkpoint gpu8 --profile llama-8b-eagle3 --transcripts answers.jsonl
    """  # noqa: D301  click reads \b
    found = published(run(_check(invocation, host, asked)))
    if as_json:
        write_json("checkpoint", plain(found))
    else:
        write_report(found)
    return STATUSES[found.severity]


def published(checked: CheckedDraft) -> CheckpointReport:
    """What is printed of a check."""
    return report(
        checked.pairing,
        checked.findings,
        host=checked.host,
        is_algorithm_asked=checked.is_algorithm_asked,
        bytes_read=checked.bytes_read,
        table_bytes=checked.table_bytes,
        elapsed_s=checked.elapsed_s,
    )


async def _check(invocation: Invocation, host: str, asked: Mapping[str, Any]) -> CheckedDraft:
    from specctl.services.checkpoint import check_checkpoint

    transcript = _transcript(asked["transcripts"])
    async with fleet_of(invocation) as fleet:
        described = fleet.workspace.host(host)
        profile = fleet.workspace.profile(asked["profile"], host) if asked["profile"] else None
        request = _request(described, profile, asked, transcript)
        return await check_checkpoint(await fleet.connect(host), request, fleet.clock)


def _request(
    host: Host,
    profile: Profile | None,
    asked: Mapping[str, Any],
    transcript: Transcript | None,
) -> CheckpointRequest:
    from specctl.services.checkpoint import CheckpointRequest, request_of

    transcript_name = asked["transcripts"].name if asked["transcripts"] else ""
    if profile is not None:
        if asked["target"] or asked["draft"]:
            raise click.UsageError("name a target and a draft, or a profile, not both")
        own = request_of(profile, host)
    elif asked["target"] and asked["draft"]:
        environment = {**host.environment, **({"HF_HOME": host.hf_home} if host.hf_home else {})}
        own = CheckpointRequest(asked["target"], asked["draft"], environment=environment)
    else:
        raise click.UsageError("name a target and a draft, or a profile with --profile")
    return own.with_options(
        algorithm=asked["algorithm"],
        other=asked["against"],
        tp_size=asked["tp"],
        transcript=transcript,
        transcript_name=transcript_name,
    )


def _transcript(path: Path | None) -> Transcript | None:
    from specctl.domain.errors import UsageError
    from specctl.facts.transcripts import read_transcript

    if path is None:
        return None
    if path.stat().st_size > MOST_TRANSCRIPT_BYTES:
        words = f"{path} is larger than {MOST_TRANSCRIPT_BYTES >> 20} MiB"
        raise UsageError(words, hint="Take its first lines: head -n 1000.")
    with path.open(encoding="utf-8", errors="replace") as file:
        found = read_transcript(file)
    if not found.counts and not found.texts:
        words = f"{path} holds no token ids and no texts in {found.lines} lines"
        raise UsageError(words, hint='A line is [1, 2, 3], "a text", or {"text": "…"}.')
    return found
