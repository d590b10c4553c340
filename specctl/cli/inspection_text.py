"""A source tree as text, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.cli.output import style
from specctl.cli.table import table
from specctl.domain.plain import plain
from specctl.domain.published_source import (
    Inspected,
    shown_algorithm,
    shown_flag,
    shown_problem,
)
from specctl.domain.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.cli.inspection import Asked
    from specctl.domain.source import Algorithm, Flag, Install, Restriction, Tree
    from specctl.services.inspection import OpenTree

DIM = "dim"
WIDTH = 100
CHOICES_SHOWN = 6
EDITED_SHOWN = 3
CHOICES_WIDTH = 32
_SPECULATIVE = ("speculative_", "spec_", "decoupled_spec_", "uno_", "enable_multi_layer_eagle")
_RELATED = frozenset(
    {
        "max_running_requests", "disable_overlap_schedule", "enable_mixed_chunk", "page_size",
        "attention_backend", "decode_attention_backend", "enable_dp_attention", "attn_dp_size",
        "pp_size", "cuda_graph_max_bs", "cuda_graph_max_bs_decode", "disable_cuda_graph",
        "enable_beta_spec", "enable_return_aux_hidden_states", "device", "mem_fraction_static",
    }
)  # fmt: skip
"""Fields that speculation's rules name."""

_EFFECTS = (
    ("refused", "refuses", "red"),
    ("asserted", "asserts", "red"),
    ("rewritten", "changes", "yellow"),
    ("warned", "warns", "yellow"),
)


def is_about_speculation(flag: Flag) -> bool:
    """One of speculation's own flags."""
    return flag.field_name.startswith(_SPECULATIVE) or "speculative" in flag.name


def is_related(flag: Flag) -> bool:
    """One of them, or one that their rules name."""
    return is_about_speculation(flag) or flag.field_name in _RELATED


def as_json(
    opened: OpenTree, installs: Sequence[Install], asked: Asked, only: Algorithm | None
) -> dict[str, Any]:
    """The tree as it is published."""
    tree, cost = opened.tree, opened.cost
    algorithms = tree.algorithms if only is None else (only,)
    inspected = Inspected(
        host=asked.host,
        version=tree.version,
        path=tree.path,
        tree_hash=tree.tree_hash,
        commit=tree.commit,
        is_editable=tree.is_editable,
        edited=tree.edited,
        has_speculation=tree.has_speculation,
        installs=tuple(installs),
        algorithms=tuple(shown_algorithm(one) for one in algorithms),
        flags=tuple(shown_flag(one) for one in tree.flags),
        plugins=tree.plugins,
        problems=tuple(shown_problem(one) for one in tree.problems),
        files=len(tree.files),
        seconds=cost.seconds,
        received_bytes=cost.received_bytes,
        is_from_cache=cost.is_from_cache,
        missing=tree.missing,
    )
    found: dict[str, Any] = plain(inspected)
    return found


def heading(host: str | None, opened: OpenTree, installs: Sequence[Install]) -> list[str]:
    """Which tree, where, and what the look cost."""
    tree, cost = opened.tree, opened.cost
    version = tree.version or f"— ({tree.missing.get('version', 'not told')})"
    lines = [f"{style(host or 'this machine', 'bold')}  SGLang {style(version, 'bold')}"]
    kind = "editable checkout" if tree.is_editable else "installed" if host else "a folder"
    commit = f", commit {tree.commit[:12]}{_dirty(tree)}" if tree.commit else ""
    lines.append(f"  {tree.path}")
    looked = (
        "unchanged since the last look, nothing transferred"
        if cost.is_from_cache
        else f"{cost.received_bytes / 1000:,.0f} kB in {cost.seconds:.2f} s"
    )
    files = f"{len(tree.files):,} files"
    lines.append(style(f"  {kind}{commit} · tree {tree.short_hash} · {files} · {looked}", DIM))
    if "commit" in tree.missing:
        lines.append(f"  commit —  {tree.missing['commit']}")
    if tree.edited:
        lines.append(f"  {style('▲', 'yellow')} not as installed: {_some(tree.edited)}")
    if installs[1:]:
        lines += ["", *_installs(installs, tree)]
    if tree.plugins:
        lines += ["", style("PLUGINS", DIM), *(f"  {plugin}" for plugin in tree.plugins)]
    if tree.problems:
        lines += ["", style("COULD NOT BE READ", DIM)]
        lines += [f"  {style('▲', 'yellow')} {p.place}  {p.words}" for p in tree.problems]
    return [*lines, ""]


