"""The settings of the matcher in a profile, and what of its release is not modelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.forecast.replay import ONE_STEP_STALE_FROM
from specctl.domain.ngram.settings import MatchType, NgramSettings
from specctl.domain.versions import read_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.profile import Profile, Value

LATEST = "0.5.23"
FIRST, TRIE_DEPTH, CORPORA = (0, 5, 3), (0, 5, 10), (0, 5, 11)
"""First release with NGRAM, with `max-trie-depth`, and with external corpora."""

KEYS = {
    "num-draft-tokens": "num_draft_tokens",
    "ngram-min-bfs-breadth": "min_bfs_breadth",
    "ngram-max-bfs-breadth": "max_bfs_breadth",
    "ngram-capacity": "capacity",
    "ngram-external-sam-budget": "external_sam_budget",
    "ngram-max-trie-depth": "max_trie_depth",
    "ngram-branch-length": "max_trie_depth",
}
UNMODELLED_OLD = (
    "releases before 0.5.10 look up matches of ngram-max-match-window-size tokens at most, keep "
    "matches that nothing follows, and learn only what is longer than "
    "ngram-min-match-window-size: that is not modelled, the matcher of 0.5.10 is replayed with "
    "ngram-branch-length as its depth"
)


@dataclass(frozen=True, slots=True)
class NgramReading:
    """How a profile's matcher would work in a release."""

    settings: NgramSettings
    version: str
    is_version_assumed: bool
    """The build does not say; the newest known release is taken."""

    is_one_step_stale: bool
    """What a step accepted is learnt with the next one."""

    can_take_corpora: bool
    notes: tuple[str, ...] = ()


def read_settings(profile: Profile, version: str | None = None) -> NgramReading:
    """The matcher of a profile; raises UsageError for what is no NGRAM profile, or refused."""
    speculation = profile.speculation
    if speculation is None or speculation.algorithm.upper() != "NGRAM":
        drafts = speculation.algorithm if speculation else "nothing"
        raise UsageError(
            f"{profile.name} drafts with {drafts}; a forecast replays NGRAM",
            hint="Acceptance of a draft model is only known by measuring it: specctl compare.",
        )
    number = read_version(version)
    known = number or read_version(LATEST) or ()
    if known < FIRST:
        raise UsageError(f"SGLang {version} has no NGRAM", hint="0.5.3 is the first that has it.")
    arguments = speculation.arguments
    given = {
        name: value
        for key, name in KEYS.items()
        if (value := _whole(profile, key, arguments)) is not None
    }
    if known < CORPORA:
        given.pop("external_sam_budget", None)
    settings = _settings(profile, given, arguments, remembers=known >= CORPORA)
    return NgramReading(
        settings=settings,
        version=version if number and version else LATEST,
        is_version_assumed=number is None,
        is_one_step_stale=known >= ONE_STEP_STALE_FROM,
        can_take_corpora=known >= CORPORA,
        notes=_notes(profile, known),
    )


def _whole(profile: Profile, key: str, arguments: Mapping[str, Value]) -> int | None:
    value = arguments.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise UsageError(f"{profile.name}: {key} must be a whole number, not {value!r}")


def _settings(
    profile: Profile, given: Mapping[str, int], arguments: Mapping[str, Value], *, remembers: bool
) -> NgramSettings:
    kind = arguments.get("ngram-match-type")
    try:
        match_type = MatchType(str(kind)) if kind is not None else MatchType.BFS
        return NgramSettings(**given, match_type=match_type, remembers_matches=remembers)
    except ValueError as error:
        raise UsageError(
            f"the server would refuse {profile.name}: {error}", hint=f"specctl check {profile.name}"
        ) from None


def _notes(profile: Profile, version: tuple[int, ...]) -> tuple[str, ...]:
    notes = []
    if version < TRIE_DEPTH:
        notes.append(UNMODELLED_OLD)
    if version < CORPORA and profile.corpora:
        notes.append("releases before 0.5.11 have no external corpora: those of the profile fail")
    elif profile.corpora:
        names = ", ".join(corpus.name for corpus in profile.corpora)
        notes.append(
            f"the corpora of the profile ({names}) lie on its host and are not part of this: "
            "pass their documents with --corpus"
        )
    return tuple(notes)
