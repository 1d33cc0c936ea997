"""The kernels on a page: coloured, with their stages, and as text whatever they hold."""

from dataclasses import replace

import pytest

from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.pieces.highlight import highlighted
from einderive.frontend.explorer.view import view_of
from tests.frontend.explorer.derived import distances
from tests.frontend.explorer.test_page import HOSTILE, Balance


def test_colours_go_by_tokens() -> None:
    text = 'def f(x):  # why\n    return x + 1.5 if "a" else None\n'
    found = highlighted(text)
    assert "".join(piece for _, piece in found) == text
    assert [pair for pair in found if pair[0]] == [
        ("keyword", "def"),
        ("name", "f"),
        ("comment", "# why"),
        ("keyword", "return"),
        ("number", "1.5"),
        ("keyword", "if"),
        ("string", '"a"'),
        ("keyword", "else"),
        ("keyword", "None"),
    ]


@pytest.mark.parametrize("text", ["def (", "'", "x = (", "\tif\n x", "", "∑ §", "a\r\nb\x0cc\n"])
def test_what_is_no_python_stays_whole(text: str) -> None:
    assert "".join(piece for _, piece in highlighted(text)) == text


def test_the_page_shows_plans_and_sources() -> None:
    text = page(view_of(distances(), checked=0, kernels=True))
    parsed = Balance(text)
    assert parsed.open == []
    kernels = [each for n in range(3) for each in distances().kernels(n)]
    assert len(kernels) >= 3
    for kernel in kernels:
        assert kernel.plan in parsed.text
        assert kernel.source in parsed.text


def test_a_source_of_a_record_is_text() -> None:
    (kernel,) = distances().kernels(0)
    evil = replace(kernel, source=f"def f(): {HOSTILE}", plan=HOSTILE, language=HOSTILE)
    found = replace(distances(), recorded_kernels=(evil,))
    text = page(view_of(found, checked=0, kernels=True))
    assert text.count("<script") == 1  # its own
    assert Balance(text).text.count(HOSTILE) == 3
