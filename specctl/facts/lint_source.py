"""What lint needs to know of a build, read from its source: lists, defaults and variables.

Whatever is not found stays None, and the rules fall back to what the version is known for.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from specctl.domain.lint.build import LATEST, Build, Known
from specctl.facts.source_guards import constants_of, guard_of, strings_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.domain.lint.build import Triple
    from specctl.domain.source import Tree

RESOLUTION = ("srt/arg_groups/", "srt/server_args.py")
SPEC_INFO = "srt/speculative/spec_info.py"
ADAPTIVE = "srt/speculative/adaptive_spec_params.py"
ENVIRON = "srt/environ.py"


def build_of(tree: Tree, texts: Mapping[str, str]) -> Build:
    """The build that a tree is; only its version where its flags are unknown."""
    if not tree.flags:
        return Build(tree.version or LATEST, is_assumed=tree.version is None)
    return Build(
        version=tree.version or LATEST,
        is_assumed=tree.version is None,
        tree=tree,
        texts=texts,
        known=read_known(texts),
    )


def read_known(texts: Mapping[str, str]) -> Known:
    """Everything the rules can take from the source itself."""
    parsed = _Parsed(texts)
    return Known(
        page_tree_backends=parsed.compared(
            "speculative_eagle_topk > 1 with page_size", "attention_backend"
        ),
        ngram_page_backends=parsed.compared("speculative_eagle_topk(", "attention_backend"),
        ngram_devices=parsed.compared("Ngram speculative decoding only supports", "device"),
        ngram_draft_tokens=_number(parsed.text, r"set to (\d{1,9}) by default for ngram"),
        automatic=_automatic(parsed),
        own_draft_architectures=_own_drafts(parsed),
        adaptive_steps=_adaptive_steps(texts.get(ADAPTIVE, "")),
        mixed_chunk_algorithms=_mixed(texts.get(SPEC_INFO, "")),
        lora_algorithms=_constant(parsed.text, "lora_spec_algorithms"),
        variables=_variables(texts.get(ENVIRON, "")),
        running_requests=_number(parsed.text, r"is reset to (\d{1,9}) for speculative"),
    )


class _Parsed:
    """The files that resolve the arguments, parsed when a message is found in them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {n: t for n, t in sorted(texts.items()) if n.startswith(RESOLUTION)}
        self._trees: dict[str, ast.Module | None] = {}
        self.text = "\n".join(self._texts.values())

    def modules(self, needle: str) -> Iterator[ast.Module]:
        """Those whose text has `needle`; a file that cannot be parsed is left out."""
        for name, text in self._texts.items():
            if needle not in text:
                continue
            if name not in self._trees:
                self._trees[name] = _parse(text)
            tree = self._trees[name]
            if tree is not None:
                yield tree

    def compared(self, message: str, attribute: str) -> tuple[str, ...] | None:
        """The texts that `attribute` is compared with where `message` is raised."""
        needle = message.split(" > ")[0]
        for module in self.modules(needle):
            test = guard_of(module, message)
            if test is not None:
                found = strings_in(test, attribute, constants_of(module))
                if found:
                    return found
        return None


def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _number(text: str, pattern: str) -> int | None:
    match = re.search(pattern, text)
    return int(match.group(1)) if match else None


def _constant(text: str, name: str) -> tuple[str, ...] | None:
    match = re.search(rf"\b{name}\s*=\s*(\([^)]*\)|\[[^\]]*\])", text)
    return tuple(re.findall(r"\"([^\"]+)\"", match.group(1))) if match else None


def _automatic(parsed: _Parsed) -> Mapping[str, Triple] | None:
    """`auto_choose_speculative_params`: architecture to steps, top-k, draft tokens."""
    for module in parsed.modules("auto_choose_speculative_params"):
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and node.name.endswith(
                "auto_choose_speculative_params"
            ):
                return dict(_branches(node.body)) or None
    return None


def _branches(body: list[ast.stmt]) -> Iterator[tuple[str, Triple]]:
    for statement in body:
        if isinstance(statement, ast.If):
            triple = _returned(statement.body)
            words = [n.value for n in ast.walk(statement.test) if isinstance(n, ast.Constant)]
            if triple is not None:
                yield from ((word, triple) for word in words if isinstance(word, str))
            yield from _branches(statement.orelse)
        elif isinstance(statement, ast.Return):
            triple = _returned([statement])
            if triple is not None:
                yield "", triple


def _returned(body: list[ast.stmt]) -> Triple | None:
    for statement in body:
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
            numbers = [e.value for e in statement.value.elts if isinstance(e, ast.Constant)]
            match numbers:
                case [int(steps), int(topk), int(tokens)]:
                    return int(steps), int(topk), int(tokens)
    return None


def _own_drafts(parsed: _Parsed) -> tuple[str, ...] | None:
    message = "MTP does not require setting speculative_draft_model_path"
    for module in parsed.modules(message):
        names = [
            tuple(c.value for c in ast.walk(node.test) if isinstance(c, ast.Constant))
            for node in ast.walk(module)
            if isinstance(node, ast.If) and _mentions(node, message)
        ]
        wanted = [n for group in names for n in group if isinstance(n, str) and "For" in n]
        exempt = {"MistralLarge3ForCausalLM", "PixtralForConditionalGeneration"}
        listed = tuple(dict.fromkeys(wanted))
        if set(listed) - exempt:
            return listed
    return None


def _mentions(node: ast.AST, message: str) -> bool:
    return any(
        isinstance(inner, ast.Constant) and isinstance(inner.value, str) and message in inner.value
        for inner in ast.walk(node)
    )


def _adaptive_steps(text: str) -> tuple[int, ...] | None:
    lists = re.findall(r"\"candidate_steps\":\s*\[([\d,\s]*)\]", _before(text, "\ndef "))
    if not lists:
        lists = re.findall(r"get\(\"candidate_steps\", \[([\d,\s]+)\]", text)
    steps = {int(number) for one in lists for number in re.findall(r"\b\d{1,9}\b", one)}
    return tuple(sorted(steps)) or None


def _before(text: str, mark: str) -> str:
    return text.partition(mark)[0]


def _mixed(text: str) -> tuple[str, ...] | None:
    body = re.search(r"def supports_mixed_chunk\(self\).*?(?=\n    def |\Z)", text, re.DOTALL)
    if body is None:
        return None
    return tuple(re.findall(r"SpeculativeAlgorithm\.([A-Z0-9_]+)", body.group()))


def _variables(text: str) -> frozenset[str] | None:
    """The names that `environ.py` declares, deprecated ones included."""
    names = re.findall(r"^    ([A-Z][A-Z0-9_]+)\s*=\s*Env", text, re.MULTILINE)
    names += re.findall(r"deprecated_name=\"([A-Z0-9_]+)\"", text)
    return frozenset(names) or None
