"""axe-core finds nothing serious in the explorer's pages: contrasts, labels, keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest

from einderive.frontend.explorer.comparison.page import comparison_page
from tests.frontend.axe import script, serious, skipped_levels, unnamed, visited
from tests.frontend.browser import Opened, chromium
from tests.frontend.explorer.derived import distances, measured, windows


@pytest.mark.campaign
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
@pytest.mark.parametrize("shown", ["measured", "windows", "both"])
def test_the_page_is_accessible(shown: str, width: int, scheme: str, tmp_path: Path) -> None:
    axe, file = script(), tmp_path / "d.html"
    match shown:
        case "measured":
            measured().to_html(file)
        case "windows":
            windows().to_html(file)
        case _:
            file.write_text(comparison_page(windows(), distances(), ("one", "other")), "utf-8")
    window = {"width": width, "height": 900}
    with chromium() as browser:
        opened = Opened(browser, viewport=window, color_scheme=scheme, bypass_csp=True)
        page = opened.page(file.as_uri())
        if shown != "both":
            page.wait_for_selector("#searched:not([hidden])")
        assert serious(page, axe) == []
        assert unnamed(page) == []
        assert skipped_levels(page) == []
        assert len(visited(page)) > 20
        heard = page.locator("main").aria_snapshot()
        assert heard.count('group "before"') == heard.count('group "after"') > 0
