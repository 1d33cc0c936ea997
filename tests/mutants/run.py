"""Mutants run one process each, forked from one that has loaded what no mutant changes.

A child puts the mutant in its place, asks the family's judge and then runs the family's test files,
and tells what noticed first.  A child that takes too much of the processor is ended: that counts as
noticed by the time limit, apart from the others.  So does one that waits for much longer than that.

A family's modules are imported anew, with all that holds parts of them; or, where they call none of
their functions while they are imported, the child exchanges the code of the mutated function, and
all else stays as the parent has loaded it, but for the results that functions of their rooms keep.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.util
import inspect
import linecache
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias

import pytest

from tests.mutants.mutate import Mutant
from tests.mutants.targets import Family, path_of

ALL = ("-m", "", "--seed", "0", "--hypothesis-seed", "0")
"""Also the tests of the campaigns, and all of their examples, the same ones each time."""
KEPT = "einderive.ta."
"""What a child does not import anew,"""
ANEW = "einderive.ta.facts."
"""but for this part of it: its modules are mutated as well."""
SECONDS = 60.0
"""Of the processor, for one mutant."""
MOST_NEAR = 16
"""Tests that noticed the last mutants of a module, which are asked first."""
WAITING = 20
"""Times the limit, by the clock: so a machine that is busy or stopped ends no mutant."""

Judge: TypeAlias = Callable[[Sequence[int]], "tuple[int, str] | None"]
"""Given the numbers of the questions to ask first: the one that shows the fault, and how."""
Verdict = Literal["killed", "timeout", "survived", "crashed"]


class Outcome(NamedTuple):
    """What became of a mutant; `by` is what noticed it, `question` the judge's question."""

    mutant: Mutant
    verdict: Verdict
    by: str
    seconds: float
    question: int | None = None


