"""A forecast as it is kept, for tests."""

from __future__ import annotations

from specctl.domain.forecast.advice import CostTable
from specctl.domain.forecast.corpora import Document
from specctl.domain.forecast.forecasting import Question, forecast
from specctl.domain.forecast.reading import read_settings
from specctl.domain.forecast.report import ForecastReport, InputFile
from specctl.domain.profile import Profile, Speculation
from tests.unit.domain.forecast.transcripts import like_text

COSTS = CostTable(0.016, {8: 0.02}, "typed")


def kept_report(costs: CostTable | None = COSTS, *, concurrency: int = 1, **more) -> ForecastReport:
    """Of eight answers in two categories."""
    arguments = {"num-draft-tokens": 8, "ngram-capacity": 50_000}
    profile = Profile("ngram", "m", speculation=Speculation("NGRAM", arguments))
    transcripts = [*like_text(4, 60, category="code"), *like_text(4, 60, 9, "chat")]
    question = Question(
        transcripts,
        read_settings(profile, "0.5.23"),
        concurrency,
        documents=[Document("docs.jsonl:1", transcripts[1].output)],
        costs=costs,
    )
    return ForecastReport(
        host=None,
        profile="ngram",
        transcripts="answers.jsonl",
        transcripts_sha256="a" * 64,
        tokens="ids as they are",
        tokenizer_sha256=None,
        template_sha256=None,
        forecast=forecast(question),
        notes=(),
        corpora=(InputFile("docs.jsonl", "b" * 64),),
        **more,
    )
