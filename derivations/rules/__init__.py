"""The rules, one identity per file, with its statement in a TOML file of the same name.

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
"""The files whose order influences the results of the search.  Other files come after them."""

RULES: tuple[Rule, ...] = listed(__name__, Rule, FIRST)
"""All rules, in the order in which the search asks them."""

LAWLESS: tuple[Rule, ...] = tuple(rule for rule in RULES if not rule.laws)
"""The rules that rest on no law of a function: the rules of a search for which no law is named."""

JOINT_RULES: tuple[JointRule, ...] = listed(__name__, JointRule)
"""The rules that rewrite several scopes of a program together."""

ALL_RULES: tuple[Rule | JointRule, ...] = (*RULES, *JOINT_RULES)

RULE_SET_VERSION = 6
"""The version of the set.  It is raised whenever a rule's meaning changes, so that stored programs
are derived anew."""
