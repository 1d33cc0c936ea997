"""A worker that derives nothing: it speaks as the real one does, and what it does stands in the
formula that it is given.

    Y = ends        progress, then done           Y = dies        its process ends
    Y = waits       progress until SIGINT         Y = fails       it says why
"""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

TRIAL = {
    "label": "baseline",
    "candidate": None,
    "operators": ["einsum"],
    "lines": "",
    "seconds": 1e-3,
    "spread": 0.0,
    "error": 1e-7,
    "steps_that_can_cancel": [],
    "digits_by_step": [],
    "hard_inputs": [],
    "verdict": "baseline",
    "chosen": True,
}
RACE = {
    "made": 1e9,
    "device": "cpu",
    "environment": {"processor": "a toy"},
    "interrupted": False,
    "checks": True,
    "trials": [TRIAL],
    "stages": [],
}


def tell(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def search(number: int) -> None:
    share = min(1.0, number / 5)
    counts = {"states": 10 * number, "expanded": 6 * number, "waiting": 4 * number}
    best = None if number == 1 else 1 / number
    grown = [[number - 2, 2, "rule <b>", "matmul", 1e-3, 1.0]]
    tell("search", seconds=0.1 * number, best=best, share=share, grown=grown, **counts)


def rival(label: str, seconds: float | None) -> dict[str, Any]:
    return {"label": label, "words": "<i>", "seconds": seconds, "verdict": "accepted"}


def main() -> None:
    asked: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    tell("ready")
    for line in sys.stdin:
        task = json.loads(line)
        asked.clear()
        if task["kind"] == "compile":
            rivals = [rival("baseline", None), rival("candidate 1", 2e-3), rival("other", 1e-3)]
            tell("trying", text="building")
            tell("race", rivals=rivals)
            tell("found", text="writing", html="<p>measured</p>")
            record = Path(task["record"])
            record.write_text(json.dumps(json.loads(record.read_text()) | {"measured": RACE}))
            tell("done", stopped=False, html="<p>measured</p>")
            continue
        what = task["asked"]["formula"].split()[-1]
        if what == "dies":
            sys.exit(7)
        if what == "fails":
            tell("failed", text="no <b>luck</b>")
            continue
        number = 1
        while number <= 5 or (what == "waits" and not asked):
            search(number)
            number += 1
            time.sleep(0.01)
        Path(task["record"]).write_text(json.dumps({"input": {"text": what}}))
        tell("said", text="saving")
        tell("done", stopped=len(asked) == 1, html="<p>a program</p>")


main()
