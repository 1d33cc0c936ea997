"""Every error that einderive raises on purpose, in one tree, and how it is drawn."""

from __future__ import annotations


class EinderiveError(Exception):
    """Base of all errors.  `str(error)` is complete: text, caret, sizes and the next step."""


class TextError(EinderiveError):
    """Something about a text.  `span` is the half-open range of characters meant.

    str() gives:

        the iterator k has no range
          Y[i] = A[i,2*k]
                      ^
          sizes: A is 64 x 32
          next: state it, for example `where k in 0:16`
    """

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        span: tuple[int, int] | None = None,
        sizes: str = "",
        next_step: str = "",
    ) -> None:
        self.message, self.text, self.span = message, text, span
        self.sizes, self.next_step = sizes, next_step
        super().__init__(self.render())

    def render(self) -> str:
        lines = [self.message]
        if self.text:
            lines += self._excerpt()
        if self.sizes:
            lines.append(f"  sizes: {self.sizes}")
        if self.next_step:
            lines.append(f"  next: {self.next_step}")
        return "\n".join(lines)

    def _excerpt(self) -> list[str]:
        if self.span is None:
            return ["  " + line for line in self.text.splitlines()]
        first, last = self.span
        line_start = self.text.rfind("\n", 0, first) + 1
        line_end = self.text.find("\n", first)
        line = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        column = first - line_start
        width = max(1, min(last - first, len(line) - column))
        if len(line) > 160:  # show a window around the caret
            cut = max(0, column - 70)
            line, column = line[cut : cut + 150], column - cut
            width = min(width, max(1, len(line) - column))
        return ["  " + line, "  " + " " * column + "^" * width]


class FormulaSyntaxError(TextError):
    """The text is not in the notation."""


class RangeError(TextError):
    """A range that cannot be inferred, or sizes that conflict."""


class NameUnknownError(TextError):
    """A name that stands for nothing: a tensor without shape, an iterator, a function."""


class OperandError(TextError):
    """An operand at call time that does not fit: missing, too many, wrong shape or dtype."""


class RuleRefused(EinderiveError):
    """A step whose side condition does not hold; the message names the condition."""


class RecordError(EinderiveError):
    """A saved derivation that cannot be read, or a step in it that does not check."""


class BuildError(EinderiveError):
    """A stage that cannot be turned into a running program on the target."""
