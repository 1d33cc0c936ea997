"""The command line: deriving, comparing, saved derivations, catalogues, the cache, benchmarks.

Results go to stdout, progress and errors to stderr.  Exit codes: 0 done; 1 a check failed; 2 the
input cannot be used; 3 undecided (equivalent only); 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
from click.exceptions import Exit, NoArgsIsHelpError
from click.shell_completion import shell_complete

from einderive.frontend.cli.bench import bench
from einderive.frontend.cli.cache import cache
from einderive.frontend.cli.catalogue import ops, rules
from einderive.frontend.cli.codes import BROKEN_PIPE, INTERNAL, INTERRUPTED, UNUSABLE
from einderive.frontend.cli.derive import derive
from einderive.frontend.cli.equivalent import equivalent
from einderive.frontend.cli.explore import explore
from einderive.frontend.cli.grad import grad
from einderive.frontend.cli.machine import machine
from einderive.frontend.cli.parameters import OPTIONS, examples
from einderive.frontend.cli.records import check, explain, export, run
from einderive.frontend.version import __version__

COMPLETE = "_EINDERIVE_COMPLETE"
"""The variable in which a shell asks for completions; see docs/quickstart.md."""
OTHER_NAMES = OPTIONS["other-names"]
"""Words that one may try for a command, and what they are here."""
LONGEST = 400
"""A longer message about the arguments is cut to its beginning."""


class InOrder(click.Group):
    """Its help lists the commands as they are given here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] in OTHER_NAMES:
            ctx.fail(f"{args[0]} is no command; write `einderive {OTHER_NAMES[args[0]]}`")
        return super().resolve_command(ctx, args)


@click.group(
    cls=InOrder,
    commands=[
        derive,
        equivalent,
        grad,
        check,
        run,
        explain,
        explore,
        export,
        rules,
        ops,
        cache,
        machine,
        bench,
    ],
    epilog=examples("einderive"),
    context_settings={"max_content_width": 100},
)
@click.version_option(__version__, message="einderive %(version)s")
def einderive() -> None:
    """Derive tensor formulas into faster equal programs, step by step."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; returns the exit code and raises nothing."""
    _open_streams()
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except Exception as problem:
        return _fail(*_explained(problem))


def _run(argv: list[str]) -> int:
    """Not by `einderive.main`, which would end the process on a closed pipe, and say nothing of an
    interruption."""
    if asked := os.environ.get(COMPLETE):
        return shell_complete(einderive, {}, "einderive", COMPLETE, asked)
    try:
        with einderive.make_context("einderive", argv) as context:
            return int(einderive.invoke(context))
    except Exit as leave:  # --help and --version
        return leave.exit_code
    except NoArgsIsHelpError as problem:
        print(problem.format_message(), file=sys.stderr)
        return UNUSABLE


def _explained(problem: Exception) -> tuple[str, int]:
    """The message for the error, and the exit code."""
    from einderive.frontend.arguments import UsageError, told_for_the_command_line
    from einderive.ta.errors import EinderiveError

    if isinstance(problem, click.UsageError):
        called = problem.ctx.command_path if problem.ctx else "einderive"
        said = problem.format_message().rstrip(".")[:LONGEST]
        problem = UsageError(said, next_step=f"{called} --help shows how it is called")
    if isinstance(problem, EinderiveError):
        return told_for_the_command_line(str(problem)), UNUSABLE
    if isinstance(problem, OSError):
        where = f"{str(problem.filename)[:LONGEST]}: " if problem.filename else ""
        reason = problem.strerror or problem
        return f"{where}{reason}\n  next: check the file and its folder", UNUSABLE
    if isinstance(problem, MemoryError | RecursionError):
        what = "too large" if isinstance(problem, MemoryError) else "nested too deeply"
        return (
            f"the formula or its tensors are {what} for this machine\n"
            "  next: use smaller shapes, or derive its statements in parts",
            UNUSABLE,
        )
    return (  # a defect here, not in what was typed
        f"einderive failed: {type(problem).__name__}: {problem}\n"
        "  next: please report this command line",
        INTERNAL,
    )


def _fail(message: str, code: int) -> int:
    from rich.text import Text

    from einderive.frontend.report.terminal import console

    console(stderr=True).print(Text.assemble(("error:", "red"), f" {message}"), soft_wrap=True)
    return code


def _open_streams() -> None:
    """Opens stdout and stderr on the null device if they were closed before the start (`>&-`).

    Python sets a closed stream to None, and a message to it would fail."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


def _close_stdout() -> None:
    """Puts the null device in the place of stdout, whose reader is gone, so that the interpreter
    can flush it at exit without an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
