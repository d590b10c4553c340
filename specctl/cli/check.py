"""`specctl check [PROFILE…]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.output import write, write_json
from specctl.domain.errors import UsageError
from specctl.domain.lint.finding import Severity
from specctl.domain.plain import plain
from specctl.domain.published import Checked, CheckedBuild, FileProblem, SourceLine

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.lint.finding import Finding
    from specctl.services.linting import Verdict

PASSED, WARNED, FAILED = 0, 1, 2


@click.command()
@click.argument("profiles", nargs=-1, metavar="[PROFILE]...")
@click.option("--on", "host", metavar="HOST", help="Against the SGLang of this host.")
@click.option(
    "--tree", "directory", metavar="DIR", type=click.Path(exists=True, path_type=Path),
    help="Against an SGLang on this machine: a package, an environment or a checkout.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "github"]), default="text",
    help="github: workflow commands that annotate the files of a pull request.",
)  # fmt: skip
@click.pass_obj
def command(
    invocation: Invocation,
    profiles: tuple[str, ...],
    host: str | None,
    directory: Path | None,
    form: str,
) -> int:
    """Say what a server would refuse, rewrite or ignore in profiles, before one is started.

    Without --on and --tree: against the newest SGLang that specctl knows.

    Exit status: 0 when there are hints at most, 1 for warnings and for values that the server
    would rewrite, 2 for errors.

    \b
    specctl check                        every file of the workspace
    specctl check llama-8b-eagle3 --on gpu8
    specctl check --tree ~/sglang --format github
    """  # noqa: D301  click reads \b
    if host is not None and directory is not None:
        raise UsageError("--on and --tree name two builds", hint="Give one of them.")
    verdict = _check(invocation, profiles, host, directory)
    if form == "json":
        write_json("check", plain(checked(verdict)))
    else:
        _write(verdict, is_github=form == "github")
    return status_of(verdict)


def _check(
    invocation: Invocation, profiles: tuple[str, ...], host: str | None, directory: Path | None
) -> Verdict:
    from specctl.cli.running import run
    from specctl.services.linting import build_here, check_files

    if host is not None:
        return run(_check_on(invocation, profiles, host))
    build = run(build_here(directory)) if directory is not None else None
    return check_files(invocation.workspace(), profiles, build)


async def _check_on(invocation: Invocation, profiles: tuple[str, ...], host: str) -> Verdict:
    from specctl.cli.running import fleet_of
    from specctl.services.linting import check_on

    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        return await check_on(connection, fleet.workspace, profiles)


def status_of(verdict: Verdict) -> int:
    """0 for hints at most, 1 for warnings and rewrites, 2 for errors."""
    if verdict.count(Severity.ERROR):
        return FAILED
    is_warned = verdict.count(Severity.WARNING) or verdict.count(Severity.REWRITE)
    return WARNED if is_warned else PASSED


def _write(verdict: Verdict, *, is_github: bool) -> None:
    from specctl.cli.check_text import github_line, text_lines

    if is_github:
        for finding in verdict.findings:
            write(github_line(finding))
        return
    for line in text_lines(verdict.findings):
        write(line)
    diagnostics.say(f"{_summary(verdict)}, against {_build_words(verdict)}")


def _summary(verdict: Verdict) -> str:
    shown = [
        _count(verdict.count(severity), str(severity))
        for severity in Severity
        if severity in {Severity.ERROR, Severity.WARNING} or verdict.count(severity)
    ]
    return ", ".join(shown)


def _build_words(verdict: Verdict) -> str:
    build = verdict.build
    where = f" of {verdict.host}" if verdict.host else ""
    if build.tree is not None:
        return f"{build.name}{where} at {build.tree.path}"
    return f"{build.name}{where}, the newest one known; --on HOST asks a host's own"


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"


def checked(verdict: Verdict) -> Checked:
    """Findings as they are published, counted."""
    build = verdict.build
    return Checked(
        host=verdict.host,
        errors=verdict.count(Severity.ERROR),
        rewrites=verdict.count(Severity.REWRITE),
        warnings=verdict.count(Severity.WARNING),
        hints=verdict.count(Severity.HINT),
        build=CheckedBuild(
            version=build.version,
            is_assumed=build.is_assumed,
            path=build.tree.path if build.tree else None,
            tree_hash=build.tree.tree_hash if build.tree else None,
        ),
        problems=tuple(_published(finding) for finding in verdict.findings),
    )


def _published(finding: Finding) -> FileProblem:
    place = finding.place
    return FileProblem(
        level=finding.severity.value,
        file=finding.file,
        line=finding.line,
        profile=finding.profile or None,
        key=finding.key,
        message=finding.message,
        nearest=finding.nearest or None,
        fix=finding.fix,
        rule=finding.rule,
        versions=finding.versions,
        source=SourceLine(place.file, place.line, finding.source_line) if place else None,
    )
