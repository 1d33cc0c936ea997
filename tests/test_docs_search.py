"""The search of the docs, in a browser and from files: what newcomers type finds the page."""

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.frontend.browser import Opened, chromium
from tests.test_layers import ROOT

Sphinx = pytest.importorskip("sphinx.application").Sphinx

FIRST = 3
WANTED = {
    "conv": "gallery",
    "slow": "slow-numpy",
    "softmax": "definitions",
    "gradient": "gradients",
    "gpu": "measurements/gpu",
    "cache": "memory",
    "how to install": "index",
    "einsum": "comparison",
    "baseline": "glossary",
    "error": "guarantees",
    "never wrong": "index",
    "torch.compile": "pytorch",
    "dynamic shapes": "sizes",
    "save": "record",
    "prove": "prove-equality",
    "why not": "why-not",
    "not found": "why-not",
    "why is it not faster": "why-not",
    "attention": "gallery",
    "float16": "guarantees",
    "benchmark": "measurements",
    "pytest": "use-in-tests",
    "speed up numpy": "slow-numpy",
    "custom rule": "adding-a-rule",
    "out of memory": "effort",
    "notebook": "explorer",
}


@pytest.mark.campaign
def test_the_page_is_among_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    docs, out = ROOT / "docs", tmp_path / "html"
    Sphinx(docs, docs, out, tmp_path / "trees", "html", status=None).build()
    with chromium() as browser:
        opened = Opened(browser)
        page = opened.page((out / "index.html").as_uri())
        for query, wanted in WANTED.items():
            page.goto(f"{(out / 'search.html').as_uri()}?q={quote(query)}")
            page.locator("#search-results p", has_text="Search finished").wait_for()
            links = page.locator("ul.search li > a").evaluate_all("all => all.map((e) => e.href)")
            first = [link.partition("#")[0].partition("?")[0] for link in links[:FIRST]]
            assert (out / f"{wanted}.html").as_uri() in first, (query, first)
    assert opened.said == []


def test_every_page_with_words_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from search_words import WORDS

    assert [page for page in WORDS if not (ROOT / "docs" / f"{page}.md").exists()] == []
    assert set(WANTED.values()) <= WORDS.keys()
