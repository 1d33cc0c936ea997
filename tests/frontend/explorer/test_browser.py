"""The page in a real browser: without network and errors, at every width, in light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from einderive.frontend.explorer.comparison.page import comparison_page
from tests.frontend.browser import Opened, chromium
from tests.frontend.explorer.derived import distances, windows
from tests.frontend.explorer.test_page import HOSTILE


@pytest.mark.campaign
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_from_a_file(width: int, scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "d.html"
    distances().to_html(file)
    window = {"width": width, "height": 900}
    with chromium() as browser:
        opened = Opened(browser, viewport=window, color_scheme=scheme)
        page = opened.page(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        sign = page.locator(".key .roofline").bounding_box()
        assert sign["width"] < 4 < sign["height"]  # a line, as the bars have it
        hidden = "each => each.map((e) => e.scrollWidth - e.clientWidth)"
        assert page.locator("#reproduce pre").evaluate_all(hidden) == [0, 0]
        assert page.locator(".einderive math:visible").count() > 3
        page.get_by_label("text").check()
        assert page.locator(".einderive math:visible").count() == 0
        assert page.locator("h1 code:visible").inner_text() == "Y[i,j] = (A[i,k] - B[j,k])^2"
        closed = page.locator("#candidate-3")
        assert closed.get_attribute("open") is None
        page.locator("table a[href='#candidate-3']").click()
        assert closed.get_attribute("open") is not None
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(253, 252, 250)") == (scheme == "light")
    assert opened.said == []
    assert opened.loaded == [file.as_uri()]


@pytest.mark.campaign
def test_it_is_printed_in_dark_ink_and_what_is_about_the_shown_candidate_in_full(
    tmp_path: Path,
) -> None:
    file = tmp_path / "d.html"
    distances().to_html(file)
    with chromium() as browser:
        opened = Opened(browser, color_scheme="dark", bypass_csp=True)
        page = opened.page(file.as_uri())
        folded = page.locator("main details:not([open])")
        before = folded.count()
        page.emulate_media(media="print", color_scheme="dark")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 28, 26)"
        assert not page.locator(".bar").is_visible()
        assert 0 < folded.count() == page.locator(".candidate:not([open])").count()
        assert page.locator("#derivation .candidate[open] .step:visible").count() > 2
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert folded.count() == before
    assert opened.said == []


@pytest.mark.campaign
@pytest.mark.parametrize("width", [390, 1440])
def test_two_derivations_open_from_a_file(width: int, tmp_path: Path) -> None:
    file = tmp_path / "both.html"
    file.write_text(comparison_page(windows(), distances(), (HOSTILE, "distances")), "utf-8")
    with chromium() as browser:
        opened = Opened(browser, viewport={"width": width, "height": 900})
        page = opened.page(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").inner_text() == f"{HOSTILE} and distances"
        assert page.locator("script").count() == 1
        places = page.locator(".beside").first.locator("> div")
        left, right = (places.nth(n).bounding_box() for n in range(2))
        assert (left["y"] == right["y"]) == (width > 1000)
        grid = page.locator("svg.grid").last
        grid.focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".told").last.inner_text()
    assert opened.said == []
    assert opened.loaded == [file.as_uri()]
