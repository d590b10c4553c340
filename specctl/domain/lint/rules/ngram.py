"""NGRAM: breadth, depth, capacity, corpora and the memory of the trie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rule import Derivation, Evidence, Hit, Rule, says
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.domain.lint.case import Case

TOPK, TOKENS, STEPS = (
    "speculative-eagle-topk", "speculative-num-draft-tokens", "speculative-num-steps",
)  # fmt: skip
MIN_BREADTH, MAX_BREADTH = "speculative-ngram-min-bfs-breadth", "speculative-ngram-max-bfs-breadth"
DEPTH, CAPACITY = "speculative-ngram-max-trie-depth", "speculative-ngram-capacity"
BRANCH = "speculative-ngram-branch-length"
MIN_MATCH = "speculative-ngram-min-match-window-size"
MAX_MATCH = "speculative-ngram-max-match-window-size"
CORPUS = "speculative-ngram-external-corpus-path"
BUDGET = "speculative-ngram-external-sam-budget"
CORPUS_TOKENS = "speculative-ngram-external-corpus-max-tokens"
NODE_BYTES = 176
"""Of the trie's node, in SGLang 0.5.23; all of them are taken at the start."""

_SPOKEN_OF_BYTES = 1 << 30
_MEMORY_WARN_SHARE = 0.1
_MEMORY_REFUSE_SHARE = 0.9
_SOURCES = ("kernels/jit/csrc/ngram_corpus/", "jit_kernel/csrc/ngram_corpus/",
            "srt/speculative/cpp_ngram/ngram.cpp")  # fmt: skip


def _is_ngram(case: Case) -> bool:
    return case.algorithm == "NGRAM"


def _mixed_noise(case: Case) -> None:
    if _is_ngram(case):
        case.values["enable-mixed-chunk"] = False


def _topk(case: Case) -> Iterator[Hit]:
    breadth = case.number(MAX_BREADTH)
    if not _is_ngram(case):
        return
    sets = {TOPK: breadth}
    if case.is_given(TOPK) and case.topk != breadth:
        message = f"the server will change {case.topk} to ngram-max-bfs-breadth: {breadth}"
        yield Hit(TOPK, message, "leave it out, or give ngram-max-bfs-breadth", sets)
    case.values.update(sets)


def _tokens(case: Case) -> Iterator[Hit]:
    if _is_ngram(case) and case.draft_tokens is None:
        if case.build.is_at_least("0.5.10"):
            count = case.build.known.ngram_draft_tokens or 12
        else:
            count = case.number(MAX_MATCH) or 12
        message = f"the server takes num-draft-tokens {count}"
        yield Hit("speculative-algorithm", message, "write it to keep it", {TOKENS: count})


def _steps(case: Case) -> None:
    breadth, tokens = case.topk, case.draft_tokens
    if _is_ngram(case) and case.steps is None and breadth and tokens is not None:
        case.values[STEPS] = tokens // breadth


def _zero_breadth(case: Case) -> Iterator[Hit]:
    if _is_ngram(case) and case.number(MAX_BREADTH) == 0 and case.steps is None:
        yield Hit(MAX_BREADTH, "must be at least 1 (a ZeroDivisionError)", "write 1 or more")


def _matcher(case: Case) -> Iterator[Hit]:
    """What the matcher's constructor refuses; a negative number passes it, cast to unsigned."""
    if not _is_ngram(case):
        return
    least, most = case.number(MIN_BREADTH), case.number(MAX_BREADTH)
    if least == 0:
        yield Hit(MIN_BREADTH, "must be at least 1, not 0", "write 1 or more")
    if most == 0 and least != 0:
        yield Hit(MAX_BREADTH, "must be at least 1, not 0", "write 1 or more")
    elif least is not None and most is not None and 0 < most < least:
        yield Hit(MIN_BREADTH, f"{least} is above ngram-max-bfs-breadth {most}", "write less")
    if case.draft_tokens == 0:
        yield Hit(TOKENS, "must be at least 1, not 0", "write 2 or more")


def _depth(case: Case) -> Iterator[Hit]:
    depth = case.number(DEPTH)
    if _is_ngram(case) and depth is not None and 0 <= depth <= 1:
        yield Hit(DEPTH, f"must be at least 2, not {depth}", "write 2 or more")


def _negative(case: Case) -> Iterator[Hit]:
    """Cast to unsigned: nothing refuses them, and they mean a huge number or a crash later."""
    if not _is_ngram(case):
        return
    for flag in (DEPTH, TOKENS, CAPACITY):
        value = case.number(flag)
        if value is not None and value < 0:
            yield Hit(flag, f"{value} is not refused, and ends the scheduler", "write 2 or more")
    for flag in (MIN_BREADTH, MAX_BREADTH):
        value = case.number(flag)
        if value is not None and value < 0:
            message = f"{value} is not refused, and is taken for a huge number"
            yield Hit(flag, message, "write 1 or more", severity=Severity.WARNING)


