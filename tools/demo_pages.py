"""One run of `make demo` on three pages: README.md, docs/index.md, docs/measurements/cpu.md.

    python -m tools.demo_pages              runs the demo, then writes the pages
    python -m tools.demo_pages --from FILE  writes the pages from what `make demo` printed

cpu.md holds the whole output. The two other pages hold a table of its times, with the machine and
the date. The demo has to run on a machine that does nothing else.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FULL: Final = ROOT / "docs" / "measurements" / "cpu.md"
SHORT: Final = (ROOT / "README.md", ROOT / "docs" / "index.md")
DEMO: Final = (sys.executable, "-u", "-m", "einderive.frontend.bench.demo")
OUTPUT: Final = re.compile(r"(?<=\$ make demo\n```\n\n```text\n).*?(?=```\n)", re.DOTALL)
"""In cpu.md: what the demo printed."""
TABLE: Final = re.compile(r"(?<=<!-- demo -->\n).*?(?=<!-- end of demo -->)", re.DOTALL)
"""In the other pages: between two comments."""
MEASURED: Final = re.compile(r"^measured (.*)$", re.MULTILINE)
COLUMNS: Final = 10


def main(arguments: list[str]) -> int:
    given = arguments[:1] == ["--from"]
    write(Path(arguments[1]).read_text("utf-8") if given else _run())
    print("Written. Now read what the pages say of these figures.")
    return 0


def _run() -> str:
    """What the demo prints, shown while it is printed."""
    lines = []
    with subprocess.Popen(DEMO, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if running.returncode:
        sys.exit("The demo failed; the pages are as they were.")
    return "".join(lines)


def write(output: str) -> None:
    """All three pages, or none of them if one has no place for the output."""
    output = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    short = table(output)
    pages = {FULL: _replaced(FULL, OUTPUT, output)}
    pages |= {page: _replaced(page, TABLE, f"\n{short}\n") for page in SHORT}
    for page, text in pages.items():
        page.write_text(text, "utf-8")


def table(output: str) -> str:
    """The times of the demo as a table of Markdown, and where and when they were measured."""
    measured = MEASURED.search(output)
    if measured is None:
        raise ValueError("the output has no line 'measured ...'")
    lines = ["| formula | fastest line of torch | derived | ratio |", "|---|---|---|---|"]
    for name, program, plain, derived, ratio in rows(output):
        same = program.startswith("baseline:")
        own = "the same line" if same else _ms(derived)
        times = "1" if same else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
        lines.append(f"| {name} | {_ms(plain)} | {own} | {times} |")
    if len(lines) == 2:
        raise ValueError("the output has no table")
    return "\n".join([*lines, "", f"Measured {measured[1]}."]) + "\n"


def rows(output: str) -> list[tuple[str, str, float, float, float]]:
    """Of each row of the demo's table: formula, chosen program, milliseconds of the fastest line of
    torch and of the derived program, and the first divided by the second."""
    found = []
    for line in output[output.index("\nformula ") :].splitlines()[2:]:
        cells = re.split(r" {2,}", line.strip())
        if len(cells) == COLUMNS:
            found.append((cells[0], cells[4], float(cells[5]), float(cells[6]), float(cells[7])))
    return found


def _ms(time: float) -> str:
    """Milliseconds with three digits, and without an exponent."""
    return f"{float(f'{time:.3g}'):g} ms"


def _replaced(page: Path, place: re.Pattern[str], text: str) -> str:
    found, count = place.subn(lambda _: text, page.read_text("utf-8"))
    if count != 1:
        raise ValueError(f"{page.name} has {count} places for the demo, not one")
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
