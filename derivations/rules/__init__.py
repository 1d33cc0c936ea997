"""The rules, one identity a file; a new rule is one new file.

A rule proposes steps.  Not here: the code that makes and proves a step (`derivations.steps`).
May be imported by `derivations.record` and `frontend`.
"""

from einderive.derivations.rule import JointRule, Rule
from einderive.ta.listing import listed

FIRST = """
    tighten centre expand distribute hoist contraction_order split_sum merge_stage fuse_producers
    skew phase split_iterator fuse shift reverse relax factor materialise split_range
    pull_from_reducer scale_through exponential
"""
"""The files whose order matters to the search's results; others come after them."""

RULES: tuple[Rule, ...] = listed(__name__, Rule, FIRST)
"""All rules, in the order in which the search asks them."""

LAWLESS: tuple[Rule, ...] = tuple(rule for rule in RULES if not rule.laws)
"""The rules that rest on no law of a function: those of a search that names none."""

JOINT_RULES: tuple[JointRule, ...] = listed(__name__, JointRule)
"""The rules that rewrite several scopes of a program together."""

ALL_RULES: tuple[Rule | JointRule, ...] = (*RULES, *JOINT_RULES)

RULE_SET_VERSION = 4
"""Raised whenever a rule's meaning changes, so that remembered programs are derived anew."""
