"""The page's address reopens the same view: section, candidates, search, folds, form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.view import view_of
from tests.frontend.browser import Opened, chromium, rest
from tests.frontend.explorer.derived import distances

SEEN = """() => ({
  folds: [...document.querySelectorAll("main details")].map((each) => each.open),
  texts: ["s-count", "s-detail", "s-results", "s-when"]
    .map((id) => document.getElementById(id).innerText),
  told: [...document.querySelectorAll(".told")].map((each) => each.textContent),
  fields: ["s-find", "s-across", "s-until"].map((id) => document.getElementById(id).value),
  form: document.querySelector(".as-text").checked,
  drawn: document.getElementById("s-canvas").toDataURL(),
})"""
TOP = "id => document.getElementById(id).getBoundingClientRect().top"


def test_the_link_needs_the_script() -> None:
    text = page(view_of(distances(), checked=0))
    assert '<p class="share" hidden>' in text


def searched(opened: Opened, address: str) -> Any:
    """The page, when its search is shown."""
    shown = opened.page(address)
    shown.locator("#searched").wait_for()
    return shown


def settled(shown: Any) -> Any:
    """What is seen after a rest in which the page draws and notes its address."""
    rest(shown)
    return shown.evaluate(SEEN)


@pytest.mark.campaign
def test_a_link_reopens_the_same_view(tmp_path: Path) -> None:
    file = tmp_path / "d.html"
    distances().to_html(file)
    with chromium() as browser:
        opened = Opened(browser, viewport={"width": 1440, "height": 900})
        shown = searched(opened, file.as_uri())
        fresh = settled(shown)
        assert shown.url == file.as_uri()
        shown.locator("nav a[href='#search']").click()
        shown.locator("#candidate-3 > summary").evaluate("e => { e.parentElement.open = true; }")
        shown.get_by_label("text").check()
        shown.get_by_role("button", name="Unfold all").click()
        shown.locator("#s-across").select_option("time")
        shown.locator("#s-until").fill("700")
        shown.locator("#s-find").fill("expand & <b>")
        shown.locator("#s-find").fill("expand")
        shown.locator("#s-results button").nth(1).click()
        shown.locator("#s-canvas").focus()
        shown.keyboard.press("Enter")
        shown.keyboard.press("+")
        grid = shown.locator(".program-data").nth(1).locator("svg.grid").first
        grid.locator("rect").nth(4).hover()
        shown.locator("nav a[href='#search']").click()
        wanted = settled(shown)
        assert all(wanted[name] != fresh[name] for name in wanted)
        shown.get_by_role("button", name="Copy link").click()
        shown.get_by_text("The link is copied.").wait_for()
        link = shown.url
        assert link.startswith(f"{file.as_uri()}#search?")
        again = searched(opened, link)
        found = settled(again)
        assert {name for name in wanted if found[name] != wanted[name]} == set()
        assert again.evaluate(TOP, "search") == pytest.approx(shown.evaluate(TOP, "search"), abs=4)
        assert again.url == link
        # The same, pasted into a page that shows something else; and the first view again.
        again.evaluate("a => { location.href = a; }", f"{file.as_uri()}#program?open=0")
        assert settled(again) != wanted
        again.evaluate("a => { location.href = a; }", link)
        assert settled(again) == wanted
        again.evaluate("a => { location.href = a; }", f"{file.as_uri()}#?")
        assert settled(again) == fresh
    assert opened.said == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    "state",
    [
        "data?element=0.99999.Y+1.0.nothing+7.0.A+0.0.<b>+1.2.3",
        "%zz?open=%zz",
        "search?at=99999999&folds=all.-1.1e9.x&view=NaN+0+0&until=x&across=<b>",
        "search?open=999999.0.0&view=0+1+1&form=<script>alert(1)</script>&find=%3Cimg+src=x%3E",
    ],
)
def test_an_address_of_no_view_does_no_harm(state: str, tmp_path: Path) -> None:
    file = tmp_path / "d.html"
    distances().to_html(file)
    with chromium() as browser:
        opened = Opened(browser, viewport={"width": 1440, "height": 900})
        shown = searched(opened, f"{file.as_uri()}#{state}")
        found = settled(shown)
        assert found["texts"][0].endswith("expressions drawn")
        assert all(found["told"])
        assert shown.locator("script").count() == 1
        assert shown.locator("main img").count() == 0
    assert opened.said == []