def _capacity(case: Case) -> Iterator[Hit]:
    depth, capacity = case.number(DEPTH) or 18, case.number(CAPACITY)
    if not case.build.is_at_least("0.5.10"):
        depth = case.number(BRANCH) or 18
    if _is_ngram(case) and capacity is not None and 0 <= capacity < depth + 1:
        message = f"{capacity} nodes do not hold one branch of {depth}: the scheduler ends"
        yield Hit(CAPACITY, message, f"at least {depth + 1}; 1000000 is 168 MiB")


def _windows(case: Case) -> Iterator[Hit]:
    least, most, branch = (case.number(flag) for flag in (MIN_MATCH, MAX_MATCH, BRANCH))
    if not _is_ngram(case) or least is None or most is None or branch is None:
        return
    if least > most:
        yield Hit(MIN_MATCH, f"{least} is above ngram-max-match-window-size {most}", "write less")
    if most >= branch:
        message = f"{most} must be below ngram-branch-length {branch}"
        yield Hit(MAX_MATCH if case.is_given(MAX_MATCH) else BRANCH, message, "write less")


def _match_type(case: Case) -> Iterator[Hit]:
    flag = "speculative-ngram-match-type"
    if _is_ngram(case) and case.is_given(flag) and case.text(flag) == "PROB":
        yield Hit(flag, "is never handed to the matcher: BFS is used", "leave it out")


def _one_token(case: Case) -> Iterator[Hit]:
    if _is_ngram(case) and case.draft_tokens == 1:
        message = "with one draft token the server starts and does not speculate"
        yield Hit(TOKENS, message, "write 2 or more")


def _pages(case: Case) -> Iterator[Hit]:
    page, breadth = case.number("page-size") or 1, case.number(MAX_BREADTH) or 1
    allowed = case.build.known.ngram_page_backends or ("flashinfer",)
    backend = case.text("attention-backend")
    if not _is_ngram(case) or page < 2 or breadth < 2 or backend in allowed:  # noqa: PLR2004
        return
    is_own = case.is_given("page-size")
    why = "" if is_own else ", which the attention backend forces,"
    message = f"page-size {page}{why} does not go with breadth {breadth}"
    fix = f'write page-size = 1, attention-backend = "{allowed[0]}" or ngram-max-bfs-breadth = 1'
    severity = None if backend else Severity.WARNING
    yield Hit("page-size" if is_own else _forcing(case), message, fix, severity=severity)


def _forcing(case: Case) -> str:
    flags = ("attention-backend", "decode-attention-backend", "prefill-attention-backend",
             "speculative-draft-attention-backend")  # fmt: skip
    return next((flag for flag in flags if case.is_given(flag)), "attention-backend")


def _corpus(case: Case) -> Iterator[Hit]:
    if not _is_ngram(case) or not case.is_given(CORPUS):
        return
    budget, tokens, most = case.number(BUDGET), case.draft_tokens, case.number(CORPUS_TOKENS)
    if budget is not None and budget <= 0:
        yield Hit(CORPUS, "needs ngram-external-sam-budget above 0", "give a budget")
    elif budget is not None and tokens is not None and budget > tokens - 1:
        message = f"{budget} is above num-draft-tokens - 1 = {tokens - 1}"
        yield Hit(BUDGET, message, f"write {tokens - 1} or less")
    if most is not None and most <= 0:
        yield Hit(CORPUS_TOKENS, f"must be at least 1, not {most}", "write 1 or more")


def _corpora(case: Case) -> Iterator[Hit]:
    """Corpora of the profile are loaded over HTTP once the server is ready."""
    if not case.corpora:
        return
    budget, tokens = case.number(BUDGET), case.draft_tokens
    if case.algorithm is None:
        yield Hit("corpora", "corpora are loaded by NGRAM only, and this is a baseline")
    elif not _is_ngram(case):
        yield Hit("corpora", "corpora are loaded by NGRAM only")
    elif not case.build.is_at_least("0.5.11"):
        yield Hit("corpora", f"{case.build.name} loads no corpora: 0.5.11 and later do")
    elif budget is not None and tokens is not None and budget > tokens - 1:
        message = f"{budget} is above num-draft-tokens - 1 = {tokens - 1}"
        yield Hit(BUDGET, message, f"write {tokens - 1} or less")


def _unchecked_budget(case: Case) -> Iterator[Hit]:
    """Without a corpus at the start nobody looks at the budget."""
    budget, tokens = case.number(BUDGET), case.draft_tokens
    has_corpus = case.is_given(CORPUS) or case.corpora
    if not _is_ngram(case) or has_corpus or budget is None or tokens is None:
        return
    if not 0 <= budget <= tokens - 1:
        message = f"{budget} is not between 0 and num-draft-tokens - 1 = {tokens - 1}"
        yield Hit(BUDGET, f"{message}, which nothing checks without a corpus", "write less")


def _unused_corpora(case: Case) -> Iterator[Hit]:
    if _is_ngram(case) and case.corpora and (case.number(BUDGET) or 0) <= 0:
        message = "loaded and never used while ngram-external-sam-budget is 0"
        yield Hit("corpora", message, "give speculation.ngram-external-sam-budget")


