"""Calls with brackets, `f(a, b)` and `r[k](a)`, with options by name: what they call.

exp(a), foo(a)                  a function, or one that does not exist: a `Call`
sum[k](a)                       a reducer: a `Reduction`
mean[k](a), clip(a, hi=1, lo=0) a definition: `Defined`, with one argument for each operand
size(k)                         a `Size`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.ir.names import close_matches
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax import tree


@dataclass(frozen=True, slots=True)
class Option(tree.Part):
    """`ddof=1` among the arguments of a call."""

    name: str
    value: tree.Expression


Argument = tree.Expression | Option


def called(span: tree.Span, function: str, given: Sequence[Argument]) -> tree.Expression:
    """`function(given)`."""
    definition = DEFINITIONS.get((function, False))
    if definition is not None:
        return _folded(span, definition, given)
    if function == "size":
        return _size(span, given)
    return tree.Call(span, function, tuple(_plain(function, given)))


def reduced(
    span: tree.Span, reducer: str, names: tuple[tree.Name, ...], given: Sequence[Argument]
) -> tree.Reduction | tree.Defined:
    """`reducer[names](given)`."""
    definition = DEFINITIONS.get((reducer, True))
    if definition is not None:
        return tree.Defined(span, definition, names, _arguments(span, definition, given))
    first, *more = _plain(reducer, given)
    if more:
        written = ",".join(name.name for name in names)
        raise refused("one-operand", span, reducer=reducer, given=len(given), names=written)
    return tree.Reduction(span, reducer, names, first)


def _plain(name: str, given: Sequence[Argument]) -> list[tree.Expression]:
    """The arguments of what has no options."""
    for each in given:
        if isinstance(each, Option):
            raise refused("no-option", each.span, name=name, option=each.name)
    return [each for each in given if not isinstance(each, Option)]


def _size(span: tree.Span, given: Sequence[Argument]) -> tree.Size:
    names = tuple(each for each in given if isinstance(each, tree.Name))
    if not names or len(names) < len(given):
        raise refused("size-of-names", span)
    return tree.Size(span, names)


def _folded(span: tree.Span, definition: Definition, given: Sequence[Argument]) -> tree.Defined:
    """`max(a, b, c)` = `max(max(a, b), c)`."""
    count = len(definition.operands)
    further = max(len(given) - count, 0) if definition.folds else 0
    first = given[: len(given) - further]
    found = tree.Defined(span, definition, (), _arguments(span, definition, first))
    for each in _plain(definition.name, given[len(first) :]):
        found = tree.Defined(span, definition, (), (found, each))
    return found


def _arguments(
    span: tree.Span, definition: Definition, given: Sequence[Argument]
) -> tuple[tree.Expression, ...]:
    """The argument of each operand in the definition's order."""
    name, known = definition.name, definition.operands
    found: dict[str, tree.Expression] = {}
    plain = [each for each in given if not isinstance(each, Option)]
    if len(plain) > len(known) or any(isinstance(e, Option) for e in given[: len(plain)]):
        raise _misfit(span, definition, f"{name} takes {_counted(definition)}, not {len(given)}")
    found = dict(zip(known, plain, strict=False))
    for option in given:
        if isinstance(option, Option):
            if option.name not in known or option.name in found:
                what = "is given twice" if option.name in found else "is not an operand"
                near = close_matches(option.name, known.keys() - found.keys())
                words = {"option": option.name, "what": what, "word": definition}
                raise refused("unknown-option", option.span, instead=near, **words)
            found[option.name] = option.value
    for operand, default in known.items():
        if operand not in found and not default:
            raise _misfit(
                span, definition, f"{name} takes {_counted(definition)}, not {len(given)}"
            )
        found.setdefault(operand, tree.Number(span, Fraction(default or 0)))
    return tuple(found[operand] for operand in known)


def _counted(definition: Definition) -> str:
    least = sum(not default for default in definition.operands.values())
    most = len(definition.operands)
    if definition.folds:
        return f"{least} operands or more"
    count = str(most) if least == most else f"{least} to {most}"
    return f"{count} operand{'s' * (most > 1)}"


def _misfit(span: tree.Span, definition: Definition, message: str) -> NotationError:
    hint = f"; `{definition.name}[k](...)` reduces over k" if definition.folds else ""
    return NotationError(message, span, next_step=f"write {definition.head}{hint}")
