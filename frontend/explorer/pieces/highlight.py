"""Python as pieces with a kind, from the standard library's tokens: what a page colours.

    def f(x):  # why        keyword "def", plain " ", name "f", plain "(x):  ", comment "# why"

The pieces together are the text.  What is no Python is one plain piece.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator

Pieces = tuple[tuple[str, str], ...]
"""The kind of each piece, `""` for plain text, and its text."""
KINDS = {tokenize.COMMENT: "comment", tokenize.NUMBER: "number", tokenize.STRING: "string"}
MOST = 1 << 16
"""A longer text stays plain."""


def highlighted(source: str) -> Pieces:
    if len(source) > MOST:
        return (("", source),)
    try:
        found = tuple(_pieces(source))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return (("", source),)
    return found if "".join(text for _, text in found) == source else (("", source),)


def _pieces(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    done, defines = 0, False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = KINDS.get(token.type, "")
        if token.type == tokenize.NAME:
            kind = "keyword" if keyword.iskeyword(token.string) else "name" if defines else ""
            defines = token.string in ("def", "class")
        if kind:
            begin = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            if begin > done:
                yield "", source[done:begin]
            yield kind, source[begin:end]
            done = end
    if done < len(source):
        yield "", source[done:]
