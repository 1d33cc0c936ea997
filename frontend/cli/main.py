"""The command line: derive, equivalent, check, run, bench, rules, ops.

Results go to stdout, progress and errors to stderr.  Exit codes: 0 done; 1 a check failed; 2 the
input cannot be used; 3 undecided (equivalent only); 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from einderive.frontend.accuracy.levels import ACCURACIES
from einderive.frontend.cli import arguments, commands
from einderive.frontend.cli.arguments import Parser
from einderive.frontend.cli.commands import DONE, INTERRUPTED, UNUSABLE
from einderive.frontend.report.terminal import has_colour
from einderive.frontend.version import __version__
from einderive.ta.errors import EinderiveError

EXAMPLES = """\
examples:
  einderive derive "Y[i,j] = (A[i,k]-B[j,k])^2" A=1024,128 B=1024,128 --run
  einderive derive "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s]" A=1,512,7,7 K=512,512,3,3 \\
            --range h=0:7,w=0:7 --save conv.json
  einderive check conv.json
  einderive run conv.json
  einderive rules skew
"""
DERIVE_EXAMPLES = """\
The formula is one argument, in quotes; an index that is not on the left is summed. Each tensor's
shape follows as NAME=SIZE,SIZE,... (a scalar is NAME=). An index that stands alone in no dimension
needs a range: `--range h=0:7`, or `where h in 0:7` at the end of the formula.

examples:
  einderive derive "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]" Q=8,2048,64 K=8,2048,64 V=8,2048,64
  einderive derive "Y[i] = a*A[i,k]*x[k]" a= A=64,32 x=32 --dtype float64 --run
  einderive derive "Y[h] = A[2*h+r]*K[r]" A=1024 K=5 --range h=0:510 --json | jq .statistics
"""
EQUIVALENT_EXAMPLES = """\
Exit codes: 0 equal; 1 different; 2 the input cannot be used; 3 undecided. Shapes are given as for
`derive`; with names for sizes (A=n,k), or with --generic, families of sizes are tried, and the
bounds of a clause may be stated in these names.

examples:
  einderive equivalent "Y[i] = A[i,k]*(x[k]+y[k])" "Y[i] = A[i,k]*x[k] + A[i,k]*y[k]" \\
            A=8,16 x=16 y=16
  einderive equivalent "Y[i] = exp(A[i]+B[i])" "Y[i] = exp(A[i])*exp(B[i])" A=9 B=9 --law exp-sum
  einderive equivalent "Y[i] = A[i+r-1]*K[r] where i in 0:n" \\
            "Y[i] = K[r]*A[i-1+r] where i in 0:n" A=n K=r
"""
WITH_SHAPES = ("derive", "equivalent")
"""Commands whose shapes may stand after options."""
INTERNAL, BROKEN_PIPE = 70, 141


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
    except EinderiveError as error:
        return _fail(arguments.told_for_the_command_line(str(error)))
    except OSError as error:
        where = f"{str(error.filename)[:400]}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}\n  next: check the file and its folder")
    except (MemoryError, RecursionError) as error:
        what = "too large" if isinstance(error, MemoryError) else "nested too deeply"
        return _fail(
            f"the formula or its tensors are {what} for this machine\n"
            "  next: use smaller shapes, or derive its statements in parts"
        )
    except SystemExit as leave:  # --help and --version
        return leave.code if isinstance(leave.code, int) else DONE
    except Exception as problem:  # whatever is left is a defect here, not in what was typed
        return _fail(
            f"einderive failed: {type(problem).__name__}: {problem}\n"
            "  next: please report this command line",
            INTERNAL,
        )


def _run(argv: list[str]) -> int:
    parser = _parser()
    for word in argv:
        if word.startswith("--") and word.endswith("=--"):  # argparse makes a list of it
            parser.error(f"{word[:60]} gives no value")
    options, rest = parser.parse_known_args(_json_alone(argv))
    unknown = [word for word in rest if word.startswith("-") or options.command not in WITH_SHAPES]
    if unknown:
        parser.error(f"unrecognised: {' '.join(unknown)}")
    if options.command is None:
        parser.print_help()
        return UNUSABLE
    if rest:  # shapes that stand after an option
        options.shapes = [*options.shapes, *rest]
    return int(options.action(options))


def _json_alone(argv: list[str]) -> list[str]:
    """`--json` before a formula or a shape means stdout: what holds a = is no file's name."""
    return [
        "--json=-" if word == "--json" and (len(argv) == at + 1 or "=" in argv[at + 1]) else word
        for at, word in enumerate(argv)
    ]


