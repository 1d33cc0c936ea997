"""`python -m tests.hostile` shows where messages differ from the golden texts, and writes them with
`--update`.

A new case is written with its input and an empty message, `---` as its last line.
"""

from __future__ import annotations

import difflib
import sys

from einderive.frontend.files import write_whole
from tests.hostile.attempt import message
from tests.hostile.corpus import KINDS, path_of, read, written


def main(argv: list[str]) -> int:
    """Show the differences, as `diff -u` does; 1 where there are any that were not written."""
    if argv not in ([], ["--update"]):
        print(__doc__, file=sys.stderr)
        return 2
    update, found = bool(argv), False
    for kind in KINDS:
        path = path_of(kind)
        before = path.read_text(encoding="utf-8")
        cases = read(kind)
        after = written(cases, [message(case) for case in cases])
        difference = difflib.unified_diff(
            before.splitlines(), after.splitlines(), str(path), str(path), lineterm=""
        )
        for line in difference:
            found = True
            print(line)
        if update and after != before:
            write_whole(path, after)
    return int(found and not update)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
