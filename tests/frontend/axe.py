"""axe-core's findings in a page, where the package axe-playwright-python is installed, which holds
axe-core: WCAG 2.1 A and AA."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
SERIOUS = ("serious", "critical")


def script() -> str:
    """axe-core; the test is skipped where it is not installed."""
    found = pytest.importorskip(
        "axe_playwright_python", reason="axe-playwright-python is not installed"
    )
    return (files(found) / "axe.min.js").read_text(encoding="utf-8")


UNNAMED = re.compile(r"- (?:button|link|img|textbox|searchbox|combobox|slider|table):?$")


def unnamed(page: Any) -> list[str]:
    """What a screen reader would tell by its kind alone, such as "button", without a name."""
    return [
        line for line in page.locator("body").aria_snapshot().splitlines() if UNNAMED.search(line)
    ]


def skipped_levels(page: Any) -> list[str]:
    """Headings more than one level below the heading before them."""
    found = page.locator(":is(h1, h2, h3, h4, h5):visible").evaluate_all(
        "each => each.map((e) => [Number(e.tagName[1]), e.textContent])"
    )
    assert found[0][0] == 1
    return [text for (one, _), (other, text) in pairwise(found) if other > one + 1]


def visited(page: Any) -> list[str]:
    """What Tab goes to from the beginning of the page, up to its end; each is another element."""
    page.evaluate("document.activeElement.blur()")
    found: list[str] = []
    while True:
        page.keyboard.press("Tab")
        here = page.evaluate(GONE_TO)
        if here is None:
            return found
        assert here != "again", found[-1]
        found.append(here)


GONE_TO = """() => {
  const here = document.activeElement;
  if (here === document.body) return null;
  window.gone ??= new Set();
  const again = window.gone.has(here);
  window.gone.add(here);
  return again ? "again" : `${here.tagName} ${here.textContent.slice(0, 40)}`;
}"""


def serious(page: Any, axe: str) -> list[str]:
    """What a person could not use or read: rule and place.  All parts are unfolded first."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run(document, { runOnly: rules })", RULES)
    assert len(found["passes"]) > 10
    return [
        f"{each['id']}: {node['target']} {node['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
