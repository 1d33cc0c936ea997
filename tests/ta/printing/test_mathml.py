"""LaTeX as MathML: the structure by a table, the commands by what rules and functions hold."""

import pytest

from einderive.derivations.rules import ALL_RULES
from einderive.ta.functions import FUNCTIONS
from einderive.ta.identities.identity import identities
from einderive.ta.identities.latex import latex
from einderive.ta.printing.mathml import leaves, markup, mathml
from einderive.ta.printing.typeset import applied

STRUT = '<mspace height="1em"></mspace>'


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (
            "A_{i,k}",
            '<msub><mi>A</mi><mrow><mi>i</mi><mo lspace="0" rspace="0">,</mo>'
            f"<mi>k</mi>{STRUT}</mrow></msub>",
        ),
        ("{x}^{2}", "<msup><mi>x</mi><mn>2</mn></msup>"),
        (r"\frac{1}{n}", "<mfrac><mn>1</mn><mi>n</mi></mfrac>"),
        (r"\sqrt{x}", "<msqrt><mi>x</mi></msqrt>"),
        (r"-\infty", "<mo>−</mo><mi>∞</mi>"),
        (r"\text{if } x", "<mtext>if\u00a0</mtext><mi>x</mi>"),
        (r"\mathrm{a\_b}", "<mi>a_b</mi>"),
        (r"\hat{x}", '<mover accent="true"><mi>x</mi><mo>^</mo></mover>'),
        (
            r"\sum_{k=0}^{3} x",
            '<munderover><mo movablelimits="false">∑</mo>'
            "<mrow><mi>k</mi><mo>=</mo><mn>0</mn></mrow><mn>3</mn></munderover><mi>x</mi>",
        ),
        (
            r"\left(a < b\right)",
            '<mrow><mo fence="true">(</mo><mi>a</mi><mo>&lt;</mo><mi>b</mi>'
            '<mo fence="true">)</mo></mrow>',
        ),
        (
            r"\begin{cases} x & c \\ y & d \end{cases}",
            '<mrow><mo fence="true">{</mo><mtable class="cases" columnalign="left">'
            "<mtr><mtd><mi>x</mi></mtd><mtd><mi>c</mi></mtd></mtr>"
            "<mtr><mtd><mi>y</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable></mrow>",
        ),
        ("{A_{i}}^{2}", f"<msubsup><mi>A</mi><mrow><mi>i</mi>{STRUT}</mrow><mn>2</mn></msubsup>"),
        ("{T_{1}}_{k}", f'<msub><mi class="numbered">T1</mi><mrow><mi>k</mi>{STRUT}</mrow></msub>'),
    ],
)
def test_structure(text: str, inside: str) -> None:
    assert markup(mathml(text)) == f'<math display="block">{inside}</math>'


def test_every_command_of_rules_and_functions_is_known() -> None:
    """What is no command becomes its name, which no formula of ours shows."""
    texts = [latex(each) for rule in ALL_RULES for each in identities(rule.formula)]
    texts += [applied(f.name, ["x", "y", "z"][: f.arity]) for f in FUNCTIONS.values()]
    assert len(texts) > 80
    commands = {"left", "right", "begin", "end", "frac", "sqrt", "operatorname", "text", "quad"}
    for text in texts:
        math = mathml(text)
        shown = {leaf.text or "" for leaf in leaves(math)}
        assert not shown & (commands | {"\\", "&", "{}", "mathrm", "le", "ge", "ne", "infty"}), text
        assert all(leaf.text and "\\" not in leaf.text for leaf in leaves(math)), text


@pytest.mark.parametrize(
    "text", ["", "{", "}", r"\left(", "_", r"\begin{cases}", r"\frac", "a_", "\\"]
)
def test_half_a_formula_ends(text: str) -> None:
    assert markup(mathml(text)).startswith("<math")


def test_what_a_name_holds_is_escaped() -> None:
    assert "<script" not in markup(mathml(r"\mathrm{<script>alert(1)</script>}"))
