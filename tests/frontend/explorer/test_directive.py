"""The directive `derivation`: what it shows, and that the build fails where it does not hold."""

import json
from io import StringIO
from pathlib import Path

import pytest

from tests.test_layers import ROOT

Sphinx = pytest.importorskip("sphinx.application").Sphinx
SphinxError = pytest.importorskip("sphinx.errors").SphinxError

PAGE = """
Title
=====

.. derivation:: Y[h] = A[h+i,w+j]*B[w] where h in 0:6, w in 0:6, i in 0:3, j in 0:3
   :shapes: A=8,8 B=6
   :states: 60
   :rules: {rules}
"""


def built(folder: Path, rules: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "index.rst").write_text(PAGE.format(rules=rules), encoding="utf-8")
    said = StringIO()
    app = Sphinx(
        source,
        None,
        folder / "out",
        folder / "trees",
        "html",
        confoverrides={"extensions": ["derivation_directive"]},
        status=None,
        warning=said,
        freshenv=True,
    )
    app.build()
    if "index.rst" in said.getvalue():  # `make docs` takes warnings as errors
        raise SphinxError(said.getvalue())
    return (folder / "out" / "index.html").read_text("utf-8")


def test_a_page_shows_the_checked_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = built(tmp_path, "split-sum", monkeypatch)
    assert 'href="rules.html#split-sum"' in page
    assert "✓ checked" in page
    assert "✗" not in page
    records = list((tmp_path / "trees" / "derivations").iterdir())
    assert len(records) == 1
    written = records[0].stat().st_mtime_ns
    assert built(tmp_path, "split-sum", monkeypatch) == page
    assert records[0].stat().st_mtime_ns == written  # not derived again
    record = json.loads(records[0].read_text("utf-8"))
    for candidate in record["candidates"]:
        for step in candidate["steps"]:
            step["after"] = step["before"]
    records[0].write_text(json.dumps(record), "utf-8")
    with pytest.raises(SphinxError):
        built(tmp_path, "split-sum", monkeypatch)


def test_the_build_fails_where_no_candidate_uses_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SphinxError, match="no candidate uses the rules centre"):
        built(tmp_path, "centre", monkeypatch)
