"""Pages in Debian's Chromium, where it and the package playwright are installed.

Nothing here depends on the machine's speed: each wait is for what shall be seen, and ends after
`PATIENCE` alone.  Pages refuse to evaluate texts (their policy), so waits are by locators.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
PATIENCE = 1_800_000
"""Milliseconds after which something that should happen has not."""
REST = """() => new Promise((done) => setTimeout(
  () => requestAnimationFrame(() => requestAnimationFrame(() => done())), 600))"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without pages; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE
        )
        yield browser
        browser.close()


class Opened:
    """Pages of one window of a browser: what they said on the console, and what they loaded."""

    def __init__(self, browser: Any, **given: Any) -> None:
        self.said: list[str] = []
        self.loaded: list[str] = []
        self.context = browser.new_context(**given)
        self.context.set_default_timeout(PATIENCE)
        self.context.on("page", self._listen)

    def _listen(self, page: Any) -> None:
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda problem: self.said.append(str(problem)))
        page.on("request", lambda request: self.loaded.append(request.url))

    def page(self, address: str) -> Any:
        page = self.context.new_page()
        page.goto(address)
        return page


def rest(page: Any) -> None:
    """Lets the page draw and note its address, by its own clock."""
    page.evaluate(REST)
