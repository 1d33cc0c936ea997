"""The tree of errors that einderive raises, and how their texts are laid out."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

LONGEST_LINE = 160
"""A longer line is cut to a window around the caret."""

MOST_LINES = 12
"""A longer text without a caret is cut to its first lines."""


class EinderiveError(Exception):
    """Base of all errors.  `str(error)` is the whole message: text, caret, sizes, next step."""


class TextError(EinderiveError):
    """An error about a text or a value.  `span` is the half-open range of characters under the
    caret.  `str(error)` looks like this:

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
        self.message = message
        self.text = text
        self.span = span
        self.sizes = sizes
        self.next_step = next_step
        super().__init__(self.render())

    def render(self) -> str:
        """The whole text, which `str(error)` gives."""
        lines = ["\n".join(map(visible, self.message.split("\n")))]
        if self.text:
            lines += self._excerpt()
        if self.sizes:
            lines.append(f"  sizes: {visible(self.sizes)}")
        if self.next_step:
            lines.append(f"  next: {visible(self.next_step)}")
        return "\n".join(lines)

    def _excerpt(self) -> list[str]:
        if self.span is None:
            lines = self.text.split("\n")
            return ["  " + visible(_shortened(line)) for line in lines[:MOST_LINES]] + [
                f"  ... and {len(lines) - MOST_LINES} more lines"
            ] * (len(lines) > MOST_LINES)
        first, last = self.span
        line_start = self.text.rfind("\n", 0, first) + 1
        line_end = self.text.find("\n", first)
        line = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        column = first - line_start
        width = max(1, min(last - first, len(line) - column))
        if len(line) > LONGEST_LINE:
            cut = min(max(0, column - 70), len(line) - 150)
            before, after = "... " * (cut > 0), " ..." * (cut + 150 < len(line))
            line, column = before + line[cut : cut + 150] + after, len(before) + column - cut
            width = min(width, max(1, len(line) - len(after) - column))
        meant = _columns(line[column : column + width])
        return ["  " + visible(line), "  " + " " * _columns(line[:column]) + "^" * max(1, meant)]


def _shortened(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 4] + " ..."


def shown(value: object, most: int = 80) -> str:
    """The value as Python writes it, shortened.  If its own methods fail, its type."""
    try:
        return repr(value)[:most]
    except Exception:
        return f"an object of type {type(value).__name__:.40}"


def visible(text: str) -> str:
    """The text with a visible sign for each character that a terminal would act on or not show:
    control characters, marks of writing direction, halves of surrogate pairs."""
    return "".join(letter if letter.isprintable() else _sign(letter) for letter in text)


def _sign(letter: str) -> str:
    code = ord(letter)
    return chr(0x2400 + code) if code < 32 else "\u2421" if code == 127 else "\ufffd"


def _columns(text: str) -> int:
    """The number of a terminal's columns that the visible text takes."""
    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )


class FormulaSyntaxError(TextError):
    """The text is not in the notation."""


class RangeError(TextError):
    """The range of an iterator cannot be inferred, or sizes conflict."""


class NameUnknownError(TextError):
    """A name is unknown: a tensor without a shape, an iterator, a function."""


class OperandError(TextError):
    """The operands of a call do not fit: one is missing, there are too many, or a shape or an
    element type is wrong."""


class AssumptionError(OperandError):
    """An element of an operand breaks an assumption of the formula that the program rests on."""


class RuleRefused(EinderiveError):
    """A side condition of a step does not hold; the message names the condition."""


class RecordError(TextError):
    """A saved derivation cannot be read, or a step in it does not check.

    `place` says where in the record: `d.json, candidate 1, step 2, witness`."""

    place = ""

    def render(self) -> str:
        said = super().render()
        return f"{visible(self.place)}: {said}" if self.place else said

    def within(self, place: str) -> RecordError:
        """The error, in a larger part of the record."""
        found = RecordError(
            self.message,
            text=self.text,
            span=self.span,
            sizes=self.sizes,
            next_step=self.next_step
            or "restore the file as it was saved, or derive and save again",
        )
        found.place = f"{place}, {self.place}" if self.place else place
        found.args = (found.render(),)
        return found


class OutputError(TextError):
    """A file cannot be written."""


class PickleError(TextError, TypeError):
    """The value cannot be pickled.  Also a TypeError, which Python raises for other such values."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(f"{what} is not pickled", next_step=next_step)


class BuildError(TextError):
    """No program can be built for the target, or none of those that were built is right."""
