"""The rules, one identity a file; a new rule is one new file and one line here.

Not here: what makes and verifies a step (`derivations.steps`); a rule only proposes.
May be imported by `derivations.record` and `frontend`.
"""

from derivations.rule import JointRule, Rule
from derivations.rules.centre import CENTRE
from derivations.rules.contraction_order import CONTRACTION_ORDER
from derivations.rules.distribute import DISTRIBUTE
from derivations.rules.expand import EXPAND
from derivations.rules.exponential import EXPONENTIAL
from derivations.rules.factor import FACTOR
from derivations.rules.fuse import FUSE
from derivations.rules.fuse_producers import FUSE_PRODUCERS
from derivations.rules.hoist import HOIST
from derivations.rules.join import JOIN
from derivations.rules.materialise import MATERIALISE
from derivations.rules.merge_stage import MERGE_STAGE
from derivations.rules.phase import PHASE
from derivations.rules.pull_from_reducer import PULL_FROM_REDUCER
from derivations.rules.relax import RELAX
from derivations.rules.reverse import REVERSE
from derivations.rules.scale_through import SCALE_THROUGH
from derivations.rules.shift import SHIFT
from derivations.rules.skew import SKEW
from derivations.rules.split_iterator import SPLIT_ITERATOR
from derivations.rules.split_range import SPLIT_RANGE
from derivations.rules.split_sum import SPLIT_SUM
from derivations.rules.tighten import TIGHTEN

RULES: tuple[Rule, ...] = (
    TIGHTEN,
    CENTRE,
    EXPAND,
    DISTRIBUTE,
    HOIST,
    CONTRACTION_ORDER,
    SPLIT_SUM,
    MERGE_STAGE,
    FUSE_PRODUCERS,
    SKEW,
    PHASE,
    SPLIT_ITERATOR,
    FUSE,
    SHIFT,
    REVERSE,
    RELAX,
    FACTOR,
    MATERIALISE,
    SPLIT_RANGE,
    PULL_FROM_REDUCER,
    SCALE_THROUGH,
    EXPONENTIAL,
)
"""All rules, in the order in which the search asks them."""

LAWLESS: tuple[Rule, ...] = tuple(rule for rule in RULES if not rule.laws)
"""The rules that rest on no law of a function: those of a search that names none."""

JOINT_RULES: tuple[JointRule, ...] = (JOIN,)
"""The rules that rewrite several scopes of a program together."""

ALL_RULES: tuple[Rule | JointRule, ...] = (*RULES, *JOINT_RULES)

RULE_SET_VERSION = 3
"""Raised whenever a rule's meaning changes, so that remembered programs are derived anew."""
