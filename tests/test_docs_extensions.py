"""The extensions of the docs: docstrings as prose, lists and code; formulas without network."""

from io import StringIO
from pathlib import Path

import pytest

from tests.test_layers import ROOT

Sphinx = pytest.importorskip("sphinx.application").Sphinx

TEXT = """First line.  It has two sentences.

- `states`: the number.  With a limit, the result
  depends on the machine.
- `accuracy` says how exact it is:

  `"normwise"` loses one digit.

**Proof.**  It holds for A*B.

    Y[i] = A[i]*B[i]

import einderive as ed
f = ed.compile("Y[i] = A[i]")

name     value
x        1
"""


@pytest.fixture
def convert(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import plain_docstrings

    return plain_docstrings.convert


def test_a_docstring_is_shown_as_it_is_meant(convert) -> None:  # type: ignore[no-untyped-def]
    found = convert(TEXT)
    assert "First line. It has two sentences." in found
    assert (
        "\\ ``states``\\ \\: the number. With a limit, the result depends on the machine." in found
    )
    assert '\n  \\ ``"normwise"``\\  loses one digit.\n' in found
    assert "\\ **Proof.**\\  It holds for A\\*B." in found
    assert ".. code-block:: none\n\n       Y[i] = A[i]*B[i]" in found
    assert ".. code-block:: python\n\n   import einderive as ed\n   f = " in found
    assert ".. code-block:: none\n\n   name     value\n" in found
    assert found.count("code-block") == 3


def test_a_formula_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    (tmp_path / "in").mkdir()
    page = "Title\n=====\n\n.. math::\n\n   \\sum_{0 \\le k < 3} A_{k}\n\nAnd :math:`A_{k}`.\n"
    (tmp_path / "in" / "index.rst").write_text(page, "utf-8")
    options = {"extensions": ["mathml_renderer"], "html_math_renderer": "mathml"}
    places = tmp_path / "in", None, tmp_path / "out", tmp_path / "trees"
    said = StringIO()
    app = Sphinx(*places, "html", confoverrides=options, status=None, warning=said)
    app.build()
    assert not said.getvalue()
    text = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert text.count("<math") == 2
    assert "://" not in text[: text.index("<body")].replace("http://www.w3.org", "")
