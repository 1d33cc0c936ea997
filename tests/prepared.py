"""Python programs in processes that have loaded torch before.

    python("-c", "print(1)")  =  subprocess.run([sys.executable, "-c", "print(1)"], ...)

Loading torch takes more than a second, and most programs of tests take less.  So each of them is
forked from a process that has loaded libraries alone, nothing of einderive and nothing of pytest.
It gets the arguments, the folder, the environment and the search path that a new process has.

A real new process is needed where a test asks what is loaded, what `PYTHONHASHSEED` or other
variables do that Python and torch read when they start, or how a process ends by a signal.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
LIBRARIES = ("torch", "numpy", "sympy", "lark", "islpy", "flint", "json", "subprocess")
INTERPRETED = "TRITON_INTERPRET"
"""Triton reads this variable when it is loaded: by the program itself, not before."""
MOST_BYTES = 1 << 20


def python(
    *arguments: str, cwd: str | Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with captured output in text.  The arguments begin with `-c`, `-m` or the
    path of a file; `-I` before them leaves out the folder and PYTHONPATH."""
    environment = dict(os.environ if env is None else env)
    asked = {"arguments": arguments, "cwd": str(cwd or Path.cwd()), "env": environment}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        connection = _forking()
        message = json.dumps(asked).encode()
        socket.send_fds(connection, [len(message).to_bytes(8)], [out.fileno(), err.fileno()])
        connection.sendall(message)
        status = int.from_bytes(_received(connection, 8), signed=True)
        told = []
        for file in (out, err):
            file.seek(0)
            told.append(file.read().decode())
    return subprocess.CompletedProcess([sys.executable, *arguments], status, *told)


def interpreted(*arguments: str | Path, **variables: str | Path) -> str:
    """What a program of this tree prints that runs Triton's kernels in its interpreter."""
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    more = {INTERPRETED: "1", "PYTHONPATH": os.pathsep.join(paths)}
    more |= {name: str(value) for name, value in variables.items()}
    done = python(*map(str, arguments), cwd=ROOT, env=os.environ | more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@cache
def _forking() -> socket.socket:
    """The connection to a process that forks; it ends when the connection is closed."""
    ours, theirs = socket.socketpair()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept.pop(INTERPRETED, None)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno()), *LIBRARIES],
            env=kept,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    return ours


def _received(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(min(MOST_BYTES, count - len(found)))
        if not part:
            raise ConnectionError("the process that forks has ended")
        found += part
    return found


def _serve(connection: socket.socket) -> None:
    """Forks one program after another."""
    path = list(sys.path)
    while True:
        head, files, _, _ = socket.recv_fds(connection, 8, 2)
        if not head:
            return
        head += _received(connection, 8 - len(head))
        asked = json.loads(_received(connection, int.from_bytes(head)))
        child = os.fork()
        if child == 0:
            connection.close()
            for file, stream in zip(files, (1, 2), strict=True):
                os.dup2(file, stream)
                os.close(file)
            _end(_run, asked, path)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, signed=True))


def _end(run: Callable[..., None], *arguments: object) -> NoReturn:
    """Run it and end as Python ends, but leave the memory to the system: to take the libraries
    apart takes half a second."""
    status = 0
    try:
        run(*arguments)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    for thread in set(threading.enumerate()) - {threading.current_thread()}:
        if not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(asked: Mapping[str, Any], path: list[str]) -> None:
    kind, *rest = asked["arguments"]
    environment = asked["env"]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(asked["cwd"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    first: list[str] = []
    if kind == "-I":
        kind, *rest = rest
    else:
        first = [str(Path(kind).resolve().parent) if kind[0] != "-" else ""]
        first += filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    if kind == "-m":
        first = [str(Path.cwd()), *first[1:]]
    sys.path[:] = [*first, *path]
    importlib.invalidate_caches()
    if kind == "-c":
        code, *rest = rest
        sys.argv[:] = ["-c", *rest]
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(code, "<string>", "exec"), main.__dict__)
    elif kind == "-m":
        module, *rest = rest
        sys.argv[:] = [module, *rest]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = [kind, *rest]
        runpy.run_path(kind, run_name="__main__")


if __name__ == "__main__":
    for library in sys.argv[2:]:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
