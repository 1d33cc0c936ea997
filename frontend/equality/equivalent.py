"""The comparison of two programs: a verdict with its kind of proof, or a counterexample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import cast

from einderive.derivations.checker import not_equal
from einderive.frontend.api.formula import is_size
from einderive.frontend.api.option_names import refuse_option_names
from einderive.frontend.equality import claims
from einderive.frontend.equality.by_entries import of_all_entries, proved_of_types
from einderive.frontend.equality.by_laws import LATE, assumptions, difference, proved
from einderive.frontend.equality.element_ranges import different, unsure
from einderive.frontend.equality.equation import Equation, Pair
from einderive.frontend.equality.output_types import unequal_types, with_types
from einderive.frontend.equality.sizes import families, symbolic
from einderive.frontend.equality.smallest import smallest
from einderive.frontend.equality.verdict import Counterexample, Verdict
from einderive.ta.equality.compare import MOST_BITS, Place, compare, exactly, outside
from einderive.ta.equality.degrees import greatest_bits
from einderive.ta.equality.laws import EXP_SUM, apply_definitions, law_names
from einderive.ta.equality.positions import MOST_POSITIONS, sample
from einderive.ta.equality.small_extents import reduce_extents
from einderive.ta.errors import EinderiveError, RangeError, TextError, shown
from einderive.ta.exact.interp import uses_order
from einderive.ta.ir.names import RESERVED
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import points_of, stages

__all__ = ["Counterexample", "Verdict", "equivalent"]

MOST_POINTS = 4_000_000
"""Programs whose stages visit more points than this, with reduced extents, are not evaluated at
every position: they are compared as formal sums."""
SECONDS = 5.0
"""The time for a proof by laws."""
MOST_GENERIC = 400_000
"""As `MOST_POINTS`, for each shape of a family."""
NO_VALUE = "equal wherever both sides are seen to have a value"
PROVED = (
    "equal at every position for all entries: both sides are the same sums of products, compared "
    "over integer sets"
)


def equivalent(
    lhs: str | Program,
    rhs: str | Program,
    /,
    *,
    dtypes: Mapping[str, str] | str = "float32",
    ranges: Mapping[str, tuple[int, int]] | None = None,
    laws: Iterable[str] | None = None,
    generic: bool = False,
    seconds: float = SECONDS,
    **shapes: Sequence[int | str] | int,
) -> Verdict:
    """Decide whether two programs over the same tensors give the same outputs, in exact arithmetic.

    `equivalent("Y[i] = A[i]*B[i]", "Y[i] = B[i]*A[i]", A=(9,), B=(9,))` returns a true Verdict.

    - Give the shapes of all tensors, also of those that only one side uses.  Outputs are compared
      by name if both sides have the same names, else in order.
    - Sizes may be names, `A=("n", "k")`.  Then, or with `generic=True`, einderive compares at sizes
      that reveal mistakes: 0, 1, odd and unequal ones, and sizes near the constants of the
      formulas.  The bounds of a clause may use the names: `where h in 0:H-2`.  Such a size may also
      be given as a number: `n=100`.
    - An assumption of one side, `assume A > 0, 0 <= B < 1`, holds for both sides: they are compared
      for such entries only.
    - `laws` names the identities of functions that may be used: `exp-sum`, or its equation
      `exp(a+b) = exp(a)*exp(b)`, and the definitions of `sigmoid`, `silu`, `tanh` and others.  By
      default, all laws of docs/laws.md may be used, each of which has a proof; with `laws=()`,
      none.
    - `seconds` limits the time for a proof by laws, for each choice of sizes.
    - `dtypes` states the types of the entries.  Over integers and bools, two programs are different
      only if entries of these types show it.  Complex numbers have no order.  Numbers are compared:
      if the outputs have different element types, the verdict says so, and its `types` lists them.

    **Evaluation.**  Both programs are evaluated at every position of every output, borders
    included, in four draws of random entries, each modulo a prime near 2^31.  Unequal polynomials
    of degree d agree in a draw with a chance of at most d/2^31, if the prime does not divide their
    difference.  Functions such as `exp` are opaque: equal arguments have equal values.  Functions
    that compare, such as `relu`, have signs.  Divisors are taken as other than 0, so `a/a` is 1; if
    a divisor is 0 for all entries, evaluation shows nothing.  By a theorem, extents can be made
    small where their iterators take part in no index arithmetic (`ta.equality.small_extents`); the
    result is the same.

    **Laws.**  Other equalities are proved by cases over the real numbers, where both sides have a
    value (`ta.reals`): exponentials, logarithms, powers, roots, trigonometric functions, max, min,
    abs and sign.

    **Differences.**  A counterexample in floating point is confirmed with balls of many digits.
    Balls also show differences that floating point does not: of sqrt(2) and 1.414213562373095.

    **Proof.**  Programs that are too large for evaluation, or equal by a property of order, are
    compared as formal sums of products over integer sets, for all positions and all entries at once
    (`derivations.checker`).  This has no chance of an error, and its time is independent of the
    extents.

    Raises EinderiveError where a formula cannot be read, a tensor has two shapes or a law is
    unknown."""
    for side in (lhs, rhs):
        refuse_option_names(equivalent, side)
    if not isinstance(generic, bool):
        raise TextError(f"generic is True or False, not {shown(generic)}", next_step="leave it out")
    chosen = law_names(() if laws is None else laws)
    given: object = seconds
    if isinstance(given, bool) or not isinstance(given, Real) or not seconds >= 0:
        raise TextError(
            f"seconds is a time, not {shown(seconds)}", next_step="write a number, such as 5.0"
        )
    bounds = {} if ranges is None else ranges
    numbers = {name: size for name, size in shapes.items() if is_size(size)}
    extents = {name: shape for name, shape in shapes.items() if name not in numbers}
    equation = Equation(
        lhs,
        rhs,
        cast(Mapping[str, Sequence[int | str]], extents),
        dtypes,
        bounds,
        laws is None,
        cast(Mapping[str, int], numbers),
    )
    _check_sizes(equation, generic)
    if generic or equation.symbols:
        return _for_families(equation, chosen, seconds)
    pair = equation.pair()
    verdict = _verdict(equation, pair, chosen, MOST_POINTS, seconds)
    return with_types(verdict, unequal_types(pair)) if verdict else verdict


def _check_sizes(equation: Equation, generic: bool) -> None:
    """RangeError for a size that is none with any choice of the symbols."""
    for name in equation.numbers if generic else ():
        raise RangeError(
            f"{name} is a number, and generic sizes are names",
            next_step=f"leave {name}={equation.numbers[name]} out, and name the size in a shape, "
            f'A=("{name}",)',
        )
    for name, shape in equation.shapes.items():
        for size in shape:
            if isinstance(size, bool) or (isinstance(size, int) and size < 0):
                raise RangeError(
                    f"the shape of {name} has a size {shown(size)}, which is no number of entries",
                    next_step="write a whole number from 0 on, or a name",
                )
            if isinstance(size, str) and size in RESERVED:
                raise RangeError(
                    f"the shape of {name} has a size {size!r}, a word of the notation",
                    next_step="choose another name",
                )


def _verdict(
    equation: Equation, pair: Pair, laws: frozenset[str], most: int, seconds: float
) -> Verdict:
    """The verdict for numbers, restricted to what holds for the element types as well."""
    found = _with_laws(equation, pair, laws, most, seconds)
    reason = unsure(pair) if found and found.kind != "identical" else ""
    if not reason:
        return found
    example = difference(pair)
    if example is not None:
        return different(pair, example)
    shown = proved(pair, seconds) if equation.proofs else None
    return shown or Verdict("undecided", reason)


def _with_laws(
    equation: Equation, pair: Pair, laws: frozenset[str], most: int, seconds: float
) -> Verdict:
    """The verdict by identity testing; what that leaves open is left to laws, if they may be used,
    and, under assumptions, to entries that satisfy them."""
    found = _of_numbers(equation, pair, laws, most)
    if found.kind == "different" and found.counterexample and assumptions(pair):
        found = Verdict("undecided", "different, but maybe not under the assumptions")
    valueless = found.kind == "undecided" and found.detail.startswith(NO_VALUE)
    if found.kind != "undecided" or pair.mismatch or valueless:
        return found
    if tried := of_all_entries(pair):
        return tried
    proof = proved_of_types(pair, seconds) if equation.proofs else found
    if proof:
        return proof
    example = difference(pair)
    if example is not None:
        return different(pair, example)
    late = proof.detail.startswith(LATE)
    return Verdict("undecided", f"{found.detail}; {proof.detail}") if late else found


def _of_numbers(equation: Equation, pair: Pair, laws: frozenset[str], most: int) -> Verdict:
    if pair.mismatch:
        given = ", ".join(f"{name} {shape}" for name, shape in pair.shapes.items())
        return Verdict("different", f"{pair.mismatch}, for {given}" if given else pair.mismatch)
    left, right = (apply_definitions(side, laws) for side in (pair.left, pair.right))
    laws = claims.used_laws(pair, laws)
    if all(x is y for x, y in zip(left, right, strict=True)):
        return Verdict(
            "identical", f"both are the same canonical expression{claims.by(laws - {EXP_SUM})}"
        )
    small = reduce_extents(left, right)
    if points_of(*small.left, *small.right) > most:
        return _sampled(equation, pair, laws)
    outcome = compare(small.left, small.right, exp_sum=EXP_SUM in laws)
    if outcome.equal:
        return Verdict("evaluated", claims.evaluated(outcome, small.sizes, laws))
    if outcome.found is not None:
        return _different(equation, pair, smallest(equation, pair, laws, outcome.found))
    if outcome.reason == "size":
        return _sampled(equation, pair, laws)
    if outcome.reason == "value" and not outcome.infinite:
        return _without_value(pair, outcome.valueless, claims.no_value(left, right))
    reasons = _not_proved(left, right, laws)
    if not reasons:  # formal sums count the values of functions as finite
        place = outside(small.left, small.right)
        if place is not None:
            return _without_value(pair, place, claims.no_value(left, right))
        return Verdict("proved", f"{PROVED}{claims.by(laws)}")
    if outcome.reason == "value":
        met = "an infinite number meets an entry there, or another infinity"
        reason = f"{met}; compared as formal sums: {reasons[0]}"
        return _without_value(pair, outcome.valueless, reason)
    if outcome.reason == "degree":
        return Verdict(
            "undecided",
            "products of too many factors, or of too great constants, to tell equal ones by random "
            "inputs; try smaller powers",
        )
    if outcome.reason == "laws":
        return Verdict("undecided", claims.laws_missing(outcome.functions, laws))
    return Verdict(
        "undecided",
        "equal for many random rational inputs, but not shown: that needs a property of order, "
        "such as max being associative or idempotent; write both sides with the same max or min",
    )


def _without_value(pair: Pair, place: Place, reason: str) -> Verdict:
    output, point = place
    at = f"[{','.join(map(str, point))}]" if point else ""
    return Verdict(
        "undecided",
        f"{NO_VALUE}, but {pair.names[output]}{at} has none on one side at least: {reason}",
    )


def _not_proved(left: Sequence[Scope], right: Sequence[Scope], laws: frozenset[str]) -> list[str]:
    """Why it is not shown, for all entries at once, that the outputs are equal; empty where it
    is."""
    if greatest_bits(*left, *right) > MOST_BITS:  # to compare them would take too long
        return ["its constants have too many digits"]
    found = []
    for x, y in zip(left, right, strict=True):
        try:  # both ways: a step may lead to a program that has more values, an equal one has not
            law = EXP_SUM in laws
            reason = not_equal(x, y, exp_sum=law) or not_equal(y, x, exp_sum=law)
        except RecursionError:
            reason = "not shown: the statements build on each other too deeply"
        found += [reason] if reason else []
    return found


def _sampled(equation: Equation, pair: Pair, laws: frozenset[str]) -> Verdict:
    """The verdict for programs that are too large to be evaluated everywhere."""
    left, right = (apply_definitions(side, laws) for side in (pair.left, pair.right))
    countable = exactly(*left, *right) or not any(map(uses_order, stages(*left, *right)))
    found, positions = sample(left, right) if countable else (None, 0)
    if found is not None:
        return _different(equation, pair, smallest(equation, pair, laws, found))
    looked = "no position was evaluated"
    if positions:
        looked = f"equal at {positions} sampled positions, with corners and borders"
    reasons = _not_proved(left, right, laws)
    if not reasons:
        place = outside(left, right, MOST_POSITIONS)
        if place is not None:
            return _without_value(pair, place, claims.no_value(left, right))
        return Verdict("proved", f"{PROVED}; besides, {looked}{claims.by(laws)}")
    return Verdict(
        "undecided",
        f"too many points to evaluate at every position ({looked}), and compared "
        f"as formal sums: {reasons[0]}; try smaller shapes, or generic=True",
    )


def _different(equation: Equation, pair: Pair, example: Counterexample) -> Verdict:
    """`pair` at the given shapes, which those of the example may be smaller than."""
    same = dict(example.shapes) == dict(pair.shapes)
    return different(pair if same else equation.at(example.shapes).pair(), example)


def _for_families(equation: Equation, laws: frozenset[str], seconds: float) -> Verdict:
    """The verdict over families of sizes: what was tried, and nothing about the rest."""
    if any(isinstance(side, Program) for side in (equation.lhs, equation.rhs)):
        raise TextError(
            "a parsed program has fixed shapes",
            next_step="pass both sides as texts, with sizes as names: A=('n', 'k')",
        )
    equation = equation if equation.symbols else symbolic(equation)
    tried: list[dict[str, int]] = []
    types: dict[tuple[str, str, str], None] = {}
    shapes: list[Mapping[str, tuple[int, ...]]] = []
    refused, large, refusal = 0, 0, ""
    for sizes in families(equation):
        try:
            fixed = equation.fixed(sizes)
            pair = fixed.pair()
        except EinderiveError as error:
            refused, refusal = refused + 1, refusal or str(error)
            continue
        verdict = _verdict(fixed, pair, laws, MOST_GENERIC, seconds)
        if verdict.kind == "different":
            smaller = _smaller(equation, dict(sizes), laws, seconds)
            verdict = verdict if smaller is None else smaller
            return Verdict("different", verdict.detail, verdict.counterexample, tuple(shapes))
        if not verdict and points_of(*pair.left, *pair.right) > MOST_GENERIC:
            large += 1
            continue
        if not verdict:
            stated = ", ".join(f"{name}={size}" for name, size in sizes.items())
            return Verdict("undecided", f"for {stated}: {verdict.detail}", None, tuple(shapes))
        tried.append(dict(sizes))
        shapes.append(pair.shapes)
        types |= dict.fromkeys(unequal_types(pair))
    skipped = f"{refused} were refused by the parser" + (f", {large} too large" if large else "")
    if not tried:
        return Verdict("undecided", f"no shape could be tried: {skipped}; the first: {refusal}")
    names = ", ".join(equation.symbols)
    verdict = Verdict(
        "generic",
        f"equal for each of {len(tried)} choices of ({names}): {claims.listed(tried)}; {skipped}; "
        f"nothing is claimed for other sizes{claims.by(laws)}",
        None,
        tuple(shapes),
    )
    return with_types(verdict, tuple(types))


def _smaller(
    equation: Equation, sizes: dict[str, int], laws: frozenset[str], seconds: float
) -> Verdict | None:
    """The difference at the smallest sizes, one symbol after the other, if there is a smaller."""
    best: Verdict | None = None
    for symbol, most in tuple(sizes.items()):
        for size in range(most):
            trial = sizes | {symbol: size}
            try:
                fixed = equation.fixed(trial)
                pair = fixed.pair()
            except EinderiveError:
                continue
            verdict = _verdict(fixed, pair, laws, MOST_GENERIC, seconds)
            if verdict.kind == "different":
                sizes, best = trial, verdict
                break
    return best
