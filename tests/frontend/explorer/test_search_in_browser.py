"""The search in a real browser: it is drawn, found, folded, opened by mouse and keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.search import search_view
from einderive.frontend.explorer.view import view_of
from tests.frontend.browser import Opened, chromium, rest
from tests.frontend.explorer.derived import distances
from tests.frontend.explorer.test_page import HOSTILE


def searched(opened: Opened, file: Path) -> Any:
    """The page, when its search is shown."""
    shown = opened.page(file.as_uri())
    shown.locator("#searched").wait_for()
    return shown


@pytest.mark.campaign
@pytest.mark.parametrize("width", [390, 1440])
def test_the_search_answers(width: int, tmp_path: Path) -> None:
    file = tmp_path / "d.html"
    distances().to_html(file)
    found = distances().searched()
    assert found is not None
    with chromium() as browser:
        opened = Opened(browser, viewport={"width": width, "height": 900})
        shown = searched(opened, file)
        detail, count = shown.locator("#s-detail"), shown.locator("#s-count")
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert detail.locator("math").count() >= 1
        few = int(count.inner_text().split(" of ")[0])
        shown.get_by_role("button", name="Unfold all").click()
        assert count.inner_text().startswith(f"{len(found.states)} of ")
        shown.get_by_role("button", name="Fold to the chosen path").click()
        assert count.inner_text().startswith(f"{few} of ")
        shown.locator("#s-find").fill("expand")
        listed = shown.locator("#s-results button")
        assert listed.count() > 0
        wanted = listed.first.inner_text()
        listed.first.click()
        assert detail.locator("h3").inner_text().startswith(wanted)
        assert "predicted" in detail.inner_text()
        said_of = shown.locator("#s-said")
        assert said_of.inner_text().startswith(wanted)
        assert "at best" in said_of.inner_text()
        shown.locator("#s-canvas").focus()
        shown.keyboard.press("Home")
        assert detail.locator("h3").inner_text().startswith("Y")
        shown.keyboard.press("ArrowRight")
        assert not detail.locator("h3").inner_text().startswith("Y,")
        shown.locator("#s-until").fill("0")
        assert int(count.inner_text().split("; ")[-1].split(" of ")[0]) < few
        # Every expression of the notation that this search has is read as mathematics.
        texts = [state.text for state in found.states]
        unread = shown.evaluate("t => t.filter(x => formula(x, new Map()) === null)", texts)
        assert unread == []
    assert opened.said == []


@pytest.mark.campaign
def test_what_a_search_holds_is_text(tmp_path: Path) -> None:
    found = distances().searched()
    assert found is not None
    evil = replace(
        found,
        states=tuple(replace(each, text=HOSTILE, nearest=HOSTILE) for each in found.states),
        equalities=tuple(replace(each, rule=HOSTILE) for each in found.equalities),
        reasons=(HOSTILE,) * len(found.reasons),
    )
    view = replace(view_of(distances(), checked=0), search=search_view(evil, distances().stats))
    file = tmp_path / "d.html"
    file.write_text(page(view), "utf-8")
    with chromium() as browser:
        opened = Opened(browser)
        shown = searched(opened, file)
        assert HOSTILE in shown.locator("#s-detail").inner_text()
        shown.locator("#s-find").fill("script")
        assert HOSTILE in shown.locator("#s-results").inner_text()
        assert shown.locator("script").count() == 1
    assert opened.said == []


@pytest.mark.campaign
def test_a_search_of_ten_thousand_states_draws_what_is_seen(tmp_path: Path) -> None:
    """What is found is shown by a few strokes, however many states lie below the part in view."""
    found = distances().searched()
    assert found is not None
    count = len(found.states)
    copies = 10_000 // count + 1
    states = tuple(
        replace(each, reads=tuple(read + copy * count for read in each.reads))
        for copy in range(copies)
        for each in found.states
    )
    first = found.equalities[0]
    steps = tuple(replace(first, before=0, after=copy * count) for copy in range(1, copies))
    steps += tuple(
        replace(each, before=each.before + copy * count, after=each.after + copy * count)
        for copy in range(copies)
        for each in found.equalities
    )
    large = replace(found, states=states, equalities=steps)
    view = replace(view_of(distances(), checked=0), search=search_view(large, distances().stats))
    file = tmp_path / "d.html"
    file.write_text(page(view), "utf-8")
    with chromium() as browser:
        opened = Opened(browser, viewport={"width": 1440, "height": 900})
        shown = searched(opened, file)
        shown.get_by_role("button", name="Unfold all").click()
        shown.evaluate("document.body.strokes = 0")
        shown.evaluate(
            "() => { const own = CanvasRenderingContext2D.prototype.stroke;"
            "CanvasRenderingContext2D.prototype.stroke = function () {"
            " document.body.strokes++; own.call(this); } }"
        )
        shown.locator("#s-find").fill("expand")
        rest(shown)
        assert f"{len(states)} of {len(states)}" in shown.locator("#s-count").inner_text()
        assert 0 < shown.evaluate("document.body.strokes") < 500
        # The whole tree is in view, its last row too.  Paths hold at most a line a pixel.
        shown.evaluate("document.body.lines = 0")
        shown.evaluate(
            "() => { const own = Path2D.prototype.lineTo;"
            "Path2D.prototype.lineTo = function (x, y) {"
            " document.body.lines++; document.body.low = Math.max(document.body.low ?? 0, y);"
            " own.call(this, x, y); } }"
        )
        shown.locator("#s-fit").click()
        rest(shown)
        tall = shown.locator("#s-canvas").evaluate("each => each.clientHeight")
        assert 0.8 * tall < shown.evaluate("document.body.low") < tall
        assert shown.evaluate("document.body.lines") < len(states)
    assert opened.said == []