class _Instead(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the code in the place of the module."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        origin = path_of(self.name)
        return importlib.util.spec_from_loader(
            fullname, self, origin=str(origin), is_package=origin.name == "__init__.py"
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


def forget() -> None:
    """Takes out of memory what a child has to import anew, and the tests that hold parts of it."""
    kept = ("tests.mutants.mutate", "tests.mutants.run", "tests.mutants.targets")
    for name in list(sys.modules):
        package = name.split(".")[0]
        tests = package == "tests" and name not in ("tests", "tests.mutants", *kept)
        stays = f"{name}.".startswith(KEPT) and not f"{name}.".startswith(ANEW)
        ours = package == "einderive" and not stays
        if ours or (tests and name != "tests.mutants.weaken"):
            del sys.modules[name]


def exchange(mutant: Mutant) -> None:
    """Gives the function of the loaded module the code that it has in the mutant: with the variable
    of its class, even where the mutant leaves out `super()`."""
    loaded, made = importlib.import_module(mutant.module), ModuleType(mutant.module)
    made.__dict__.update(loaded.__dict__)
    exec(_compiled(mutant), made.__dict__)
    old, new = (_function(module, mutant.function) for module in (loaded, made))
    old.__code__ = new.__code__.replace(co_freevars=old.__code__.co_freevars)


def clear(family: Family) -> None:
    """Forgets the results that functions of the family's floor keep for equal arguments: rooms
    beside its own may keep what its modules have made."""
    floors = tuple({".".join(module.split(".")[:2]) + "." for module in family.modules})
    for name, module in list(sys.modules.items()):
        if name.startswith(floors):
            for found in vars(module).values():
                if isinstance(found, functools._lru_cache_wrapper):
                    found.cache_clear()


def _function(module: ModuleType, name: str) -> FunctionType:
    found: Any = module
    for part in name.split("."):
        found = found.__dict__[part]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, classmethod | staticmethod):
        found = found.__func__
    found = inspect.unwrap(found)
    if not isinstance(found, FunctionType):
        raise TypeError(f"{module.__name__}.{name} has no code to exchange")
    return found


def _compiled(mutant: Mutant) -> CodeType:
    """The code, with its own lines: kernels are made of functions as they stand in their file."""
    name, text = f"a mutant of {path_of(mutant.module)}", ast.unparse(mutant.tree())
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    return compile(text, name, "exec")


class Told(NamedTuple):
    """A child's answer."""

    verdict: Verdict
    by: str
    question: int | None = None


class FirstFailure:
    """A plugin of pytest: the name of the first test that fails."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = f"{report.nodeid} (import)"


def failing_test(tests: Sequence[str], *, named: bool = False) -> str:
    """The first of the tests that fails, nothing where all pass.  With `named`, also where
    there are no such tests: a mutant may give them other names."""
    if not tests:
        return ""
    seen = FirstFailure()
    code = pytest.main([*ALL, "-x", "-q", "-p", "no:cacheprovider", *tests], plugins=[seen])
    if code != pytest.ExitCode.OK and not seen.name and not named:
        raise RuntimeError(f"pytest ends with {code!r}")
    return seen.name


@dataclass
class Hot:
    """What noticed the last mutants of a module, the latest first: questions of the judge and names
    of tests.  `by_test`: the latest was a test."""

    questions: list[int] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    by_test: bool = False

    def learn(self, told: Told) -> None:
        if told.verdict != "killed":
            return
        if told.question is None:
            self.by_test = True
            names = [told.by] if "::" in told.by and "(import)" not in told.by else []
            self.tests = [*names, *(t for t in self.tests if t != told.by)][:MOST_NEAR]
        elif told.question >= 0:
            self.by_test = False
            others = (q for q in self.questions if q != told.question)
            self.questions = [told.question, *others]


def _child(
    mutant: Mutant, family: Family, judge_of: Callable[[], Judge], hot: Hot, tell: Connection
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    told = Told("survived", "")
    try:
        if family.in_place and mutant.function:
            exchange(mutant)
            clear(family)
        elif not family.in_place:
            sys.meta_path.insert(0, _Instead(mutant.module, _compiled(mutant)))
        try:
            importlib.import_module(mutant.module)
            test = failing_test(hot.tests, named=True) if hot.by_test else ""
            found = None if test else judge_of()(hot.questions)
        except Exception as error:
            found = -1, f"raises {type(error).__name__}: {error}"
        if found is not None:
            told = Told("killed", f"{family.judge} judge: {found[1]}", found[0])
        else:
            if not test and not hot.by_test:
                test = failing_test(hot.tests, named=True)
            test = test or failing_test(family.tests)
            if test:
                told = Told("killed", test)
    except BaseException as error:
        told = Told("crashed", f"{type(error).__name__}: {error}")
    tell.send(told)
    tell.close()
    os._exit(0)


@dataclass
class _Running:
    mutant: Mutant
    process: ForkProcess
    hear: Connection
    since: float

    def spent(self) -> float:
        """Seconds of the processor, where the system tells those of another process."""
        assert self.process.pid is not None
        try:
            return time.clock_gettime(~self.process.pid << 3 | 2)  # as clock_getcpuclockid(3) does
        except OSError:
            return time.monotonic() - self.since


def run(
    family: Family,
    mutants: Sequence[Mutant],
    judge_of: Callable[[], Judge],
    *,
    jobs: int,
    seconds: float = SECONDS,
) -> Iterator[Outcome]:
    """The outcomes, in the order in which they are known.  Closing it ends the children."""
    context = multiprocessing.get_context("fork")
    waiting, running = list(reversed(mutants)), list[_Running]()
    hot: dict[str, Hot] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant = waiting.pop()
                hear, tell = context.Pipe(duplex=False)
                first = hot.setdefault(mutant.module, Hot())
                arguments = (mutant, family, judge_of, first, tell)
                process = context.Process(target=_child, args=arguments, daemon=True)
                process.start()
                tell.close()
                running.append(_Running(mutant, process, hear, time.monotonic()))
            ready = wait([one.hear for one in running], timeout=0.5)
            for one in list(running):
                took = time.monotonic() - one.since
                if one.hear in ready:
                    told = _heard(one)
                elif one.spent() > seconds or took > WAITING * seconds:
                    one.process.kill()
                    told = Told("timeout", f"more than {seconds:.0f} s")
                else:
                    continue
                one.process.join()
                one.hear.close()
                running.remove(one)
                hot[one.mutant.module].learn(told)
                yield Outcome(one.mutant, told.verdict, told.by, took, told.question)
    finally:
        for one in running:
            one.process.kill()
            one.process.join()


def _heard(one: _Running) -> Told:
    try:
        told: Told = one.hear.recv()
    except EOFError:
        return Told("crashed", f"the process ended with {one.process.exitcode}")
    return told
