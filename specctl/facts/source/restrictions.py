"""What an algorithm refuses, warns of and rewrites, as its tree's argument handling says it.

Every function that handles arguments is walked once: what it raises, asserts, warns of, sets, and
which others it calls, each with the tests on the way. For one algorithm those remain whose tests
do not exclude it, and of which at least one, here or at each caller, is about the algorithm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.source import Place, Restriction
from specctl.facts.source.branches import Test, depends, holds
from specctl.facts.source.flag_values import words_of
from specctl.facts.source.handlers import read_functions
from specctl.facts.source.restriction_kinds import kind_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from specctl.facts.source.branches import Chosen, Tests
    from specctl.facts.source.effects import Effect
    from specctl.facts.source.handlers import Function
    from specctl.facts.source.texts import Texts

CALL_DEPTH_MAX = 8


class Handlers:
    """The functions of a tree that handle arguments, and who calls them."""

    def __init__(self, texts: Texts, fields: frozenset[str]) -> None:
        self._functions = read_functions(texts, fields)
        self._callers: dict[str, list[tuple[Function, Tests]]] = {}
        for function in self._functions:
            for name, tests in function.calls:
                self._callers.setdefault(name, []).append((function, tests))
        self._about: dict[int, Tests] = {}
        self._mentions: dict[int, bool] = {}
        self._words: dict[int, str] = {}
        self._kinds: dict[tuple[str, str], str] = {}

    def restrictions(self, chosen: Chosen) -> tuple[Restriction, ...]:
        """Those of one algorithm, in the order of files and lines."""
        judge = Judge(self._callers, chosen, self._about, self._mentions)
        found: dict[tuple[str, int | None, str], Restriction] = {}
        for function in self._functions:
            if judge.reach(function) is None:
                continue
            for effect, tests in function.effects:
                if judge.concerns(function, tests):
                    one = self._restriction(function, effect, judge.open_tests(tests))
                    found.setdefault((one.place.file, one.place.line, one.words), one)
        return tuple(sorted(found.values(), key=lambda r: (r.place.file, r.place.line or 0)))

    def _restriction(self, function: Function, effect: Effect, tests: Tests) -> Restriction:
        if effect.test is not None:
            tests = (*tests, Test(effect.test, wanted=False))
        shown = [self._shown(test) for test in tests]
        return Restriction(
            kind=self._kind(effect.words, shown[-1] if shown else ""),
            words=effect.words,
            place=Place(function.file, effect.line),
            effect=effect.kind,
            condition=" and ".join(shown),
        )

    def _kind(self, words: str, test: str) -> str:
        found = self._kinds.get((words, test))
        if found is None:
            found = self._kinds[words, test] = kind_of(words, test)
        return found

    def _shown(self, test: Test) -> str:
        words = self._words.get(id(test.node))
        if words is None:
            words = self._words[id(test.node)] = words_of(test.node)
        return words if test.wanted else f"not ({words})"


class Judge:
    """What one algorithm comes to; every test and function is judged once."""

    def __init__(
        self,
        callers: dict[str, list[tuple[Function, Tests]]],
        chosen: Chosen,
        about: dict[int, Tests],
        mentions: dict[int, bool],
    ) -> None:
        self._callers, self._chosen = callers, chosen
        self._about, self._mentions = about, mentions
        self._holds: dict[int, bool | None] = {}
        self._reach: dict[str, bool | None] = {}

    def concerns(self, function: Function, tests: Tests) -> bool:
        """Whether what stands behind these tests of a function is about the algorithm."""
        found = self._passes(tests)
        return found is not None and (found or self.reach(function) is True)

    def open_tests(self, tests: Tests) -> Tests:
        """Those that the algorithm does not decide, without what was refused before them."""
        return tuple(t for t in tests if not t.is_guard and not self._decides(t.node))

    def _decides(self, test: ast.expr) -> bool:
        return self._is_about(test) and self._holds_of(test) is not None

    def reach(self, function: Function, depth: int = 0) -> bool | None:
        """Whether every way into a function is about the algorithm; None where each is shut."""
        if function.name not in self._reach:
            self._reach[function.name] = False  # while it is worked out: functions that call
            ways = [
                self._way(caller, tests, depth)
                for caller, tests in self._callers.get(function.name, [])
                if depth < CALL_DEPTH_MAX and caller is not function
            ]
            self._reach[function.name] = _all_open(ways)
        return self._reach[function.name]

    def _way(self, caller: Function, tests: Tests, depth: int) -> bool | None:
        passes, reach = self._passes(tests), self.reach(caller, depth + 1)
        return None if passes is None or reach is None else passes or reach

    def _passes(self, tests: Tests) -> bool | None:
        """Whether some test is about the algorithm; None where one excludes it.

        Statements of one block have the same tests: the same object.
        """
        about = self._about.get(id(tests))
        if about is None:
            about = self._about[id(tests)] = self._about_of(tests)
        is_about = False
        for test in about:
            found = self._holds_of(test.node)
            if found is not None and found is not test.wanted:
                return None
            is_about = is_about or not test.is_guard
        return is_about

    def _about_of(self, tests: Tests) -> Tests:
        """Those that are about algorithms at all, whichever."""
        return tuple(test for test in tests if self._is_about(test.node))

    def _holds_of(self, test: ast.expr) -> bool | None:
        if id(test) not in self._holds:
            self._holds[id(test)] = holds(test, self._chosen)
        return self._holds[id(test)]

    def _is_about(self, test: ast.expr) -> bool:
        found = self._mentions.get(id(test))
        if found is None:
            found = self._mentions[id(test)] = depends(test, self._chosen)
        return found


def _all_open(ways: Iterable[bool | None]) -> bool | None:
    """False for a function that nobody calls."""
    found = list(ways)
    if not found:
        return False
    known = [way for way in found if way is not None]
    return all(known) if known else None
