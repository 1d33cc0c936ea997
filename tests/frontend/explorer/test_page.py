"""The page: one file without network, readable without a script, names as text, contrasts."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.cli.main import main
from einderive.frontend.explorer.page import FOLDER, fragment, page
from einderive.frontend.explorer.pieces.figures import amount
from einderive.frontend.explorer.view import view_of
from einderive.frontend.text import counted
from tests.frontend.explorer.derived import distances, few, measured

EMPTY = {"meta", "input", "br", "path", "rect"}
HOSTILE = "<script>alert(1)</script>"


class Balance(HTMLParser):
    """Tags that are open, all that were seen, their attributes, the text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


@pytest.fixture(scope="module")
def compiled() -> CompiledFunction:
    return measured()


@pytest.fixture(scope="module")
def text(compiled: CompiledFunction) -> str:
    return page(view_of(distances(), compiled))


def test_the_first_look_shows_the_program_that_was_found_and_how_fast_it_is(text: str) -> None:
    assert "plain programs of torch, the baselines: <strong>chosen: " in text[: text.index("<nav")]
    view = view_of(distances(), checked=0)
    number, best = next((n, each) for n, each in enumerate(view.candidates) if each.steps)
    slow = page(replace(view, baseline_seconds=best.seconds / 2))
    assert "No program is predicted to be faster" in slow[: slow.index("<nav")]
    fast = page(replace(view, baseline_seconds=best.seconds * 2.5))
    top = fast[: fast.index("<nav")]
    assert f"becomes, by {counted(len(best.steps), 'step')}," in top
    assert all(f">{stage.name}[" in top for stage in best.stages)
    assert "<strong>2.5 times faster</strong>. Nothing was measured yet." in top
    assert f'<details class="candidate" id="candidate-{number + 1}" open>' in fast


@pytest.mark.parametrize("how", ["", ", compiled", ", compiled in float64"])
def test_the_candidate_that_was_chosen_is_open(compiled: CompiledFunction, how: str) -> None:
    view = view_of(distances(), compiled, checked=0)
    assert view.measured is not None
    last = [each.number for each in view.candidates if each.steps][-1]
    chosen = replace(view.measured.trials[0], label=f"candidate {last}{how}", chosen=True)
    text = page(replace(view, measured=replace(view.measured, trials=(chosen,), underived="")))
    assert f'<details class="candidate" id="candidate-{last}" open>' in text
    assert "becomes, by " in text[: text.index("<nav")]


def test_tags_are_balanced_and_links_lead_somewhere(text: str) -> None:
    parsed = Balance(text)
    assert parsed.open == []
    ids = [given["id"] for _, given in parsed.seen if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"] or "" for tag, given in parsed.seen if tag == "a"]
    assert len(links) > 10
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    labels = [given["aria-labelledby"] for _, given in parsed.seen if "aria-labelledby" in given]
    assert set(labels) <= set(ids)


TEMPLATES = sorted(FOLDER.parent.rglob("*.html"))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_every_table_has_a_caption(template: Path) -> None:
    text = template.read_text()
    assert len(re.findall("<table", text)) == len(re.findall(r"<table[^>]*>\s*<caption", text))


def test_nothing_is_loaded(text: str) -> None:
    parsed = Balance(text)
    tags = {tag for tag, _ in parsed.seen}
    assert not tags & {"link", "img", "iframe", "object", "base", "form"}
    assert all("src" not in given for _, given in parsed.seen)
    for tag, given in parsed.seen:
        if "href" in given:
            assert (tag, (given["href"] or "")[:5]) in {("a", given["href"][:5])}
            assert re.match(r"#|data:application/json;base64,", given["href"] or "")
    policy = next(g["content"] for _, g in parsed.seen if "http-equiv" in g)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"@import|url\(", (FOLDER / "page.css").read_text("utf-8"))
    assert not any(name.startswith("on") for _, given in parsed.seen for name in given)


def test_steps_and_measurements_are_there_without_a_script(
    text: str, compiled: CompiledFunction
) -> None:
    shown = " ".join(
        Balance(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)).text.split()
    )
    for plan in distances().candidates:
        for step in plan.steps:
            assert step.rule in shown
    assert "Y[i,j] = (A[i,k] - B[j,k])^2" in shown
    for trial in compiled.trials:
        assert trial.label in shown
        assert " ".join(trial.verdict.split()) in shown or trial is compiled.chosen
    assert "einderive derive" in shown


@pytest.mark.campaign
def test_notebooks_show_a_fragment_of_the_same(compiled: CompiledFunction) -> None:
    for shown in (few()._repr_html_(), compiled._repr_html_()):
        parsed = Balance(shown)
        assert parsed.open == []
        assert not {tag for tag, _ in parsed.seen} & {"html", "body", "script", "main"}
        assert "Y[i,j] = (A[i,k] - B[j,k])^2" in parsed.text
    assert compiled.chosen.label in Balance(compiled._repr_html_()).text


def test_two_derivations_of_one_formula_can_stand_on_one_page() -> None:
    """The names in the fragments differ, so that each has switches and places of its own."""
    view = view_of(distances(), checked=0)
    names = [
        {given["name"] for _, given in Balance(fragment(one)).seen if "name" in given}
        for one in (replace(view, candidates=(each,)) for each in view.candidates[:2])
    ]
    assert all(names)
    assert names[0].isdisjoint(names[1])


def test_what_a_record_may_hold_is_text() -> None:
    derivation = distances()
    plan = next(plan for plan in derivation.candidates if plan.steps)
    step = replace(plan.steps[0], rule=HOSTILE)
    evil = replace(plan, steps=(step, *plan.steps[1:]))
    found = replace(derivation, candidates=(evil,))
    assert HOSTILE not in found._repr_html_()
    whole = page(view_of(found))
    assert HOSTILE in Balance(whole).text
    assert whole.count("<script") == 1  # its own


SCHEMES = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


def luminance(colour: str) -> float:
    """Of WCAG 2.1, "relative luminance"."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrasts_in_light_and_dark() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    found = SCHEMES.findall((FOLDER / "page.css").read_text("utf-8"))
    light, dark = ({name: pair[side] for name, *pair in found} for side in (0, 1))
    for scheme in (light, dark):
        for ink in ("ink", "muted", "accent", "good", "bad", "word", "number", "string"):
            for ground in ("paper", "panel"):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)
        for ground in ("gone", "come"):
            assert contrast(scheme["ink"], scheme[ground]) >= 4.5, ground
        for bar in ("bar", "bar-2", "bar-3"):  # each bar has its figures beside it
            assert contrast(scheme[bar], scheme["paper"]) >= 1.9, bar


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few().save(tmp_path / "d.json")
    out = tmp_path / "d.html"
    assert main(["explore", str(tmp_path / "d.json"), "--html", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    assert Balance(out.read_text("utf-8")).open == []
    assert main(["explore", str(tmp_path / "none.json"), "--html", str(out)]) == 2


def test_amounts() -> None:
    assert [amount(n) for n in (0, 7, 1234, 5.6e7)] == ["0", "7", "1.23\u202fk", "56\u202fM"]
