"""Settings shared by all tests: threads, random examples, and which tests are run.

`make test` leaves out what is marked `campaign`; `make campaigns` runs just that and the tests by
random examples, these with the seed given.  With `--minutes` it is a sample: the tests in an order
drawn by the seed, none begun after that time.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.amount import leave_to_campaigns, of_campaign, without_campaigns

os.environ["EINDERIVE_CACHE"] = "off"  # tests neither find nor leave compiled kernels
os.environ["EINDERIVE_FIRST_PROFILE"] = "off"  # nor do they depend on what else runs here
if "PYTEST_XDIST_WORKER" in os.environ:  # a process each: threads of their own only get in the way
    for library in ("OMP", "MKL", "OPENBLAS"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # also of the processes they start
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)

# Neither how long an example takes nor how long it takes to draw it fails a test.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", settings.get_profile("any"), derandomize=True)

SEED = pytest.StashKey[int]()
END = pytest.StashKey[float]()
FILES = pytest.StashKey[int]()
WITHOUT_CAMPAIGNS = "not campaign"
"""What `-m` says by default (pyproject.toml)."""
DERIVED_STATES = 300
FILES_APART = 8
"""After so many files of tests the collector runs, which takes some tenths of a second."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("campaigns")
    group.addoption("--seed", type=int, help="of all random tests (default: the same every time)")
    group.addoption("--minutes", type=float, help="a sample: no test begins after that time")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # what is loaded for the tests stays to the end
    seed = config.getoption("seed")
    settings.load_profile("repeated" if seed is None else "any")
    config.stash[SEED] = seed or 0
    minutes = config.getoption("minutes")
    if minutes is not None:
        config.stash[END] = time.time() + 60 * minutes


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    seed, minutes = config.getoption("seed"), config.getoption("minutes")
    if seed is not None:
        sample = "" if minutes is None else f" MINUTES={minutes:g}"
        terminalreporter.write_line(f"to repeat it: make campaigns{sample} SEED={seed}")


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """No items of a campaign are made where it is left out: to make thousands takes seconds."""
    left_out = collector.config.getoption("markexpr") == WITHOUT_CAMPAIGNS
    return [] if left_out and of_campaign(getattr(obj, "pytestmark", ())) else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The same for parameters of a campaign."""
    if metafunc.config.getoption("markexpr") == WITHOUT_CAMPAIGNS:
        marks = metafunc.definition.own_markers
        marks[:] = [without_campaigns(m) if m.name == "parametrize" else m for m in marks]


@pytest.fixture(autouse=True)
def as_in_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds, or depends on the machine's pace, is left out but where a mark asks for
    it.  One fixture: each costs some tenths of a millisecond in each of the tests."""
    short_searches(request, monkeypatch)
    choose = sys.modules.get("einderive.frontend.trial.choose")
    if choose is not None:
        short_trials(choose, {mark.name for mark in request.node.iter_markers()}, monkeypatch)
    short_races(monkeypatch)


def short_trials(choose: Any, marks: Collection[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """But in tests marked `compiled`, `compile` leaves stages to torch, which takes a second less
    each time; `extracting`: it tries the candidates in the order of their predictions, which takes
    some tenths of a second less; `inductor`: without torch's own compiler, which takes some twenty
    seconds."""
    if "compiled" not in marks:
        monkeypatch.setattr(choose, "worth_compiling", lambda *_: ())
    if "extracting" not in marks:
        from einderive.frontend.machine.extraction import Extraction

        monkeypatch.setattr(choose, "extracted", lambda found, *_, **__: Extraction(found))
    if "inductor" not in marks:
        monkeypatch.setattr(choose, "by_inductor", lambda *_: None)


def short_searches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a budget, `compile` and `evaluate` search for some states instead of 0.5 s, so that
    what they find does not depend on the machine's pace; `derive` sees fewer states than by
    default, but in campaigns."""
    from einderive.frontend.api import optimize
    from einderive.frontend.compile import anew

    search = replace(anew.SEARCH, states=250, seconds=None)
    monkeypatch.setattr(anew, "SEARCH", search)
    if request.node.get_closest_marker("campaign") is None:
        limits, few = optimize.limits, replace(search, states=DERIVED_STATES)
        monkeypatch.setattr(optimize, "limits", lambda b: limits(few if b is None else b))


def short_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are timed in three rounds of single calls: what a test expects of the winner holds
    whoever wins."""
    races = sys.modules.get("einderive.frontend.trial.races")
    if races is not None:
        race = races.race

        def short(runs: Sequence[Callable[[], object]], **options: Any) -> list[Any]:
            return race(runs, **options | {"most": 3, "sample": 0.0})

        monkeypatch.setattr(races, "race", short)
        monkeypatch.setattr(races, "duel", lambda *runs, **options: short(runs, **options))


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    """0, or what `--seed` says: other seeds, other random programs."""
    return pytestconfig.stash[SEED]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before campaigns are left out.  A sample has an order of its own; tests marked `gpu`
    are skipped without a CUDA device.  The tests of this folder, which are the longest, come first,
    so that no process is left with one."""
    leave_to_campaigns(items)
    here = {str(path) for path in Path(__file__).parent.glob("test_*.py")}
    items.sort(key=lambda item: str(item.path) not in here)
    if config.getoption("minutes") is not None:
        Random(config.stash[SEED]).shuffle(items)
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu_items:
        return
    import torch

    if not torch.cuda.is_available():
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason="torch.cuda.is_available() is False"))


def pytest_collection_finish() -> None:
    """What is loaded by then stays to the end: the garbage collector need not go over it again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(500_000, 20, 20)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What some files of tests leave in caches, the collector leaves alone from then on.  Collected
    first, since whatever is frozen stays, used or not: without it a worker grew to 10 GB."""
    if nextitem is not None and nextitem.path != item.path:
        item.config.stash[FILES] = item.config.stash.get(FILES, 0) + 1
        if item.config.stash[FILES] % FILES_APART == 0:
            gc.collect()
            gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    end = item.config.stash.get(END, None)
    if end is not None and time.time() > end:
        pytest.skip("not in the sample: its time is over")
