r"""Mathematics for browsers: the LaTeX of this project as MathML, which needs neither a script nor
fonts.

    \sum_{k=0}^{31} A_{i,k}     <munderover><mo>∑</mo>...</munderover> <msub><mi>A</mi>...</msub>

This reads what `ta.printing` and `ta.identities` write: groups, indices, fractions, roots, accents,
fences, `cases` and `aligned`.  A command without a meaning here becomes its name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

from einderive.ta.listing import beside

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[^\s]")
_GIVEN = beside(__name__)
SIGNS, SPACES, ACCENTS = _GIVEN["signs"], _GIVEN["spaces"], _GIVEN["accents"]
"""Commands of LaTeX, without their backslash, and what they are here."""
LARGE = frozenset({"∑", "∏", "max", "min"})
"""Their limits stand below and above."""
LITERAL = frozenset({"text", "mathrm", "operatorname", "mathbf", "boldsymbol", "mathcal"})
LEAVES = frozenset({"mi", "mn", "mo", "mtext"})


def mathml(latex: str) -> Element:
    """The formula as a `<math>` element, in display style."""
    math = Element("math", display="block")
    math.extend(list(_Reader(latex).items("")))
    return math


def markup(math: Element) -> str:
    """The text of the element; all special characters are escaped."""
    return tostring(math, encoding="unicode", short_empty_elements=False)


def leaves(math: Element) -> list[Element]:
    """The symbols of a formula from left to right."""
    return [part for part in math.iter() if part.tag in LEAVES]


class _Reader:
    """Reads LaTeX from left to right, by recursive descent."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = list(TOKEN.finditer(latex))
        self.place = 0

    def peek(self) -> str:
        return self.tokens[self.place].group() if self.place < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.place += 1
        return token

    def items(self, *ends: str) -> Iterator[Element]:
        """The elements up to one of the ends, with their indices and exponents."""
        while (token := self.peek()) and token not in ends:
            yield self.with_scripts(self.item())

    def with_scripts(self, base: Element) -> Element:
        found: dict[str, Element] = {}
        while self.peek() in ("_", "^") and self.peek() not in found:
            sign = self.next()
            found[sign] = self.item()
        if not found:
            return base
        large = base.tag == "mo" and base.text in LARGE
        if large:
            base.set("movablelimits", "false")
        if "_" not in found and base.tag == "msub":  # the exponent above the index, not beside it
            base, found["_"] = base
        below, above = ("under", "over") if large else ("sub", "sup")
        whole = Element(f"m{below * ('_' in found)}{above * ('^' in found)}")
        if not large and "_" in found:
            found["_"] = _lowered(_close(found["_"]))
        whole.append(_flat(base))
        whole.extend([found[sign] for sign in "_^" if sign in found])
        return whole

    def item(self) -> Element:
        """The next element: a symbol, a command with its operands, or a group in braces."""
        token = self.next()
        if token == "{":
            return self.row("}")
        if not token.startswith("\\"):
            return _symbol(token)
        name = token[1:]
        if name in LITERAL:
            return self.literal(name)
        if name == "mathbin":  # says how much room is around it
            return self.item()
        if name in ("frac", "sqrt"):
            whole = Element("mfrac" if name == "frac" else "msqrt")
            whole.extend([self.item() for _ in range(2 if name == "frac" else 1)])
            return whole
        if name in ACCENTS:
            whole = Element("mover", accent="true")
            whole.append(self.item())
            SubElement(whole, "mo").text = ACCENTS[name]
            return whole
        if name in SPACES:
            return Element("mspace", width=SPACES[name])
        if name == "left":
            return self.fenced()
        if name == "middle":
            return self.fence()
        if name == "begin":
            return self.table()
        return _named(name)

    def row(self, end: str) -> Element:
        """The elements up to the end, as one."""
        row = Element("mrow")
        row.extend(list(self.items(end)))
        self.next()
        return row[0] if len(row) == 1 else row

    def literal(self, name: str) -> Element:
        r"""`\text{...}` as it stands: blanks count in it."""
        start = self.tokens[self.place].end()
        while self.next() not in ("}", ""):
            pass
        text = self.latex[start : self.tokens[self.place - 1].start()].replace("\\", "")
        element = Element("mtext" if name == "text" else "mi")
        if name != "text" and len(text) == 1:
            element.set("mathvariant", "normal")  # as longer ones are by themselves
        element.text = text.replace(" ", "\u00a0")
        return element

    def fence(self) -> Element:
        sign = Element("mo", fence="true")
        token = self.next().removeprefix("\\")
        sign.text = SIGNS.get(token, token)
        return sign

    def fenced(self) -> Element:
        row = Element("mrow")
        row.append(self.fence())
        row.extend(list(self.items("\\right")))
        self.next()
        row.append(self.fence())
        return row

    def table(self) -> Element:
        r"""`\begin{cases}` or `\begin{aligned}`."""
        kind = self.name_in_braces()
        table = Element("mtable", {"class": kind, "columnalign": "left"})
        while True:
            line = SubElement(table, "mtr")
            while True:
                cell = SubElement(line, "mtd")
                cell.extend(list(self.items("&", "\\\\", "\\end")))
                end = self.next()
                if end != "&":
                    break
            if end != "\\\\":
                break
        self.name_in_braces()
        if kind != "cases":
            return table
        row = Element("mrow")
        SubElement(row, "mo", fence="true").text = "{"
        row.append(table)
        return row

    def name_in_braces(self) -> str:
        self.next()
        letters = []
        while (token := self.next()) not in ("}", ""):
            letters.append(token)
        return "".join(letters)


def _flat(base: Element) -> Element:
    """`T_1` as one symbol of the same size, so that its number is not read as one of the indices
    that follow."""
    if base.tag != "msub" or [part.tag for part in base] != ["mi", "mn"]:
        return base
    symbol = Element("mi", {"class": "numbered"})
    symbol.text = "".join(part.text or "" for part in base)
    return symbol


def _close(index: Element) -> Element:
    """Takes the room around the signs of an index, as TeX does."""
    for sign in index.iter("mo"):
        if sign.text in (",", "+", "−", "-"):
            sign.set("lspace", "0")
            sign.set("rspace", "0")
    return index


def _lowered(index: Element) -> Element:
    """The index with a strut.  Without a mathematical font, browsers lower an index only where it
    would be as high as its base: `u_r` would read as `ur`."""
    if index.tag == "mn" or any("height" in part.attrib for part in index):
        return index  # a number is high enough; the other has its strut, and an exponent follows
    row = Element("mrow")
    row.extend(list(index) if index.tag == "mrow" else [index])
    SubElement(row, "mspace", height="1em")
    return row


def _symbol(token: str) -> Element:
    element = Element("mn" if token[:1].isdigit() else "mi" if token.isalpha() else "mo")
    element.text = SIGNS.get(token, token)
    return element


def _named(name: str) -> Element:
    r"""`\le`, `\alpha`, `\sin`."""
    if name in SIGNS:
        element = Element("mo")
        element.text = SIGNS[name]
        return element
    element = Element("mi")
    element.text = "∞" if name == "infty" else _greek(name)
    return element


def _greek(name: str) -> str:
    case = "CAPITAL" if name[:1].isupper() else "SMALL"
    spelled = "LAMDA" if name.lower() == "lambda" else name.upper()
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {spelled}")
    except KeyError:
        return name
