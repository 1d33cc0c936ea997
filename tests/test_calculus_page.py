"""The page that draws the calculus speaks of every rule."""

from pathlib import Path

from einderive.derivations.rules import ALL_RULES

PAGE = Path(__file__).parents[1] / "docs" / "calculus.md"


def test_every_rule_is_on_the_page():
    text = PAGE.read_text("utf-8")
    links = (f"[{rule.name}](rules.md#{rule.name})" for rule in ALL_RULES)
    missing = [link for link in links if link not in text]
    assert missing == []
