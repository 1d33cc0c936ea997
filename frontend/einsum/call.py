"""`einsum` as NumPy defines it, on NumPy arrays and torch tensors, contracted pair by pair.

The order of the pairs comes from opt_einsum and is kept per equation and shapes.  Every pair goes
to `numpy.einsum` or `torch.einsum`, which use matrix products where they can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import opt_einsum
from opt_einsum.parser import convert_to_valid_einsum_chars, get_symbol

from einderive.frontend.call.guard import MISS
from einderive.frontend.einsum.linked import contracted, known, link
from einderive.frontend.einsum.operands import (
    Arrays,
    Casting,
    check_cast,
    is_torch,
    numpy_operands,
    torch_operands,
)
from einderive.frontend.einsum.options import (
    check_options,
    check_path,
    checked_dtype,
    checked_strategy,
    refused_strategy,
)
from einderive.frontend.einsum.program import to_program
from einderive.frontend.einsum.subscripts import (
    EinsumSpec,
    join_interleaved,
    read_einsum,
    show_shapes,
)
from einderive.ta.errors import OperandError, shown
from einderive.ta.ir.dtypes import DTYPES, type_name
from einderive.ta.ir.program import Program

if TYPE_CHECKING:
    import torch

Order: TypeAlias = Literal["K", "A", "C", "F"]
Compiler: TypeAlias = Callable[[Program], Callable[..., Any]]
"""Program -> a function of the operands, in order."""

UNASKED_BYTES = 1 << 30
"""Results up to this size are computed without asking how much memory is free."""
MOST_OPTIMAL = 8
"""Up to this many operands the best of all orders is looked for."""


class Contraction(NamedTuple):
    """One step of a plan: the operands at `positions` leave the list, the result joins its end."""

    positions: tuple[int, ...]
    equation: str


def einsum(
    *args: Any,
    out: Any = None,
    dtype: Any = None,
    order: Order = "K",
    casting: Casting = "safe",
    optimize: Any = True,
    derive: bool | Compiler = False,
) -> Any:
    """Sums of products: `einsum("ij,jk->ik", a, b)`, or `einsum(a, [0,1], b, [1,2], [0,2])`.

    Subscripts have the same meaning as in `numpy.einsum`.

    - The operands are all NumPy arrays (or anything that `numpy.asarray` accepts), or all torch
      tensors on one device.  Python numbers and lists are allowed with both.
    - The result is an array of the same library, in the element type that all operands promote to,
      or in `dtype`.  Everything is computed in this type.  A full contraction of NumPy operands is
      a NumPy scalar.  Bools are combined by `and` and `or`.
    - The result has memory of its own.  NumPy and torch differ here: where nothing is computed
      (`"ii->i"`, `"ij->ji"`), they return a view of the operand.
    - `optimize` is True (the best order, for up to 8 operands), False (all operands at once), the
      name of a strategy of opt_einsum, (name, memory limit), or a path as from `numpy.einsum_path`.
    - `out`, `order` and `casting` are as in NumPy, for NumPy operands.
    - `derive=True` computes by a derived program.  Instead of True, a function from a Program to a
      callable can be given.

    Integers on a GPU are contracted on the CPU, exactly.

    Raises FormulaSyntaxError for the subscripts, RangeError for sizes that conflict, OperandError
    for operands that do not fit the subscripts or each other.
    """
    named = type(order) is str and type(casting) is str  # an array is not compared
    plain = named and out is None and dtype is None
    plain = plain and order == "K" and casting == "safe"
    plain = plain and optimize is True and derive is False and bool(args) and type(args[0]) is str
    if plain:
        found = known(args[0], args[1:])
        if found is not MISS:
            return found
    text, operands = (
        (args[0], args[1:]) if args and isinstance(args[0], str) else join_interleaved(args)
    )
    try:
        check_options(order, casting, derive)
        strategy = checked_strategy(optimize)
        torch_used = any(map(is_torch, operands))
        if torch_used and (out is not None or order != "K" or casting != "safe"):
            raise OperandError(
                "out, order and casting are for NumPy operands, and there is a torch tensor",
                next_step="leave them out; for torch, copy the result into your tensor",
            )
        if torch_used:
            arrays = torch_operands(operands, dtype)
        else:
            wanted = None if dtype is None else checked_dtype(dtype)
            arrays = numpy_operands(operands, wanted, casting)
        if isinstance(out, np.ndarray) and not out.flags.writeable:
            raise OperandError("out is read-only", next_step="pass an array that can be written to")
        spec = read_einsum(text, tuple(tuple(map(int, array.shape)) for array in arrays))
        _require_memory(
            spec, arrays[0].dtype.itemsize, arrays[0].device.type if torch_used else "cpu"
        )
        if derive:
            names = tuple(type_name(array) for array in arrays)
            _check_derivable(names)
            result = _derived(spec, names, _deriver() if derive is True else derive)(*arrays)
            result = _in_type_of(arrays[0], result)
        else:
            plan = _plan(spec, strategy)
            run = _run_torch if torch_used else _run_numpy
            with _plain_errors(arrays[0].dtype):
                squeezed = _squeeze(spec, arrays)
                result = run(plan, squeezed)
            if plain:
                link(text, plan, operands, squeezed)
        return result if torch_used else _finish_numpy(result, out, order, casting, arrays)
    except OperandError as error:  # about the subscripts, unless it has a text of its own
        error.text = error.text or text
        error.args = (error.render(),)
        raise


def _plan(spec: EinsumSpec, strategy: Any) -> tuple[Contraction, ...]:
    """The steps to one operand, in an order that was asked for or found here."""
    if strategy is None or isinstance(strategy, bool):
        return contractions(spec, strategy)
    try:
        plan = contractions(spec, strategy)
    except Exception:  # whatever a path that does not fit makes of it
        raise refused_strategy(strategy) from None
    check_path(strategy, [step.positions for step in plan], len(spec.operands))
    return plan


@contextmanager
def _plain_errors(dtype: Any) -> Iterator[None]:
    """Turns errors of products and sums, or of missing memory, into OperandErrors."""
    try:
        yield
    except Exception as problem:
        reason = str(problem).partition("\n")[0] or type(problem).__name__
        raise OperandError(
            f"elements of type {dtype} cannot be contracted here: {reason}",
            next_step="use smaller operands"
            if isinstance(problem, MemoryError) or "memory" in reason
            else "convert them to a type of numbers, such as float64",
        ) from problem


def _deriver() -> Compiler:
    """The search and its backends are loaded with the first call that asks for them."""
    compiler: Compiler = import_module("einderive.frontend.compile.compile").compile
    return compiler


def _check_derivable(dtypes: Sequence[str]) -> None:
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise OperandError(
                f"no program is derived for elements of type {dtype}",
                next_step=f"leave out derive, or convert to one of {', '.join(DTYPES)}",
            )


def _in_type_of(operand: Any, result: Any) -> Any:
    """The result in the operands' type: derived programs count bools and sum integers in int64,
    which gives the same after wrapping."""
    if is_torch(result):
        return result.to(operand.dtype)
    return result.astype(operand.dtype, copy=False)


@lru_cache(maxsize=256)
def _derived(spec: EinsumSpec, dtypes: tuple[str, ...], compiler: Compiler) -> Callable[..., Any]:
    made = compiler(to_program(spec, dtypes))
    if not callable(made):
        raise OperandError(
            f"the function given as derive made {shown(made)} of a program",
            next_step="let it give a function of the operands",
        )
    return made


@lru_cache(maxsize=4096)
def contractions(spec: EinsumSpec, optimize: Any = True) -> tuple[Contraction, ...]:
    """The plan of a spec: one step a pair of operands, on operands without broadcast dimensions."""
    sizes = spec.sizes
    letters = {label: get_symbol(number) for number, label in enumerate(sizes)}
    terms, shapes = [], []
    for labels, shape in zip(spec.operands, spec.shapes, strict=True):
        kept = [d for d, label in enumerate(labels) if shape[d] == sizes[label]]
        terms.append("".join(letters[labels[d]] for d in kept))
        shapes.append(tuple(shape[d] for d in kept))
    equation = ",".join(terms) + "->" + "".join(letters[label] for label in spec.output)
    strategy, limit = _strategy(optimize, len(terms))
    _, info = opt_einsum.contract_path(
        equation, *shapes, shapes=True, optimize=strategy, memory_limit=limit
    )
    return tuple(
        Contraction(tuple(step[0]), convert_to_valid_einsum_chars(step[2]))
        for step in info.contraction_list
    )


def _strategy(optimize: Any, number: int) -> tuple[Any, int | None]:
    """The arguments `optimize` and `memory_limit` of opt_einsum."""
    if optimize is True or optimize is None:
        return ("optimal" if number <= MOST_OPTIMAL else "auto"), None
    if isinstance(optimize, tuple) and optimize and isinstance(optimize[0], str):
        if optimize[0] == "einsum_path":
            return optimize[1:], None
        if len(optimize) == 2:
            return optimize[0], int(optimize[1])
    return optimize, None


def _squeeze(spec: EinsumSpec, arrays: Arrays) -> Arrays:
    """The arrays without the dimensions of size 1 that broadcast."""
    sizes = spec.sizes
    return tuple(
        array
        if all(size == sizes[label] for size, label in zip(shape, labels, strict=True))
        else array.reshape(
            [size for size, label in zip(shape, labels, strict=True) if size == sizes[label]]
        )
        for array, labels, shape in zip(arrays, spec.operands, spec.shapes, strict=True)
    )


def _run(plan: Sequence[Contraction], arrays: Sequence[Any], step: Callable[..., Any]) -> Any:
    steps = ((positions, partial(step, equation)) for positions, equation in plan)
    return contracted(steps, arrays)


def _run_numpy(plan: Sequence[Contraction], arrays: Arrays) -> Any:
    def step(equation: str, *taken: Any) -> Any:
        return np.einsum(equation, *taken, optimize=len(taken) == 2)

    return _run(plan, arrays, step)


def _run_torch(plan: Sequence[Contraction], arrays: Arrays) -> Any:
    import torch

    first: torch.Tensor = arrays[0]
    if first.dtype is torch.bool:  # counts of at least 1 cannot vanish in float64
        counts = _run(plan, [array.to(torch.float64) for array in arrays], torch.einsum)
        return counts != 0
    exact = not (first.dtype.is_floating_point or first.dtype.is_complex)
    if exact:  # torch has matrix products of integers on the CPU only
        whole = _run(plan, [array.cpu() for array in arrays], _integers)
        return whole.to(first.device, copy=len(arrays) == 1)
    result = _run(plan, arrays, torch.einsum)
    return result.clone() if len(arrays) == 1 and not _sums(plan) else result


def _integers(equation: str, *taken: Any) -> Any:
    """In the operands' type, modulo its range.  What one operand alone has summed torch adds up in
    int64, and then multiplies by nothing of another type."""
    import torch

    left, kept = equation.split("->")
    terms = left.split(",")
    if any(sum(label in term for term in terms) == 1 for label in {*left} - {*kept}):
        return torch.einsum(equation, *(x.to(torch.int64) for x in taken)).to(taken[0].dtype)
    return torch.einsum(equation, *taken).to(taken[0].dtype)


def _sums(plan: Sequence[Contraction]) -> bool:
    """Whether a label leaves: torch gives a view of a single operand where none does.  Tensors are
    not asked, as those of a transformation such as torch.func.vmap cannot tell their memory."""
    terms = [contraction.equation.split("->") for contraction in plan]
    return any(set(read) - {","} != set(kept) for read, kept in terms)


def _require_memory(spec: EinsumSpec, item_bytes: int, device: str) -> None:
    """Refuse a result that cannot be held; what is small is not looked into."""
    sizes = spec.sizes
    needed = prod(sizes[label] for label in spec.output) * item_bytes
    if needed < UNASKED_BYTES or device not in ("cpu", "cuda"):
        return
    from einderive.frontend.limits.memory import amount, free_bytes

    free = free_bytes(device)
    if needed > 2**63 - 1 or (free is not None and needed > free):
        raise OperandError(
            "the result does not fit into memory",
            sizes=f"{show_shapes(spec.shapes)}, the result needs {amount(needed)}",
            next_step="sum over more labels, or contract in parts",
        )


def _finish_numpy(result: Any, out: Any, order: Order, casting: Casting, arrays: Arrays) -> Any:
    """The result in the memory order asked for, or written to `out`; copied if it is a view."""
    if out is not None:
        if not isinstance(out, np.ndarray) or out.shape != np.shape(result):
            raise OperandError(
                f"out is {out.shape if isinstance(out, np.ndarray) else type(out).__name__}, "
                f"the result {np.shape(result)}",
                sizes=show_shapes([array.shape for array in arrays]),
                next_step="pass an array of the result's shape",
            )
        check_cast("the result", result.dtype, out.dtype, casting)
        np.copyto(out, result, casting="unsafe")
        return out
    if order == "A":
        order = "F" if all(array.flags.f_contiguous for array in arrays) else "C"
    found: Any = np.asarray(result, order=order)
    if any(np.may_share_memory(found, array) for array in arrays):
        found = np.array(found, order="K")
    return found[()] if found.ndim == 0 else found
