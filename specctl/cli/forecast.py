"""`specctl forecast TRANSCRIPTS --profile P`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.compare_trial import open_ledger
from specctl.cli.diagnostics import say
from specctl.cli.forecast_text import write_forecast
from specctl.cli.invocation import Finite, json_option, on_option
from specctl.cli.output import write_json
from specctl.cli.running import fleet_of, new_keeper, run, say_kept
from specctl.domain.errors import UsageError
from specctl.domain.forecast.advice import CostTable
from specctl.domain.forecast.forecasting import Question
from specctl.domain.forecast.reading import read_settings
from specctl.domain.forecast.report import ForecastReport, InputFile
from specctl.domain.plain import plain
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.profile import Profile
    from specctl.domain.runs import Provenance
    from specctl.facts.exchanges import Exchanges
    from specctl.services.forecasting import Texts, Tokens

MOST_BYTES = 256 << 20
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class StepCost(click.ParamType[tuple[int | None, float]]):
    """`25.1`, or `8=25.1` for a step that verifies 8 draft tokens."""

    name = "[N=]MS"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int | None, float]:
        """(draft tokens, milliseconds)."""
        width, equals, time = str(value).rpartition("=")
        try:
            found = (int(width) if equals else None, float(time))
        except ValueError:
            self.fail(f"{value!r} is no step cost; write it as 25.1 or 8=25.1", param, ctx)
        if not 0 < found[1] < float("inf"):
            self.fail(f"{value!r} is no time", param, ctx)
        return found


@click.command()
@click.argument("transcripts", type=FILE)
@click.option("--profile", required=True, metavar="PROFILE", help="An NGRAM profile.")
@on_option
@click.option(
    "--release", metavar="VERSION", help="Of SGLang, instead of the host's or the newest known."
)
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N",
    help="Requests at the same time.",
)  # fmt: skip
@click.option(
    "--corpus", "corpora", type=FILE, multiple=True, metavar="FILE",
    help="Documents of an external corpus to try: one JSON string or list of ids a line.",
)  # fmt: skip
@click.option("--base-ms", type=Finite(), metavar="MS", help="Milliseconds of a plain decode step.")
@click.option(
    "--step-ms", "steps", type=StepCost(), multiple=True,
    help="And of a verify step, of the profile's draft tokens or of N.",
)  # fmt: skip
@click.option(
    "--costs", "runs", multiple=True, metavar="RUN", help="Or both from a trial of the ledger."
)
@json_option
@click.pass_obj
def command(invocation: Invocation, /, transcripts: Path, *, as_json: bool, **asked: Any) -> None:
    """Predict what n-gram drafts would accept, from answers given before; nothing is started.

    SGLang's own matcher is replayed: it learns from outputs and never from prompts, so that the
    first of a kind is drafted badly (cold) and later ones better (warm, after a disjoint half).
    What comes out is kept in the ledger, and predicts a trial of which no earlier run says more.
    A line of TRANSCRIPTS is JSON: {"prompt_ids": […], "output_ids": […]}, or texts,
    {"messages": […], "output": "…"}, which the tokenizer of --on HOST makes ids of. A workload
    has prompts and no answers: it cannot be forecast from.

    \b
    specctl forecast answers.jsonl --profile llama-8b-ngram --on gpu8
    specctl forecast ids.jsonl --profile llama-ngram --base-ms 17.1 --step-ms 8=25
    specctl forecast a.jsonl --profile ngram --on gpu8 --costs 5c --corpus d.jsonl
    """  # noqa: D301  click reads \b
    from specctl.services.forecasting import work_out

    keeper = new_keeper()
    began_s = keeper.now_s
    exchanges = _read(transcripts)
    texts = _texts(transcripts, exchanges, asked["corpora"])
    profile, tokens, version, conditions = run(_prepare(invocation, texts, asked))
    reading = read_settings(profile, asked["release"] or version)
    costs, base_s, notes, cost_hosts = _costs(asked, reading.settings.num_draft_tokens)
    question = Question(
        [one for one in tokens.transcripts if len(one.output) > 1],
        reading,
        asked["concurrency"],
        tokens.documents,
        costs,
        base_s,
    )
    if not question.transcripts:
        raise UsageError(f"no answer in {transcripts} is longer than a token")
    found = ForecastReport(
        host=asked["on"],
        profile=profile.name,
        transcripts=str(transcripts),
        transcripts_sha256=_sha256(transcripts),
        tokens=tokens.words,
        tokenizer_sha256=tokens.tokenizer_sha256,
        template_sha256=tokens.template_sha256,
        forecast=work_out(question, say),
        notes=(*_left_out(exchanges), *notes),
        corpora=tuple(InputFile(clean(one.name), _sha256(one)) for one in asked["corpora"]),
        cost_hosts=cost_hosts,
    )
    kept = run(keeper.keep_forecast(profile, found, conditions, began_s))
    found = replace(found, run=kept)
    if as_json:
        write_json("forecast", plain(found))
    else:
        write_forecast(found)
    say_kept(keeper, kept)


def _check_plain(path: Path) -> None:
    """It is read twice, and has an end; raises UsageError otherwise."""
    if not path.is_file():
        raise UsageError(f"{path} is no plain file", hint="Write what it gives into a file first.")


def _read(path: Path) -> Exchanges:
    from specctl.facts.exchanges import read_exchanges

    _check_plain(path)
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(
            f"{path} is larger than {MOST_BYTES >> 20} MiB", hint="Take its first lines."
        )
    with path.open(encoding="utf-8", errors="replace") as file:
        found = read_exchanges(file)
    if found.found:
        return found
    if found.unanswered:
        raise UsageError(
            f"{path} holds prompts without answers, as a workload does: what a model answered "
            "is what n-gram drafts are forecast from",
            hint='Write the answers beside them: {"messages": […], "output": "…"}.',
        )
    raise UsageError(
        f"{path} holds no answer in {found.lines} lines",
        hint='A line is {"output_ids": […]}, or {"messages": […], "output": "…"} with --on.',
    )


def _texts(path: Path, exchanges: Exchanges, corpora: Sequence[Path]) -> Texts:
    from specctl.facts.exchanges import read_documents
    from specctl.services.forecasting import Texts

    documents: list[tuple[str, str | tuple[int, ...]]] = []
    for corpus in corpora:
        _check_plain(corpus)
        with corpus.open(encoding="utf-8", errors="replace") as file:
            found = read_documents(file)
        if not found:
            raise UsageError(f"{corpus} holds no document", hint="A line is a JSON string.")
        documents += ((f"{corpus.name}:{line}", content) for line, content in found)
    return Texts(path.name, exchanges.found, documents)


async def _prepare(
    invocation: Invocation, texts: Texts, asked: Mapping[str, Any]
) -> tuple[Profile, Tokens, str | None, Provenance]:
    from specctl.services.forecasting import as_ids, read_version_of, tokenise
    from specctl.services.kept_forecast import conditions_of_forecast

    host = asked["on"]
    if host is None:
        profile = invocation.workspace().profile(asked["profile"])
        read_settings(profile, asked["release"])
        return profile, as_ids(texts), None, await conditions_of_forecast(None, profile)
    async with fleet_of(invocation) as fleet:
        profile = fleet.workspace.profile(asked["profile"], on=host)
        read_settings(profile, asked["release"])
        connection = await fleet.connect(host)
        version = asked["release"] or await read_version_of(connection)
        tokens = await tokenise(connection, profile, texts)
        return profile, tokens, version, await conditions_of_forecast(connection, profile)


def _costs(
    asked: Mapping[str, Any], width: int
) -> tuple[CostTable | None, float | None, tuple[str, ...], tuple[str, ...]]:
    """Costs, the time of a plain step, notes, and the hosts that were measured."""
    if asked["runs"]:
        if asked["base_ms"] is not None or asked["steps"]:
            raise UsageError("--costs takes both costs from runs", hint="Leave out the typed ones.")
        return _measured_costs(asked["runs"], asked["concurrency"])
    base_ms = asked["base_ms"]
    if base_ms is None:
        if asked["steps"]:
            raise UsageError("--step-ms says nothing without --base-ms")
        return None, None, (), ()
    if base_ms <= 0:
        raise UsageError(f"--base-ms must be above 0, not {base_ms:g}")
    steps = {width if n is None else n: ms / 1000 for n, ms in asked["steps"]}
    table = CostTable(base_ms / 1000, steps, "typed") if steps else None
    return table, base_ms / 1000, (), ()


def _measured_costs(
    runs: Sequence[str], concurrency: int
) -> tuple[CostTable | None, float | None, tuple[str, ...], tuple[str, ...]]:
    from specctl.services.forecasting import cost_table
    from specctl.services.run_figures import find_figures

    with open_ledger() as ledger:
        figures = find_figures(ledger, runs)
    hosts = tuple(dict.fromkeys(one.host for one in figures))
    return (*cost_table(figures, concurrency), hosts)


def _left_out(exchanges: Exchanges) -> tuple[str, ...]:
    notes = []
    if exchanges.unanswered:
        notes.append(f"lines that hold a prompt without an answer: {exchanges.unanswered}")
    if exchanges.not_understood:
        notes.append(
            f"{exchanges.not_understood} of {exchanges.lines} lines are not understood, the first "
            f"is line {exchanges.first_wrong}"
        )
    if any(one.is_text for one in exchanges.found):
        notes.append(
            "answers were tokenised anew: a model may have put the same text out in other tokens"
        )
    return tuple(notes)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