def _parser() -> Parser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = Parser(
        prog="einderive",
        description="Derive tensor formulas into faster equal programs, step by step.",
        epilog=EXAMPLES,
        formatter_class=layout,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"einderive {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")

    derive = subparsers.add_parser(
        "derive",
        help="find equal programs for a formula",
        description="Find equal programs for a formula and print how the best one is reached.",
        epilog=DERIVE_EXAMPLES,
        formatter_class=layout,
        allow_abbrev=False,
    )
    derive.add_argument("text", metavar="FORMULA", help='in quotes: "Y[i] = A[i,k]*x[k]"')
    derive.add_argument("shapes", metavar="NAME=SIZES", nargs="*", default=[], help="A=64,32")
    derive.add_argument("--target", default="cpu", help="cpu, cuda, cuda:90 or cuda:80 [cpu]")
    derive.add_argument("--seconds", type=_positive_float, help="end the search after this long")
    derive.add_argument("--states", type=_positive_int, help="end it after so many expressions")
    derive.add_argument(
        "--dtype", action="append", default=[], help="float16, or A=int32 [float32]"
    )
    derive.add_argument("--range", action="append", default=[], metavar="NAME=FROM:TO", dest="over")
    derive.add_argument(
        "--weights", default="", metavar="K,g", help="tensors that stay the same: folded once"
    )
    derive.add_argument(
        "--law", action="append", default=[], metavar="NAME", help="exp-sum: split and join exps"
    )
    derive.add_argument(
        "--accuracy",
        choices=ACCURACIES,
        default="normwise",
        help="normwise: at most one digit lost, on hard inputs too; fast: digits may be lost on "
        "these; componentwise: no step that can cancel, each entry by itself [normwise]",
    )
    derive.add_argument(
        "--nan",
        choices=("ignore", "strict"),
        default="ignore",
        help="strict: NaN and infinity stay where the formula has them [ignore]",
    )
    derive.add_argument("--candidate", type=_positive_int, default=1, help="whose steps to print")
    derive.add_argument("--json", nargs="?", const="-", metavar="FILE", help="the record, as JSON")
    derive.add_argument("--html", metavar="FILE", help="write an HTML page")
    derive.add_argument("--save", metavar="FILE", help="write the record, for check and run")
    derive.add_argument(
        "--run", action=argparse.BooleanOptionalAction, default=False, help="build, check, measure"
    )
    derive.set_defaults(action=commands.derive_formula)

    equivalent = subparsers.add_parser(
        "equivalent",
        help="whether two formulas are equal, with a counterexample if not",
        description="Whether two formulas give the same outputs, decided by exact evaluation.",
        epilog=EQUIVALENT_EXAMPLES,
        formatter_class=layout,
        allow_abbrev=False,
    )
    equivalent.add_argument("lhs", metavar="FORMULA", help="each in quotes")
    equivalent.add_argument("rhs", metavar="FORMULA")
    equivalent.add_argument("shapes", metavar="NAME=SIZES", nargs="*", default=[], help="A=64,32")
    equivalent.add_argument(
        "--law", action="append", default=[], metavar="NAME", help="an identity that may be used"
    )
    equivalent.add_argument("--generic", action="store_true", help="try families of sizes")
    equivalent.add_argument(
        "--range", action="append", default=[], metavar="NAME=FROM:TO", dest="over"
    )
    equivalent.set_defaults(action=commands.compare_formulas)

    check = subparsers.add_parser("check", help="verify every step of a saved derivation")
    check.add_argument("file", metavar="FILE")
    check.add_argument("--candidate", type=_positive_int, help="only this one [all]")
    check.set_defaults(action=commands.check_record)

    run = subparsers.add_parser("run", help="build, check and measure a saved derivation")
    run.add_argument("file", metavar="FILE")
    run.add_argument("--seconds", type=_positive_float, default=1.0, help="for measuring [1]")
    run.set_defaults(action=commands.run_record)

    bench = subparsers.add_parser(
        "bench",
        help="measure the search, calls, or compiled functions",
        description="Measure the search on known cases, what a call costs beyond its computation, "
        "or compiled functions beside the plain lines of torch for formulas from public sources, "
        "in time or in digits.",
    )
    measurements = ("search", "call", "never-slower", "digits")
    listed = ", ".join(measurements)
    bench.add_argument("what", choices=measurements, metavar="measurement", help=listed)
    search = bench.add_argument_group("search")
    search.add_argument("--case", type=_positive_int, help="1, 4, 6 or 7 [all, and throughput]")
    search.add_argument("--throughput", action="store_true", help="states a second, nothing else")
    search.add_argument("--states", type=_positive_int, default=4000, help="at most so many [4000]")
    search.add_argument("--target", default="cuda:90", help="whose costs are predicted [cuda:90]")
    slower = bench.add_argument_group("never-slower, digits")
    slower.add_argument(
        "--formula", action="append", default=[], metavar="WORD", help="whose name holds it [all]"
    )
    slower.add_argument(
        "--size", action="append", default=[], type=_positive_int, help="8, 32, ... 2048 [all]"
    )
    slower.add_argument("--numpy", action="store_true", help="call with NumPy arrays")
    slower.add_argument("--seconds", type=_positive_float, default=1.0, help="for each race [1]")
    exact = bench.add_argument_group("digits")
    exact.add_argument("--accuracy", choices=ACCURACIES, default="normwise", help="[normwise]")
    bench.set_defaults(action=commands.bench)

    for name, action, what in (
        ("rules", commands.show_rules, "list the rules, or show one with examples and refusals"),
        ("ops", commands.show_operators, "list the known operators, or show one"),
    ):
        listing = subparsers.add_parser(name, help=what, description=what)
        listing.add_argument("name", metavar="NAME", nargs="?")
        listing.set_defaults(action=action)
    return parser


def _positive_int(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= len(text.lstrip("0")) <= 18:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a whole number of 1 or more")
    return int(text)


def _positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a number above 0")
    return value


def _fail(message: str, code: int = UNUSABLE) -> int:
    word = "\x1b[31merror:\x1b[0m" if has_colour(sys.stderr) else "error:"
    print(f"{word} {message}", file=sys.stderr)
    return code


def _open_streams() -> None:
    """A stream that was closed before the start (`>&-`) is None, and takes what is written now, as
    `>/dev/null` does: an error must not go to stdout for want of stderr."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


def _close_stdout() -> None:
    """What is still buffered has no reader; the interpreter must not complain about it at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
