"""Lines of a support report."""

from __future__ import annotations

from specctl.domain.problem import Problem
from specctl.facts.redact import redact_text
from specctl.services.support import problem_line


def test_a_problem_about_a_secrets_key_stays_readable():
    problem = Problem("profiles/a.toml", 3, "api-key", "no key api-key in a profile", "api-keys")
    line = problem_line(problem)
    assert line == "profiles/a.toml:3 at api-key; no key api-key in a profile; nearest api-keys"
    assert redact_text(line) == line


def test_a_problem_of_a_whole_file_has_no_key():
    assert (
        problem_line(Problem("remotes/a.toml", None, "", "is empty")) == "remotes/a.toml; is empty"
    )
