"""How long the drawn search of ten thousand expressions takes to answer, in Chromium.

`python -m tools.explorer_answers [ROUNDS]` writes `docs/measurements/explorer.md`.

Painted: from the action to the first task after the next frame, so it holds the script, the
layout and the drawing.  It needs Chromium and the package playwright, and a machine that does
nothing else.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterable
from datetime import date
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import einderive as ed

PAGE = Path(__file__).parents[1] / "docs" / "measurements" / "explorer.md"
TEXT = "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:28, w in 0:28"
STATES = 20_000
GOAL = 100.0  # milliseconds
ROUNDS = 3

FIND = "const f = of('find'); f.value = {}; f.dispatchEvent(new Event('input'))"
CLICK = "of('{}').click()"
KEY = "of('canvas').dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', cancelable: true}}))"
RESULT = "document.querySelectorAll('#s-results button')[{}].click()"
UNTIL = "const u = of('until'); u.value = {}; u.dispatchEvent(new Event('input'))"
ACROSS = "const a = of('across'); a.value = '{}'; a.dispatchEvent(new Event('change'))"
WHEEL = (
    "of('canvas').dispatchEvent(new WheelEvent('wheel',"
    " {{deltaY: {}, ctrlKey: true, clientX: 700, clientY: 300, cancelable: true}}))"
)
PAN = (
    "const c = of('canvas'); c.setPointerCapture = () => {};"
    "for (const [kind, x] of [['pointerdown', 100], ['pointermove', 300], ['pointercancel', 300]])"
    " c.dispatchEvent(new PointerEvent(kind, {clientX: x, clientY: 300, pointerId: 1}))"
)

ACTIONS = (
    ("find `m`, folded", FIND.format("'m'")),
    ("find `matmul`, folded", FIND.format("'matmul'")),
    ("find `A[`, folded", FIND.format("'A['")),
    ("find a word that is nowhere", FIND.format("'zzzz'")),
    ("find `A[` again", FIND.format("'A['")),
    ("open the first result", RESULT.format(0)),
    ("open the tenth result", RESULT.format(9)),
    ("arrow down, folded", KEY.format("ArrowDown")),
    ("arrow left, folded", KEY.format("ArrowLeft")),
    ("fold", CLICK.format("fold")),
    ("unfold all", CLICK.format("open")),
    ("arrow down, all unfolded", KEY.format("ArrowDown")),
    ("arrow up, all unfolded", KEY.format("ArrowUp")),
    ("arrow right, all unfolded", KEY.format("ArrowRight")),
    ("the whole tree", CLICK.format("fit")),
    ("zoom in", CLICK.format("in")),
    ("zoom in again", CLICK.format("in")),
    ("zoom out", CLICK.format("out")),
    ("zoom by the wheel", WHEEL.format(-300)),
    ("find `matm`, all unfolded", FIND.format("'matm'")),
    ("find `a` (every expression), all unfolded", FIND.format("'a'")),
    ("open the tenth result, all unfolded", RESULT.format(9)),
    ("across time", ACROSS.format("time")),
    ("the whole tree over time", CLICK.format("fit")),
    ("the search until its middle", UNTIL.format(500)),
    ("the search until its end", UNTIL.format(1000)),
    ("fold one expression, all unfolded", KEY.format("Enter")),
    ("unfold one expression, all unfolded", KEY.format("Enter")),
    ("pan, all unfolded", PAN),
    ("across steps", ACROSS.format("steps")),
    ("fold again", CLICK.format("fold")),
)
TIMED = """async () => {
  const of = (name) => document.getElementById(`s-${name}`);
  const frame = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(0);
  }));
  const found = [];
  for (const act of [ACTIONS]) {
    await frame(); await frame();
    const start = performance.now();
    act();
    const script = performance.now() - start;
    await frame();
    found.push([script, performance.now() - start]);
    await new Promise((done) => setTimeout(done, 400));
  }
  return found;
}"""


def main(rounds: int = ROUNDS) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "d.html"
        budget = ed.Budget(states=STATES)
        derived = ed.derive(TEXT, budget=budget, A=(1, 64, 28, 28), K=(64, 64, 3, 3))
        derived.to_html(file)
        size = file.stat().st_size
        drawn, browser, found = timed(file, rounds)
    PAGE.write_text(_page(drawn, browser, size, found), "utf-8")


def timed(file: Path, rounds: int) -> tuple[str, str, list[list[tuple[float, float]]]]:
    """What the page says it draws; the browser; and for each round, in a browser of its own, the
    milliseconds of each action: of its script, and until it was painted."""
    found: list[list[tuple[float, float]]] = []
    drawn = version = ""
    codes = ",".join(f"() => {{ {code} }}" for _, code in ACTIONS)  # the page allows no eval
    with import_module("playwright.sync_api").sync_playwright() as browsers:
        for _ in range(rounds):
            browser = browsers.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            version = f"Chromium {browser.version}"
            shown = browser.new_page(viewport={"width": 1440, "height": 900})
            said: list[str] = []
            shown.on("console", lambda each: said.append(each.text))  # noqa: B023
            shown.on("pageerror", lambda each: said.append(str(each)))  # noqa: B023
            shown.goto(file.as_uri())
            shown.wait_for_selector("#searched:not([hidden])", state="attached")
            shown.wait_for_timeout(1000)
            drawn = shown.locator("#s-count").inner_text()
            found.append(shown.evaluate(TIMED.replace("ACTIONS", codes)))
            browser.close()
            if said:
                raise RuntimeError(f"the page said: {said}")
    return drawn, version, found


def _page(drawn: str, browser: str, size: int, found: list[list[Any]]) -> str:
    lines = []
    over = 0
    for (name, _), *each in zip(ACTIONS, *found, strict=True):
        scripts, painted = [script for script, _ in each], [shown for _, shown in each]
        over += max(painted) > GOAL
        lines.append(f"| {name} | {median(scripts):.0f} | {_three(painted)} |")
    kept = len(ACTIONS) - over
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {browser} without a GPU, 1440 x 900"
    return f"""# The explorer's answers

```console
$ python -m tools.explorer_answers
```

derives a convolution with a budget of {STATES:,} states, opens its page in a browser, and times
what a reader can do with the drawn search (at first {drawn}; the page has
{size / 1e6:.1f} MB). *Script* is the time in which the page's own code runs after the action,
*painted* the time until the browser has drawn the answer, in ms: the median, least and greatest
of {len(found)} browsers. The goal is {GOAL:.0f} ms until painted: of {len(ACTIONS)} actions,
{kept} keep it in every browser.

{machine}, {date.today():%Y-%m-%d}; nothing else was running.

| action | script | painted | least | greatest |
|---|---:|---:|---:|---:|
""" + "".join(f"{line}\n" for line in lines)


def _three(values: Iterable[float]) -> str:
    held = sorted(values)
    return f"{median(held):.0f} | {held[0]:.0f} | {held[-1]:.0f}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
