"""The process that derives and compiles for the workbench, so that the page answers meanwhile.

    stdin   a task a line, as JSON        stdout   an event a line, as JSON

A task is interrupted by SIGINT while it searches or races, as on a terminal; at other times SIGINT
means nothing, so that what was found is saved.  The process ends with its stdin.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no event
    from einderive.frontend.workbench.tasks import perform

    def tell(event: Mapping[str, Any]) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    tell({"event": "ready"})
    for line in sys.stdin:
        perform(json.loads(line), tell)


if __name__ == "__main__":
    main()