def _some(names: Sequence[str]) -> str:
    more = len(names) - EDITED_SHOWN
    return ", ".join(names[:EDITED_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _dirty(tree: Tree) -> str:
    return " with local edits" if (tree.commit or "").endswith("-dirty") else ""


def _installs(installs: Sequence[Install], tree: Tree) -> list[str]:
    rows = [
        [
            "●" if one.is_active else " ",
            one.python or "—",
            one.version or "—",
            one.how,
            one.path + ("  this one" if one.path == tree.path and not one.is_active else ""),
        ]
        for one in installs
    ]
    lines = table(["", "INSTALLED FOR", "VERSION", "HOW", "PATH"], rows)
    return [style(f"  {lines[0]}", DIM), *(f"  {line}" for line in lines[1:])]


def overview(tree: Tree, *, with_files: bool, with_flags: bool) -> list[str]:
    """Every algorithm in a line; its files and the flags where asked for."""
    lines = _algorithms(tree)
    if with_files:
        for algorithm in tree.algorithms:
            lines += ["", style(algorithm.name, "bold"), *_files(tree, algorithm)]
    if with_flags:
        lines += ["", *flag_lines([flag for flag in tree.flags if is_related(flag)])]
    return lines


def _algorithms(tree: Tree) -> list[str]:
    if not tree.has_speculation:
        return ["This build has no speculative decoding at all: the first that has is 0.4.2."]
    if not tree.algorithms:
        return ["Its algorithms could not be read."]
    rows = [
        [
            one.name,
            ", ".join(one.aliases),
            _worker(one),
            str(len(one.files) or "—"),
            f"{one.lines:,}" if one.lines is not None else "—",
            str(len(one.draft_architectures) or "—"),
            str(len(one.restrictions) or "—"),
        ]
        for one in tree.algorithms
    ]
    heads = ["ALGORITHM", "ALSO", "WORKER", "FILES", "LINES", "DRAFTS", "RULES"]
    lines = table(heads, rows, right="FILES LINES DRAFTS RULES")
    return [style(lines[0], DIM), *lines[1:]]


def _worker(one: Algorithm) -> str:
    if one.plugin is not None:
        return f"of {one.plugin}"
    if one.worker is None:
        return "—"
    file, _, name = one.worker.partition(":")
    return f"{file.rpartition('/')[2]} {name}"


def next_steps(tree: Tree, asked: Asked) -> list[str]:
    """What to ask next."""
    if not tree.algorithms:
        return []
    where = asked.host or f"--tree {asked.tree}"
    last = tree.algorithms[-1].name
    own = sum(is_about_speculation(flag) for flag in tree.flags)
    return [
        "",
        style(f"→ specctl inspect {where} {last}  its files, drafts and rules", DIM),
        style(f"→ specctl inspect {where} --flags  {own} flags of speculation", DIM),
    ]


def algorithm_lines(tree: Tree, one: Algorithm) -> list[str]:
    """Everything about one algorithm."""
    also = f"  also {', '.join(one.aliases)}" if one.aliases else ""
    lines = [f"{style(one.name, 'bold')}{also}"]
    if one.place is not None:
        lines.append(style(f"  declared in {one.place}", DIM))
    if one.plugin is not None:
        return [*lines, f"  registered by the plugin {one.plugin}; its worker is its own"]
    lines.append(f"  worker  {one.worker or '—'}")
    lines += [f"  or      {other}" for other in one.other_workers]
    total = f", {one.lines:,} lines" if one.lines is not None else ""
    lines += ["", style(f"FILES  {len(one.files)}{total}", DIM), *_files(tree, one)]
    if one.draft_architectures:
        drafts = ", ".join(one.draft_architectures)
        lines += ["", style("DRAFT ARCHITECTURES", DIM), *_wrapped(drafts, "  ")]
    lines += _rules(one.restrictions)
    flags = [flag for flag in tree.flags if _belongs(flag, one)]
    if flags:
        lines += ["", *flag_lines(flags)]
    return lines


def _files(tree: Tree, one: Algorithm) -> list[str]:
    rows = []
    for name in one.files:
        listed = tree.files.get(name)
        lines = listed.lines if listed is not None else None
        rows.append([name, f"{lines:,}" if lines is not None else "—"])
    return [f"  {line}" for line in table(["", "n"], rows, right="n")[1:]]


def _rules(restrictions: Sequence[Restriction]) -> list[str]:
    lines: list[str] = []
    for effect, verb, colour in _EFFECTS:
        found = [one for one in restrictions if one.effect == effect]
        if found:
            lines += ["", style(f"{verb.upper()}  {len(found)}", colour)]
        for one in found:
            lines += _wrapped(f"{one.kind}: {one.words}", "  ")
            if one.condition:
                lines += [style(line, DIM) for line in _wrapped(f"if {one.condition}", "      ")]
            lines.append(style(f"      {one.place}", DIM))
    return lines


def _belongs(flag: Flag, one: Algorithm) -> bool:
    """A flag that carries the algorithm's name, or the draft's where it has one."""
    key = one.name.lower().rstrip("0123456789")
    if key in flag.field_name:
        return True
    others = ("ngram", "dflash", "dspark", "uno", "domino", "decoupled", "eagle")
    is_general = is_about_speculation(flag) and not any(o in flag.field_name for o in others)
    return is_general and bool(one.draft_architectures)


def flag_lines(flags: Sequence[Flag]) -> list[str]:
    """Flags in columns."""
    rows = [[_spelling(f), f.type or "—", _default(f), _choices(f), str(f.place)] for f in flags]
    lines = table(["FLAG", "TYPE", "DEFAULT", "CHOICES", "WHERE"], rows)
    return [style(lines[0], DIM), *lines[1:]]


def _spelling(flag: Flag) -> str:
    return flag.name + (" (deprecated)" if flag.is_deprecated else "")


def _default(flag: Flag) -> str:
    if flag.is_required:
        return "required"
    if flag.is_switch and not flag.negations:
        return "on" if flag.default is True else "off"
    return "none" if flag.default is None else shorten(str(flag.default), 24)


def _choices(flag: Flag) -> str:
    if flag.choices is None:
        return ""
    more = len(flag.choices) - CHOICES_SHOWN
    shown = shorten(", ".join(flag.choices[:CHOICES_SHOWN]), CHOICES_WIDTH)
    return shown + (f" +{more}" if more > 0 else "")


def _wrapped(text: str, indent: str) -> Iterable[str]:
    import textwrap

    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
