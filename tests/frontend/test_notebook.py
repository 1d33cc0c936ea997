"""What notebooks show of formulas, derivatives, verdicts: whole markup, with names as text."""

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.equality.verdict import Shapes, Verdict
from einderive.ta.printing import notebook
from tests.frontend.explorer.test_page import HOSTILE, Balance


def shown(value: object) -> str:
    text = value._repr_html_()  # type: ignore[attr-defined]  # what notebooks look for
    parsed = Balance(text)
    assert parsed.open == []
    assert not {tag for tag, _ in parsed.seen} & {"script", "html", "body"}
    return parsed.text


def test_a_formula_is_mathematics_and_its_text() -> None:
    program = ed.parse("T[i] = A[i,k]*x[k]; Y[i] = exp(T[i])", A=(4, 3), x=(3,))
    text = program._repr_html_()
    assert "<math" in text
    assert "<msub><mi>T</mi><mrow><mi>i</mi>" in text
    assert str(program) in shown(program)
    again = ed.parse(Balance(text).text[-len(str(program)) :], A=(4, 3), x=(3,))
    assert again == program


def test_a_long_formula_is_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ed.parse("Y[i] = 2*A[i]", A=(4,))
    assert "<math" in program._repr_html_()
    monkeypatch.setattr(notebook, "LONGEST", 5)
    assert "<math" not in program._repr_html_()
    assert str(program) in shown(program)


def test_derivatives_stand_below_their_formula() -> None:
    found = ed.grad("Y[i] = A[i,k]*x[k]", A=(4, 3), x=(3,), wrt=["A", "x"])
    text = shown(found)
    assert found.of is not None
    assert text.index(str(found.of)) < text.index("Gradient by A, x:") < text.index(str(found))
    assert "Tangents by x:" in shown(ed.jvp("Y[i] = 2*x[i]", x=(3,)))


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("Y[i] = A[i]+A[i]", "Y[i] = 2*A[i]", "identical"),
        ("Y[i] = A[i]^2", "Y[i] = A[i]", "different"),
    ],
)
def test_a_verdict_says_its_claim(left: str, right: str, kind: str) -> None:
    verdict = ed.equivalent(left, right, A=(4,))
    assert verdict.kind == kind
    text = shown(verdict)
    assert text.startswith(str(verdict))
    if verdict.counterexample is not None:
        assert text.count(str(verdict.counterexample)) == 1


def test_the_sizes_of_a_verdict_are_a_table() -> None:
    sizes: tuple[Shapes, ...] = ({"A": (1, 2), "x": ()}, {"A": (3, 5), "x": ()})
    text = Verdict("generic", "equal", shapes=sizes)._repr_html_()
    assert text.count("<tr>") == 1 + len(sizes)
    assert "<td>(3,5)</td><td>a scalar</td>" in text


def test_hostile_texts_stay_text() -> None:
    verdict = Verdict("undecided", HOSTILE, shapes=({HOSTILE: (2,)},))
    assert HOSTILE not in verdict._repr_html_()
    assert shown(verdict).count(HOSTILE) == 2


def test_a_compiled_function_shows_its_trials() -> None:
    function = ed.compile("Y[i] = 2*A[i]", A=(8,), effort="instant")
    assert np.allclose(function(np.ones(8, np.float32)), 2)
    assert function.chosen.label in shown(function)