def _lost_corpus(case: Case) -> Iterator[Hit]:
    path = case.text(CORPUS)
    if not _is_ngram(case) or path is None:
        return
    if path in case.around.missing_files:
        yield Hit(CORPUS, f"{path} is not there, which ends the scheduler", "correct the path")


def _memory(case: Case) -> Iterator[Hit]:
    """Every scheduler process, one a GPU, takes the whole trie at its start."""
    capacity, total = case.number(CAPACITY), case.around.memory_bytes
    if not _is_ngram(case) or capacity is None or capacity < 1:
        return
    schedulers = (case.number("tp-size") or 1) * (case.number("pp-size") or 1)
    schedulers *= 1 if case.is_on("enable-dp-attention") else case.number("dp-size") or 1
    needed = capacity * NODE_BYTES * schedulers
    shares = f"{schedulers} × " if schedulers > 1 else ""
    message = f"the trie takes {needed / 2**30:.1f} GiB of host memory ({shares}{capacity} nodes)"
    fix = "give a smaller ngram-capacity: 1000000 is 168 MiB a GPU"
    if total is None:
        if needed < _SPOKEN_OF_BYTES:
            return
        yield Hit(CAPACITY, message, fix, severity=Severity.HINT)
    elif needed > total * _MEMORY_WARN_SHARE:
        severity = Severity.ERROR if needed > total * _MEMORY_REFUSE_SHARE else Severity.WARNING
        yield Hit(CAPACITY, f"{message} of {total / 2**30:.0f} GiB", fix, severity=severity)


RULES = (
    Derivation(_mixed_noise),
    Rule("ngram-topk", Severity.REWRITE, _topk,
         Evidence(r"speculative_eagle_topk\s*=\s*\w+\.speculative_ngram_max_bfs_breadth"),
         Span("0.5.3"), is_live=True),
    Rule("ngram-draft-tokens", Severity.HINT, _tokens,
         Evidence(r"speculative_num_draft_tokens\s*=\s*(?:12|\(\s*\w+\.speculative_ngram_max_m)"),
         Span("0.5.3"), is_live=True),
    Rule("ngram-zero-breadth", Severity.ERROR, _zero_breadth,
         Evidence(r"// \w+\.speculative_eagle_topk"), Span("0.5.14"), is_live=True),
    Derivation(_steps),
    Rule("ngram-matcher", Severity.ERROR, _matcher,
         Evidence(r"must be greater than 0, current value", _SOURCES), Span("0.5.3"),
         is_late=True),
    Rule("ngram-depth", Severity.ERROR, _depth,
         Evidence(r"max_trie_depth must be greater than 1", _SOURCES), Span("0.5.10.post1"),
         is_late=True),
    Rule("ngram-negative", Severity.ERROR, _negative,
         Evidence(r"must be greater than (?:0|1), current", _SOURCES), Span("0.5.3"), is_late=True),
    Rule("ngram-small-capacity", Severity.ERROR, _capacity,
         Evidence(r"Insufficient node size", _SOURCES), Span("0.5.3"), is_late=True),
    Rule("ngram-windows", Severity.ERROR, _windows,
         Evidence(r"max_match_window_size", _SOURCES), Span("0.5.3", "0.5.9"), is_late=True),
    Rule("ngram-match-type-ignored", Severity.WARNING, _match_type,
         Evidence(r"ngram_match_type|match_type"), Span("0.5.3", "0.5.9")),
    Rule("ngram-one-token", Severity.WARNING, _one_token,
         Evidence(r"draft_token_num", _SOURCES), Span("0.5.3")),
    Rule("ngram-pages", Severity.ERROR, _pages,
         Evidence(r"speculative_eagle_topk\(\{\w+\.speculative_eagle_topk\}\) > 1"),
         Span("0.5.3"), is_live=True),
    Rule("ngram-corpus", Severity.ERROR, _corpus,
         says("--speculative-ngram-external-sam-budget must be positive"), Span("0.5.11"),
         is_live=True),
    Rule("ngram-budget", Severity.WARNING, _unchecked_budget,
         says("--speculative-ngram-external-sam-budget must be positive"), Span("0.5.11")),
    Rule("ngram-corpora", Severity.ERROR, _corpora),
    Rule("ngram-corpora-unused", Severity.WARNING, _unused_corpora,
         Evidence(r"external_sam_budget",
                  ("srt/speculative/ngram_worker.py", "srt/speculative/cpp_ngram/")),
         Span("0.5.11")),
    Rule("ngram-corpus-lost", Severity.ERROR, _lost_corpus,
         Evidence(r"external_corpus_path", ("srt/speculative/",)), Span("0.5.11"), is_late=True),
    Rule("ngram-memory", Severity.WARNING, _memory,
         Evidence(r"node_pool_\.emplace_back", _SOURCES), Span("0.5.3")),
)  # fmt: skip
