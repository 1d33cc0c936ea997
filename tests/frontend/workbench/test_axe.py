"""axe-core finds nothing serious in the workbench: at the start, with an error, after a race."""

from __future__ import annotations

import shutil

import pytest

from tests.frontend.axe import script, serious, unnamed
from tests.frontend.workbench.served import TOKEN, served

CHROMIUM = shutil.which("chromium")
LONG = 180_000
"""Milliseconds."""


@pytest.mark.campaign
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_workbench_is_accessible(width: int, scheme: str) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    axe = script()
    with served() as client, playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        window = {"width": width, "height": 900}
        page = browser.new_page(viewport=window, color_scheme=scheme, bypass_csp=True)
        page.set_default_timeout(LONG)
        page.goto(f"{client.origin}/{TOKEN}/")
        page.locator("#reading math").wait_for()
        assert serious(page, axe) == []
        assert unnamed(page) == []
        page.locator("[name=states]").fill("100")
        page.get_by_role("button", name="Derive").click()
        page.locator("#derive-job").get_by_text("Done.").wait_for()
        page.locator("#derive-job").get_by_role("button", name="Compile and race").click()
        page.locator("#compile-job").get_by_text("Done.").wait_for()
        page.locator("#formula").fill("Y[i] = A[i")
        page.locator("#reading .bad").first.wait_for()
        assert serious(page, axe) == []
        assert unnamed(page) == []
        browser.close()
