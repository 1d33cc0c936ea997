"""The workbench in a real browser: from typing, with an error on the way, to a result; a race; a
search that is stopped; two records compared.  No address but its own, nothing on the console."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.frontend.browser import Opened, chromium, rest
from tests.frontend.explorer.derived import distances
from tests.frontend.workbench.served import TOKEN, Client, served, until

pytestmark = pytest.mark.campaign
NOTED = """() => {
  window.noted = new Set();
  new MutationObserver(() => {
    for (const each of document.querySelectorAll(".progress .figures, .progress table"))
      window.noted.add(each.textContent);
  }).observe(document.querySelector("main"), { subtree: true, childList: true });
}"""
"""Notes all that is told of the progress of jobs, however fast they are."""


@pytest.fixture
def client() -> Iterator[Client]:
    with served() as found:
        yield found


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_a_whole_round(client: Client, width: int, scheme: str) -> None:
    window = {"width": width, "height": 900}
    with chromium() as browser:
        opened = Opened(browser, viewport=window, color_scheme=scheme)
        page = opened.page(f"{client.origin}/{TOKEN}/")
        page.evaluate(NOTED)
        _typed(page)
        _derived(opened.context, page)
        _raced(page)
        _stopped(page)
        _compared(opened.context, page)
        _reopened(opened.context, page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(253, 252, 250)") == (scheme == "light")
    assert opened.said == []
    assert [url for url in opened.loaded if not url.startswith((client.origin, "data:"))] == []


def _noted(page: Any, words: str) -> list[str]:
    return [each for each in page.evaluate("[...window.noted]") if words in each]


def _typed(page: Any) -> None:
    """By the keyboard alone: an error with its caret, the sizes filled in, mathematics."""
    page.locator("#reading math").wait_for()
    page.locator("#formula").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Y[i,j] = (A[i,k] - B[j,k]^2")
    page.get_by_text("The text ends where ) is expected").wait_for()
    assert page.locator("#formula").get_attribute("aria-invalid") == "true"
    page.get_by_role("button", name="Go to the place").press("Enter")
    assert page.evaluate("document.activeElement.id") == "formula"
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Y[i,j] = (A[i,k] - B[j,k])^2")
    page.locator("#sizes").fill("")
    page.get_by_role("button", name="Fill in A=64,64 B=64,64").press("Enter")
    page.locator("#reading math").wait_for()
    assert page.locator("#sizes").input_value() == "A=64,64 B=64,64"
    assert page.locator("#formula").get_attribute("aria-invalid") == "false"


def _derived(context: Any, page: Any) -> None:
    page.locator("#sizes").fill("A=512,128 B=512,128")
    page.locator("[name=seconds]").fill("600")
    page.locator("[name=states]").fill("200")
    page.get_by_role("button", name="Derive").press("Enter")
    search = page.locator("#derive-job")
    search.get_by_text("Done.").wait_for()
    assert len(_noted(page, "expanded")) > 1  # it was seen on its way
    assert search.locator("svg.curve").count() == 2
    tree = search.locator("#tree")
    count = int(tree.get_attribute("data-count"))
    assert count > 100
    search.locator(f"#tree[data-drawn='{count}']").wait_for()
    assert "expressions" in tree.get_attribute("aria-label")
    tree.hover(position={"x": 13, "y": 13})
    search.locator(".told", has_text="predicted as one stage").wait_for()
    assert "times faster" in search.inner_text()
    with context.expect_page() as opened:
        search.get_by_role("link", name="Open in the explorer").press("Enter")
    record = opened.value
    record.locator("h1 math").wait_for()
    record.close()


def _raced(page: Any) -> None:
    page.locator("#derive-job").get_by_role("button", name="Compile and race").press("Enter")
    race = page.locator("#compile-job")
    race.get_by_text("Done.").wait_for()
    assert _noted(page, "time so far")
    assert "Chosen: " in race.inner_text()
    page.locator("#records li", has_text="measured").wait_for()


def _stopped(page: Any) -> None:
    page.locator("[name=seconds]").fill("500")
    page.locator("[name=states]").fill("100000")
    page.get_by_role("button", name="Derive").click()
    search = page.locator("#derive-job")
    search.get_by_role("button", name="Stop").wait_for()  # of this search: the last one is over
    search.locator("svg.curve").first.wait_for()
    assert page.get_by_role("button", name="Derive").is_disabled()
    search.get_by_role("button", name="Stop").click()
    search.get_by_text("Stopped; what was found so far is kept.").wait_for()
    search.get_by_text("Candidate 1").first.wait_for()


def _compared(context: Any, page: Any) -> None:
    boxes = page.locator("#records .chosen")
    boxes.nth(1).wait_for()
    compare = page.get_by_role("button", name="Compare two records")
    assert compare.is_disabled()
    boxes.nth(0).check()
    boxes.nth(1).check()
    with context.expect_page() as opened:
        compare.click()
    both = opened.value
    both.get_by_text("Both derive the same formula").first.wait_for()
    both.close()


def _reopened(context: Any, page: Any) -> None:
    """The page's address holds the fields, what is unfolded, and the records that are chosen."""
    page.locator("#formula").fill("Y[i] = A[i] + 'é' & <b>")
    page.locator("[name=seconds]").fill("7")
    page.locator("#more-options > summary").click()
    page.locator("[name=accuracy]").select_option(index=1)
    page.locator("#derive-job details[id^=candidate] > summary").first.click()
    page.get_by_label("text", exact=True).check()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link is copied.").wait_for()
    again = context.new_page()
    again.goto(page.url)
    again.locator("#records .chosen").first.wait_for()
    again.locator("#derive-job details[open]").first.wait_for()
    seen = (
        "() => [...document.querySelectorAll('input, select, textarea, details')]"
        ".filter((e) => e.type !== 'file' && !e.closest('.share, #compile-job'))"
        ".map((e) => [e.name ?? e.id, e.open ?? [e.value, e.checked ?? null]])"
    )
    for shown in (page, again):
        rest(shown)
    wanted = page.evaluate(seen)
    until(lambda: again.evaluate(seen) == wanted)
    assert again.locator("#formula").input_value() == "Y[i] = A[i] + 'é' & <b>"
    assert again.locator("[name=seconds]").input_value() == "7"
    assert again.locator("#records .chosen:checked").count() == 2
    assert again.locator("#derive-job details[open]").count() == 1
    until(lambda: again.url == page.url)
    again.close()


def test_the_page_of_a_record_keeps_its_view(client: Client, tmp_path: Path) -> None:
    """In its sandbox too, where it has no origin and may have no clipboard."""
    path = tmp_path / "d.json"
    distances().save(path, search=True)
    name = client.post("records", {"text": path.read_text("utf-8")}).data["record"]
    with chromium() as browser:
        opened = Opened(browser)
        page = opened.page(f"{client.origin}/{TOKEN}/records/{name}")
        page.locator("#s-find").fill("expand")
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("The link is copied.").wait_for()
        assert page.evaluate("origin") == "null"
        link = page.locator(".share input").input_value()
        assert "find=expand" in link
        page.reload()
        page.locator("#s-find").wait_for()
        again = Opened(browser).page(link)
        again.locator("#s-results button").first.wait_for()
        assert again.locator("#s-find").input_value() == "expand"
    assert opened.said == []
