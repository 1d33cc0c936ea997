"""The rules, one identity a file; a new rule is one new file and one line here.

Not here: what makes and verifies a step (`derivations.steps`); a rule only proposes.
May be imported by `derivations.record` and `frontend`.
"""

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules.centre import CENTRE
from einderive.derivations.rules.contraction_order import CONTRACTION_ORDER
from einderive.derivations.rules.distribute import DISTRIBUTE
from einderive.derivations.rules.expand import EXPAND
from einderive.derivations.rules.exponential import EXPONENTIAL
from einderive.derivations.rules.factor import FACTOR
from einderive.derivations.rules.fuse import FUSE
from einderive.derivations.rules.fuse_producers import FUSE_PRODUCERS
from einderive.derivations.rules.hoist import HOIST
from einderive.derivations.rules.join import JOIN
from einderive.derivations.rules.materialise import MATERIALISE
from einderive.derivations.rules.merge_stage import MERGE_STAGE
from einderive.derivations.rules.phase import PHASE
from einderive.derivations.rules.pull_from_reducer import PULL_FROM_REDUCER
from einderive.derivations.rules.relax import RELAX
from einderive.derivations.rules.reverse import REVERSE
from einderive.derivations.rules.scale_through import SCALE_THROUGH
from einderive.derivations.rules.shift import SHIFT
from einderive.derivations.rules.skew import SKEW
from einderive.derivations.rules.split_iterator import SPLIT_ITERATOR
from einderive.derivations.rules.split_range import SPLIT_RANGE
from einderive.derivations.rules.split_sum import SPLIT_SUM
from einderive.derivations.rules.tighten import TIGHTEN

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
