"""Files appear whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.eops.triton_kernels.build import write_source
from einderive.frontend import files
from einderive.frontend.files import write_whole
from einderive.ta.errors import EinderiveError, OutputError
from einderive.ta.syntax.layout import MOST_NESTED
from tests.amount import CAMPAIGN, sampled

CALLS = ("secrets.token_hex", "os.open", "os.chmod", "os.replace")


def save(path: Path) -> None:
    derivation().save(path)


def page(path: Path) -> None:
    derivation().to_html(path)


def derivation() -> ed.Derivation:
    return ed.derive("Y[i] = 2*A[i]", A=(3,), target="cpu", budget=ed.Budget(states=9))


def text(path: Path) -> None:
    write_whole(path, "new text\n" * 1000)


@sampled(2)
@pytest.mark.parametrize("write", [save, page, text])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("before", [None, "old"])
def test_a_failure_at_any_call_leaves_what_was_there(
    write: Callable[[Path], None],
    call: str,
    problem: Any,
    before: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "out"
    if before is not None:
        path.write_text(before, encoding="utf-8")

    def fail(*_: object, **__: object) -> None:
        raise problem

    module, name = call.split(".")
    monkeypatch.setattr(getattr(files, module), name, fail)
    with pytest.raises(KeyboardInterrupt if problem is KeyboardInterrupt else OutputError):
        write(path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ([] if before is None else ["out"])
    assert before is None or path.read_text(encoding="utf-8") == before


WRITER = """
import signal
import sys
from pathlib import Path
from einderive.frontend.files import write_whole
letter = 0
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("ready", flush=True)
while True:
    letter += 1
    write_whole(sys.argv[1], chr(97 + letter % 26) * 300_000)
"""


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("count", [2, pytest.param(8, marks=CAMPAIGN)])
def test_killed_at_any_moment(tmp_path: Path, kind: signal.Signals, count: int) -> None:
    path, root = tmp_path / "out", Path(__file__).resolve().parents[2]
    for moment in range(count):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.02 + 0.013 * moment)
        process.send_signal(kind)
        try:
            process.wait(60)
        finally:
            process.kill()
        process.stdout.close()
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        assert len(written) in (0, 300_000)
        assert len(set(written)) <= 1
        if kind != signal.SIGKILL:
            assert process.returncode in (-kind, 1)
            assert {p.name for p in tmp_path.iterdir()} <= {"out"}


TERMINATED = """
import os
import signal
import sys
import threading
from einderive.frontend import files
call = os.{call}
def terminated(*args, **named):
    os.kill(os.getpid(), signal.SIGTERM)
    return call(*args, **named)
{before}
os.{call} = terminated
files.write_whole(sys.argv[1], "whole")
print("not ended")
"""


def ended(path: Path, call: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """A process that is asked to end at this call of its writing."""
    return run_alone(TERMINATED.format(call=call, before=before), path)


def run_alone(text: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text, str(path)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("call", ["open", "chmod", "replace"])
def test_a_request_to_end_waits_for_the_file(call: str, tmp_path: Path) -> None:
    found = ended(tmp_path / "out", call)
    assert (found.returncode, found.stdout, found.stderr) == (-signal.SIGTERM, "", "")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text(encoding="utf-8") == "whole"


REMOVED = """
import os
import signal
import sys
from einderive.frontend import files
change = signal.signal
def removed(number, handler):
    if handler is signal.SIG_DFL:
        os.kill(os.getpid(), number)
        assert number in signal.sigpending(), "it was caught"
    return change(number, handler)
signal.signal = removed
files.write_whole(sys.argv[1], "whole")
print("not ended")
"""


def test_a_request_while_the_handler_is_removed_is_not_lost(tmp_path: Path) -> None:
    found = run_alone(REMOVED, tmp_path / "out")
    assert (found.returncode, found.stdout, found.stderr) == (-signal.SIGTERM, "", "")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "whole"


def test_a_caller_that_hears_requests_itself_goes_on_to(tmp_path: Path) -> None:
    """Its handler runs at once; an exception from it leaves nothing behind."""
    found = ended(
        tmp_path / "out", "chmod", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))"
    )
    assert (found.returncode, found.stdout, found.stderr) == (7, "", "")
    assert not list(tmp_path.iterdir())


def test_writing_changes_no_handler(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    write_whole(tmp_path / "out", "text")
    assert signal.getsignal(signal.SIGTERM) is before
    with ThreadPoolExecutor(1) as pool:  # where no signal can be heard
        pool.submit(write_whole, tmp_path / "other", "text").result()
    assert (tmp_path / "other").read_text(encoding="utf-8") == "text"


def test_permissions_links_and_modes_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "fresh", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "through the pipe")
        assert os.read(reader, 100) == b"through the pipe"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_whole(os.devnull, "gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    places = [tmp_path, tmp_path / "no" / "d.json", "", "a\0b", tmp_path / ("x" * 300)]
    if Path("/dev/full").is_char_device():
        places.append(Path("/dev/full"))
    (tmp_path / "file").write_text("")
    places.append(tmp_path / "file" / "d.json")
    for place in places:
        for write in (derivation().save, derivation().to_html):
            with pytest.raises(OutputError, match=r"cannot write .*\n  next: "):
                write(place)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        derivation().save(tmp_path / "d.json")
    tmp_path.chmod(0o700)


def test_an_interrupted_kernel_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("einderive.eops.triton_kernels.build.os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_source("import triton\n", tmp_path)
    assert not list(tmp_path.iterdir())


def deep(count: int) -> str:
    return "Y0[i] = A[i]\n" + "\n".join(f"Y{k}[i] = exp(Y{k - 1}[i])" for k in range(1, count))


def test_a_chain_of_more_statements_than_brackets_nest_is_recorded(tmp_path: Path) -> None:
    """As one expression it would be nested deeper than the notation reads."""
    found = ed.derive(deep(MOST_NESTED + 2), A=(3,), target="cpu", budget=ed.Budget(states=20))
    found.save(tmp_path / "d.json")
    again = ed.load(tmp_path / "d.json")
    assert str(again.source) == str(found.source)
    assert len(again.candidates) == len(found.candidates)
    for number in range(len(again.candidates)):
        assert again.check(number)


def test_a_check_that_python_cannot_nest_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("einderive.frontend.derived.check", fail)
    with pytest.raises(EinderiveError, match=r"too deeply to be checked\n  next: "):
        derivation().check()
