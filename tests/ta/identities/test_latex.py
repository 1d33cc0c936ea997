"""Identities as LaTeX, against texts by hand; those of all rules are well formed."""

from __future__ import annotations

import re

import pytest

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES
from einderive.ta.identities.identity import identities
from einderive.ta.identities.latex import latex

MARKS = re.compile(r"\\(?:left|right|begin|end)\b|(?<!\\)[{}]")
CLOSES = {"}": "{", "\\right": "\\left", "\\end": "\\begin"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "sum[i](f(i)) = sum[j](f(a+b-1-j)) where i in a:b, j in a:b",
            r"\sum_{a \le i < b} f\left(i\right) = "
            r"\sum_{a \le j < b} f\left(a + b - 1 - j\right)",
        ),
        (
            "sum[t](a*f(t)) = a*sum[t](f(t))",
            r"\sum_{t} a\, f\left(t\right) = a\, \sum_{t} f\left(t\right)",
        ),
        (
            "sum[t](f(t))*a = a*sum[t](f(t))",
            r"\left(\sum_{t} f\left(t\right)\right)\, a = a\, \sum_{t} f\left(t\right)",
        ),
        (
            "(a*sum[t](f(t)))*b = a*b*sum[t](f(t))",
            r"\left(a\, \sum_{t} f\left(t\right)\right)\, b = a\, b\, \sum_{t} f\left(t\right)",
        ),
        (
            "max[k](a(k) + c) = max[k](a(k)) + c",
            r"\max_{k} \left(a\left(k\right) + c\right) = "
            r"\left(\max_{k} a\left(k\right)\right) + c",
        ),
        ("a - (b - c) = a - b + c", r"a - \left(b - c\right) = a - b + c"),
        ("a/b*c = a*c/b", r"\frac{a}{b}\, c = \frac{a\, c}{b}"),
        (
            "(a - b)^2 = -(b - a)*(a - b)",
            r"{\left(a - b\right)}^{2} = -\left(b - a\right)\, \left(a - b\right)",
        ),
        ("sqrt(a^2) = abs(a)", r"\sqrt{{a}^{2}} = \left|a\right|"),
        (
            "{L[i:a:b] f(i)} = {L[i:a:b] {L[q:0:n] f(q)}[i//n]} where 0 < n",
            "\\begin{aligned}\n"
            r"&\left\{f\left(i\right) \;\middle|\; a \le i < b\right\} = "
            r"\left\{\left\{f\left(q\right) \;\middle|\; 0 \le q < n\right\}"
            r"_{\left\lfloor \frac{i}{n} \right\rfloor} \;\middle|\; a \le i < b\right\} \\"
            "\n"
            r"&\text{where } 0 < n"
            "\n\\end{aligned}",
        ),
        (
            "f(p) = g where p in a:b, f(i) = where(i < a or b <= i and not i < n, 0, f(i))",
            "\\begin{aligned}\n"
            r"&f\left(p\right) = g \\"
            "\n"
            r"&\text{where } a \le p < b,\quad f\left(i\right) = 0 \text{ if } i < a \text{ or } "
            r"\left(b \le i \text{ and } \text{not } i < n\right)"
            "\n\\end{aligned}",
        ),
        (
            "f(i) = where(i < n, g(i), 0)",
            r"f\left(i\right) = \begin{cases} g\left(i\right) & i < n \\ "
            r"0 & \text{otherwise} \end{cases}",
        ),
    ],
)
def test_texts(text: str, expected: str) -> None:
    (identity,) = identities(text)
    assert latex(identity) == expected


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: str(rule.name))
def test_formulas_of_rules_are_well_formed(rule: Rule | JointRule) -> None:
    """What opens is closed, in order; all names of bodies, integers and iterators occur."""
    for identity in identities(rule.formula):
        text = latex(identity)
        opened: list[str] = []
        for mark in (found[0] for found in MARKS.finditer(text)):
            if mark in CLOSES:
                assert opened.pop() == CLOSES[mark]
            else:
                opened.append(mark)
        assert not opened
        for name in (*identity.bodies, *identity.sizes, *identity.parameters, *identity.groups):
            assert re.search(rf"(?<![\\\w]){name}(?!\w)", text), name
