"""`python -m tools.grammar_tables` writes the tables of the notation's parser, after a change in
`ta/syntax/grammar.lark` or of lark.  A test compares the committed file with what this writes."""

from __future__ import annotations

from pathlib import Path

from einderive.frontend.files import write_whole
from einderive.ta.syntax.tables import FILE, made

PLACE = Path(__file__).parents[1] / "ta" / "syntax"


def main() -> None:
    write_whole(PLACE / FILE, made((PLACE / "grammar.lark").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
