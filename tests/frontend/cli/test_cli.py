"""The command line: what it prints, its exit codes, and one error for each wrong line."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from einderive.derivations.rules import ALL_RULES
from einderive.eops.library import OPERATORS
from einderive.frontend.bench.run import WAYS
from einderive.frontend.cli.catalogue import rules
from einderive.frontend.cli.main import main
from einderive.frontend.interruption import Interruption
from tests.amount import first, sampled

Capture = pytest.CaptureFixture[str]
DISTANCES = ["derive", "Y[i,j] = (A[i,k]-B[j,k])^2", "A=16,8", "B=16,8"]
SOON = [*DISTANCES, "--states", "400"]
"""Where it does not matter how far the search goes."""


def run(capsys: Capture, *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@cache
def saved() -> str:
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        path = Path(folder) / "d.json"
        assert main([*SOON, "--save", str(path)]) == 0
        return path.read_text(encoding="utf-8")


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "d.json"
    path.write_text(saved(), encoding="utf-8")
    return path


def test_derive_prints_formula_search_program_and_candidates(capsys: Capture) -> None:
    code, out, err = run(capsys, *SOON)
    assert (code, err) == (0, "")
    assert out.startswith("Y[i,j] = (A[i,k] - B[j,k])^2\n  A 16 x 8, B 16 x 8; float32; for cpu\n")
    for part in ("searched ", "program ", "operator", "predicted", "candidates for cpu"):
        assert part in out
    assert "\x1b" not in out


def test_any_candidate_can_be_shown(capsys: Capture) -> None:
    _, best, _ = run(capsys, *SOON)
    code, second, _ = run(capsys, *SOON, "--candidate", "2")
    assert code == 0
    assert "candidate 2 of" in second
    assert "candidate 1 of" in best


def test_shapes_may_stand_after_options(capsys: Capture) -> None:
    text, *shapes = DISTANCES[1:]
    code, out, _ = run(capsys, "derive", "--states", "9", text, "--target", "cuda:80", *shapes)
    assert code == 0
    assert "for cuda:80" in out


def test_scalars_ranges_and_element_types(capsys: Capture) -> None:
    text = "Y[h] = a*A[2*h+r]*K[r]"
    words = ["a=", "A=16", "K=3", "--range", "h=0:7", "--dtype", "float64", "--states", "40"]
    code, out, _ = run(capsys, "derive", text, *words)
    assert code == 0
    assert "a scalar, A 16, K 3; float64" in out
    mixed = run(capsys, "derive", "Y[i] = A[i]*B[i]", "A=3", "B=3", "--dtype", "A=float64")
    assert "A 3 float64, B 3 float32" in mixed[1]


def test_json_is_all_of_stdout(capsys: Capture) -> None:
    for argv in ([*SOON, "--json"], ["derive", "--json", *SOON[1:]]):
        code, out, err = run(capsys, *argv)
        data = json.loads(out)
        assert (code, err) == (0, "")
        assert data["input"]["text"] == "Y[i,j] = (A[i,k] - B[j,k])^2"


def test_json_with_run_holds_the_measurements(capsys: Capture) -> None:
    code, out, _ = run(capsys, *SOON, "--json", "--run")
    measured = json.loads(out)["measured"]["trials"]
    assert code == 0
    assert measured[0]["label"] in ("baseline", "baseline 1")
    assert sum(trial["chosen"] for trial in measured) == 1


def test_json_html_and_save_to_files(capsys: Capture, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.json", "b.json", "c.html")]
    options = ("--json", str(paths[0]), "--save", str(paths[1]), "--html", str(paths[2]))
    code, out, _ = run(capsys, *SOON, *options)
    assert code == 0
    assert "candidates" in out
    assert paths[0].read_text() == paths[1].read_text()
    assert paths[2].read_text().startswith("<!DOCTYPE html>")


def test_run_measures_what_was_derived(capsys: Capture) -> None:
    code, out, err = run(capsys, *SOON, "--run")
    assert (code, err) == (0, "")
    assert "baseline" in out
    assert "chosen: " in out
    assert "measured" not in run(capsys, *SOON, "--run", "--no-run")[1]


def test_check_and_run_a_record(capsys: Capture, record: Path) -> None:
    code, out, _ = run(capsys, "check", str(record))
    assert code == 0
    assert "every step checks" in out
    code, out, _ = run(capsys, "run", str(record), "--seconds", "0.05")
    assert code == 0
    assert "chosen: " in out


def test_a_record_keeps_the_order_of_the_operands(capsys: Capture, tmp_path: Path) -> None:
    path = str(tmp_path / "d.json")
    _, derived, _ = run(capsys, "derive", "Y = V[i]*B[i]*A[i]", "V=4", "B=4", "A=4", "--save", path)
    _, loaded, _ = run(capsys, "run", path, "--seconds", "0.01")
    assert "  V 4, B 4, A 4; float32" in derived
    assert "  V 4, B 4, A 4; float32" in loaded


def test_a_changed_record_fails_and_is_not_run(capsys: Capture, record: Path) -> None:
    data = json.loads(record.read_text())
    changed = next(c for c in data["candidates"] if c["steps"])
    changed["steps"][0]["after"] = changed["steps"][0]["before"]
    data["candidates"] = [changed]
    record.write_text(json.dumps(data))
    code, out, _ = run(capsys, "check", str(record))
    assert code == 1
    assert "FAIL" in out
    assert "does not check" in out
    code, out, err = run(capsys, "run", str(record))
    assert code == 1
    assert "nothing was run" in err
    assert "chosen" not in out


def test_a_record_without_candidates(capsys: Capture, record: Path) -> None:
    record.write_text(json.dumps(json.loads(record.read_text()) | {"candidates": []}))
    for command in ("check", "run"):
        code, _, err = run(capsys, command, str(record))
        assert code == 2
        assert f"{record}: the record holds no candidate: there is nothing to check" in err
        assert "\n  next: " in err


def test_rules_lists_all_and_shows_each(capsys: Capture) -> None:
    out = run(capsys, "rules")[1]
    assert [line.split()[0] for line in out.splitlines()] == [rule.name for rule in ALL_RULES]
    for rule in ALL_RULES:
        code, out, _ = run(capsys, "rules", rule.name)
        assert code == 0
        said, _, _ = out.partition("\n  where ")
        assert "".join(said.split()) == "".join(f"{rule.name}.{rule.formula}".split())
        assert out.count("  refuses ") == len(rule.refusals)


def test_ops_lists_all_and_shows_each(capsys: Capture) -> None:
    out = run(capsys, "ops")[1]
    assert [line.split()[0] for line in out.splitlines()] == [op.name for op in OPERATORS]
    for operator in OPERATORS:
        code, out, _ = run(capsys, "ops", operator.name)
        assert code == 0
        assert "".join(operator.definition.split()) in "".join(out.split())


def test_help_and_version(capsys: Capture) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("einderive ")
    for argv in (["--help"], ["derive", "--help"]):
        code, out, _ = run(capsys, *argv)
        assert code == 0
        assert "examples:" in out
    assert run(capsys)[0] == 2


COMMANDS = (
    *(
        "derive",
        "equivalent",
        "grad",
        "check",
        "run",
        "explain",
        "explore",
        "export",
        "rules",
        "ops",
    ),
    *("cache", "cache info", "cache list", "cache export", "cache import", "cache clear"),
    "machine",
    *("bench", "bench search", "bench call", "bench never-slower", "bench choice"),
    *("bench digits", "bench kernels", "bench bandwidth"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_and_can_give_json(
    capsys: Capture, command: str
) -> None:
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert "\n  examples:\n    einderive " in out
    assert f"\n    einderive {command} " in out
    assert command in ("bench", "cache") or "--json" in out


def test_explore_says_what_it_needs(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for line, words in [
        (["explore", "--html", "d.html"], "--html, --run and --json need the file of a derivation"),
        (["explore", "--json"], "need the file of a derivation"),
        (["explore", "d.json", "--port", "80"], "are for the workbench, without a file"),
        (["explore", "--no-browser", "--port", "999999"], "port 999999 cannot be had"),
    ]:
        code, out, err = run(capsys, *line)
        assert (code, out) == (2, "")
        assert words in err
    monkeypatch.setattr("einderive.frontend.cli.explore.find_spec", lambda name: None)
    code, out, err = run(capsys, "explore")
    assert code == 2
    assert "the workbench needs starlette and uvicorn" in err
    assert "next: pip install 'einderive[explore]'" in err


def test_commands_in_help_are_all_commands(capsys: Capture) -> None:
    listed = run(capsys, "--help")[1].partition("Commands:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()]
    assert names == list(dict.fromkeys(command.split()[0] for command in COMMANDS))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("einderive de", ["derive"]),
        ("einderive rules sk", ["skew"]),
        ("einderive derive --accuracy ", ["normwise", "fast", "componentwise"]),
        ("einderive bench never-slower --nu", ["--numpy"]),
    ],
)
def test_a_shell_is_told_how_words_go_on(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, line: str, offered: list[str]
) -> None:
    monkeypatch.setenv("_EINDERIVE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert [one.removeprefix("plain,") for one in out.splitlines()] == offered


def test_everything_is_there_as_json(capsys: Capture, record: Path) -> None:
    def read(*argv: str) -> Any:
        code, out, err = run(capsys, *argv, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    assert [one["name"] for one in read("rules")] == [rule.name for rule in ALL_RULES]
    (matmul,) = read("ops", "matmul")
    assert matmul["definition"] == next(op.definition for op in OPERATORS if op.name == "matmul")
    (checked,) = read("check", str(record), "--candidate", "1")
    assert checked["holds"]
    assert all(finding["ok"] for finding in checked["findings"])
    raced = read("run", str(record), "--seconds", "0.05")["measured"]
    assert sum(one["chosen"] for one in raced["trials"]) == 1
    assert read("equivalent", "Y = a", "Y = 1*a", "a=")["kind"] == "identical"
    rows = read("bench", "search", "--case", "7", "--states", "40")
    assert {row["way"] for row in rows} == set(WAYS)
    different = run(capsys, "equivalent", "Y[i] = A[i]", "Y[i] = 2*A[i]", "A=5", "--json")
    assert different[0] == 1
    assert json.loads(different[1])["counterexample"]["left"] == "1"


def test_the_start_is_quick() -> None:
    """What a word of help needs is loaded, and no more."""
    script = (
        "import sys; import einderive; assert not {'click', 'rich', 'torch'} & set(sys.modules);"
        "from einderive.frontend.cli.main import main; assert main(['derive', '--help']) == 0;"
        "assert not {'torch', 'numpy', 'einderive.ta'} & set(sys.modules);"
        "assert main(['rules', 'skew']) == 0; assert 'torch' not in sys.modules;"
        "from einderive.ta.notation.parse import parse; parse('Y[i] = A[i]', {'A': (3,)});"
        "assert 'einderive.ta.mistakes.repair' not in sys.modules"
    )
    root = Path(__file__).resolve().parents[3]
    assert subprocess.run([sys.executable, "-c", script], cwd=root, check=False).returncode == 0


SHAPE = "next: write a shape as NAME=SIZE,SIZE,...: A=1,512,7,7; a scalar is A="
RANGE = "next: write a range as NAME=FROM:TO, the end left out: h=0:56"
COPY = ("derive", "Y[i] = A[i]")
WINDOW = ("derive", "Y[h] = A[h+r]*K[r]", "A=10", "K=3")
WRONG: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("derive",), ("Missing argument 'FORMULA'", "derive --help")),
    (("drive",), ("No such command 'drive'. Did you mean 'derive'?", "einderive --help")),
    (("compile", "Y = A[i]"), ("compile is no command", "`einderive derive FORMULA SIZES --run`")),
    ((*COPY, "A=3", "--fast"), ("No such option '--fast'", "derive --help")),
    (("rules", "skew", "phase"), ("unexpected extra argument (phase)", "rules --help")),
    ((*COPY, "A=1,x"), ("the size x of A is not known", "for example x=100")),
    ((*COPY, "A=1,x!"), ("the size x! of A is not a whole number\n  A=1,x!\n      ^^\n", SHAPE)),
    ((*COPY, "A=3,,4"), ("the size (nothing) of A is not", "  A=3,,4\n      ^\n", SHAPE)),
    ((*COPY, "A=-3"), ("the size -3 of A is negative\n  A=-3\n    ^^\n", SHAPE)),
    ((*COPY, "A=3x4"), ("the size 3x4 of A", "next: write A=3,4\n")),
    ((*COPY, "A=(3, 4)"), ("the size (3 of A", "next: write A=3,4\n")),
    (("equivalent", "Y[i] = x[i]", "x=3"), ("the second formula is missing",)),
    ((*COPY, "A=3.5"), ("the size 3.5 of A is not a whole number", SHAPE)),
    ((*COPY, "A:3"), ("the shape has no =\n  A:3\n     ^\n", SHAPE)),
    ((*COPY, "A"), ("the shape has no =\n  A\n   ^\n", SHAPE)),
    ((*COPY, "=3"), ("the shape has no name before the =\n  =3\n  ^\n", SHAPE)),
    ((*COPY, "2A=3"), ("'2A' is not the name of a tensor", SHAPE)),
    ((*COPY, "A=3", "A=4"), ("the shape of A is given twice\n  A=4\n  ^\n",)),
    (("derive", "Y[i]", "=", "A[i]", "A=3"), ("a part of the formula", "the formula in quotes")),
    (COPY, ("the tensor A has no shape", "  Y[i] = A[i]\n         ^", "for example A=64")),
    ((*COPY, "A=3,4"), ("A is read with 1 index but has 2 dimensions", "sizes: A is 3 x 4")),
    ((*COPY, "A=3", "B=4"), ("is given for B, which the text does not use",)),
    (("derive", "Y[i] = A[i", "A=3"), ("  Y[i] = A[i\n            ^",)),
    (("derive", "", "A=3"), ("the text has no statement",)),
    (("derive", "Y[i] = A[i,k]*x[k]", "A=3,4", "x=5"), ("different sizes", "sizes: ", "^")),
    (WINDOW, ("the iterator h has no range", "give --range h=0:")),
    ((*WINDOW, "--range", "h=0"), ("the range of h needs two ends\n  h=0\n    ^\n", RANGE)),
    ((*WINDOW, "--range", "h=0:x"), ("the end x of the range of h is not", "  h=0:x\n      ^\n")),
    ((*WINDOW, "--range", "h=:8"), ("the end (nothing) of the range of h is not", RANGE)),
    ((*WINDOW, "--range", "0:8"), ("the range has no =", RANGE)),
    ((*WINDOW, "--range", "h=0:8,h=0:9"), ("the range of h is given twice", RANGE)),
    ((*WINDOW, "--range", "h=0:8,z=0:9"), ("is given for z, which the text does not use",)),
    ((*WINDOW, "--range", "h=8:0"), ("ends before it begins",)),
    ((*COPY, "A=3", "--dtype", "float31"), ("unknown element type 'float31'", "float32")),
    ((*COPY, "A=3", "--dtype", "A=flot32"), ("  A=flot32\n    ^^^^^^\n", "float32")),
    ((*COPY, "A=3", "--dtype", "B=int32"), ("is given for B, which the text does not use",)),
    ((*COPY, "A=3", "--dtype", "int32,float32"), ("one element type for all tensors",)),
    ((*COPY, "A=3", "--target", "gpu"), ("unknown target 'gpu'", "cpu, cuda:90")),
    ((*COPY, "A=3", "--seconds", "soon"), ("'--seconds': 'soon' is not a number above 0",)),
    ((*COPY, "A=3", "--states", "0"), ("'--states': '0' is not a whole number of 1 or more",)),
    ((*COPY, "A=3", "--candidate", "9"), ("there is no candidate 9", "only candidate 1")),
    ((*COPY, "A=3", "--save", "no/where/d.json"), ("cannot write no/where/d.json", "no folder")),
    ((*COPY, "A=3", "--html", "/"), ("cannot write /",)),
    (("check", "absent.json"), ("absent.json: there is no such file", "derive ... --save FILE")),
    (("run", "/"), ("/: not a file that can be read",)),
    (("rules", "skwe"), ("there is no rule 'skwe'", "did you mean skew?")),
    (("ops", "xyz"), ("there is no operator 'xyz'", "matmul")),
]


@pytest.mark.parametrize(("argv", "expected"), WRONG, ids=lambda value: " ".join(value)[:40])
def test_wrong_lines(capsys: Capture, argv: tuple[str, ...], expected: tuple[str, ...]) -> None:
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    for part in expected:
        assert part in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (RecursionError(), 2, "nested too deeply"),
        (MemoryError(), 2, "too large"),
        (PermissionError(13, "Permission denied", "d.json"), 2, "d.json: Permission denied"),
        (ZeroDivisionError("oh"), 70, "ZeroDivisionError: oh\n  next: please report"),
    ],
)
def test_no_traceback_whatever_happens(
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    problem: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(**options: object) -> int:
        raise problem

    monkeypatch.setattr(rules, "callback", fail)
    found, out, err = run(capsys, "rules")
    assert (found, out) == (code, "")
    assert message in err


def test_an_interrupted_search_prints_the_best_so_far(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from einderive.frontend.report.terminal import Progress

    def interrupt(self: Progress, *_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Progress, "show", interrupt)
    text = "Y[f,h,w] = A[c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:6, w in 0:6"
    code, out, _ = run(capsys, "derive", text, "A=4,6,6", "K=4,4,3,3", "--run")
    assert code == 130
    assert "interrupted" in out
    assert "candidates for cpu" in out
    assert "chosen" not in out


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_and_progress_only_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, no_color: str, coloured: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    _, out, err = run(capsys, *SOON)
    assert ("\x1b[1m" in out) is coloured
    assert "searching: " in err
    assert err.endswith("\x1b[1A\x1b[2K"), "the progress line is erased"


def shell(*argv: str, **options: object) -> subprocess.CompletedProcess[str]:
    call: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
    command = [sys.executable, "-m", "einderive.frontend.cli.main", *argv]
    root = Path(__file__).resolve().parents[3]
    return call(command, capture_output=True, text=True, cwd=root, check=False, **options)


def test_as_a_process() -> None:
    good = shell("rules", "skew")
    assert (good.returncode, good.stderr) == (0, "")
    assert "\x1b" not in good.stdout
    bad = shell("rules", "no-such-rule")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: ")


def test_a_reader_that_closes_the_pipe() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "einderive.frontend.cli.main", "rules", "skew"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait() == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_interruption_waits_for_a_safe_place_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        interruption.check()
        signal.raise_signal(signal.SIGINT)
        assert interruption.asked
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupted_measurement_says_so(
    record: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("einderive.frontend.trial.races.race", interrupt)
    code, out, _ = run(capsys, "run", str(record))
    assert code == 130
    assert "(interrupted: not all were tried or timed)" in " ".join(out.split())


@sampled(4)
@pytest.mark.parametrize(
    ("closed", "argv", "code"),
    first(
        4,
        [
            (">&-", ("rules", "--json"), 0),
            (">&-", ("rules", "no-such-rule"), 2),
            ("2>&-", ("rules", "no-such-rule"), 2),
            (">&- 2>&-", ("rules", "no-such-rule"), 2),
            (">&-", ("rules",), 0),
            (">&-", ("derive", "Y[i] = A[i]", "A=3", "--states", "9", "--json"), 0),
        ],
    ),
)
def test_closed_streams(closed: str, argv: tuple[str, ...], code: int) -> None:
    """As with /dev/null: the exit code stands, and errors never become results."""
    line = [
        "sh",
        "-c",
        f'exec "$@" {closed}',
        "sh",
        sys.executable,
        "-m",
        "einderive.frontend.cli.main",
        *argv,
    ]
    found = subprocess.run(line, capture_output=True, text=True, check=False)
    assert found.returncode == code, found.stderr
    assert found.stdout == ""
    assert found.stderr == "" or ("2>" not in closed and code == 2)
