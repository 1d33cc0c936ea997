"""axe-core finds nothing serious in the workbench: at the start, with an error, after a race."""

from __future__ import annotations

import pytest

from tests.frontend.axe import script, serious, skipped_levels, unnamed, visited
from tests.frontend.browser import Opened, chromium
from tests.frontend.workbench.served import TOKEN, served


@pytest.mark.campaign
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_workbench_is_accessible(width: int, scheme: str) -> None:
    axe = script()
    window = {"width": width, "height": 900}
    with served() as client, chromium() as browser:
        opened = Opened(browser, viewport=window, color_scheme=scheme, bypass_csp=True)
        page = opened.page(f"{client.origin}/{TOKEN}/")
        page.locator("#reading math").wait_for()
        assert serious(page, axe) == []
        assert unnamed(page) == []
        assert skipped_levels(page) == []
        assert len(visited(page)) > 5
        page.locator("[name=states]").fill("100")
        page.get_by_role("button", name="Derive").click()
        page.locator("#derive-job").get_by_text("Done.").wait_for()
        page.locator("#derive-job").get_by_role("button", name="Compile and race").click()
        page.locator("#compile-job").get_by_text("Done.").wait_for()
        page.locator("#formula").fill("Y[i] = A[i")
        page.locator("#reading .bad").first.wait_for()
        assert serious(page, axe) == []
        assert unnamed(page) == []
