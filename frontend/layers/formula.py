"""A formula as a layer: `Formula("Y[b,o] = X[b,i]*W[o,i] + c[o]", W=(512, 256), c=(512,))`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod, sqrt
from typing import Any

import torch

from einderive.eops.back_ends.kept_weights import forget
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.formula import parse_given
from einderive.frontend.autograd.kin import MOST_SEARCHED
from einderive.frontend.call.guard import MISS, symbolic
from einderive.frontend.call.layouts import extents
from einderive.frontend.call.misfits import handed_on
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.compile.formula_operator import formula as traced_call
from einderive.frontend.compile.rebuilt import known
from einderive.frontend.layers.given import checked_options, new_parameter
from einderive.frontend.layers.written import Written
from einderive.frontend.running.settings import unseen
from einderive.frontend.sizes.family import MOST_SIZES
from einderive.ta.errors import NameUnknownError, OperandError, TextError, shown
from einderive.ta.ir.names import close_matches
from einderive.ta.notation.parse import tensors_named
from einderive.ta.syntax.reader import read_program
from einderive.ta.syntax.tree import Name, Read, scalars

Init = Callable[[torch.Tensor], object]


class Formula(torch.nn.Module):
    """A layer that computes a formula: some of its tensors are parameters, the others are operands.

    `Formula("Y[b,o] = relu(sum[i](X[b,i]*W[o,i]) + c[o])", W=(512, 256), c=(512,))` has the
    parameters W and c, and is called as `layer(X)` or `layer(X=X)`.

    - Parameters are initialised as those of `torch.nn.Linear`: uniformly in ±1/sqrt(n).  n is the
      product of the parameter's dimensions whose iterators are not on the left, here 256.  A
      parameter without such dimensions, as c, has the greatest n of the others.
      `init={"c": torch.nn.init.zeros_}` initialises a parameter in another way.
    - The formula is compiled at the first call with operands of new types or on another device, and
      the gradients at the first backward pass.  Both are stored on disk (docs/memory.md).  For
      operands of other sizes, the same choices are used, without a search (docs/sizes.md).
    - In evaluation mode without gradients, stages that read only parameters are computed once, and
      again after a parameter has changed (docs/pytorch.md).
    - A number given by a name is a size: `n=8` for `where k in 0:n`.
    - `options` are further options of `compile`, such as `{"accuracy": "fast"}`.

    Raises FormulaSyntaxError, NameUnknownError for a parameter that the formula does not read and
    for an option that there is not, and RangeError for a shape that is none."""

    def __init__(
        self,
        text: str,
        /,
        *,
        init: Mapping[str, Init] | None = None,
        options: Mapping[str, Any] | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        **shapes: Any,
    ) -> None:
        super().__init__()
        if not isinstance(text, str):
            raise TextError(
                f"a formula is a text, not {shown(text)}", next_step='write "Y[i] = W[i]*X[i]"'
            )
        self.text, self.options = text, checked_options(text, options)
        self.sizes = {name: size for name, size in shapes.items() if isinstance(size, int)}
        shapes = {name: each for name, each in shapes.items() if name not in self.sizes}
        read, defined = tensors_named(text)
        read -= self.sizes.keys() | (defined - shapes.keys())
        for name in (*shapes, *(init or {})):
            if name not in (read if name in shapes else shapes):
                near = close_matches(name, read)
                raise NameUnknownError(
                    f"{name!r:.80} is no parameter: the formula does not read it"
                    if name in shapes
                    else f"{name!r:.80} has no shape, so it is no parameter",
                    text=text,
                    next_step=f"{near + ' ' if near else ''}it reads {', '.join(sorted(read))}",
                )
        self.weights = tuple(shapes)
        self.operands = tuple(sorted(read - shapes.keys(), key=lambda name: _place(text, name)))
        self.init = dict(init or {})
        for name, shape in shapes.items():
            self.register_parameter(name, new_parameter(text, name, shape, device, dtype))
        self._functions: dict[object, CompiledFunction] = {}
        self._searched: dict[object, tuple[CompiledFunction, ...]] = {}
        self._last: tuple[CompiledFunction, tuple[str, ...]] | None = None
        self._written = Written()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise all parameters again."""
        terms = {name: self._terms(name) for name in self._parameters}
        most = max((count for count in terms.values() if count is not None), default=1)
        for name, parameter in self._parameters.items():
            assert parameter is not None
            bound = 1 / sqrt(max(terms[name] or most, 1))
            with torch.no_grad():
                self.init.get(name, lambda p, bound=bound: p.uniform_(-bound, bound))(parameter)

    def forward(self, *operands: Any, **named: Any) -> Any:
        """The outputs for the operands, by position in the order in which the formula names them,
        or by name."""
        training = self.training or torch.is_grad_enabled()
        if not torch.compiler.is_compiling() and training and self._last and not named:
            found = self._again(self._last, operands)
            if found is not MISS:
                return found
        if len(operands) != len(self.operands) or named:
            self._refuse_others(len(operands), tuple(named))
        given = dict(zip(self.operands, operands, strict=False)) | named
        given = {
            n: x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for n, x in given.items()
        }
        given |= {name: getattr(self, name) for name in self.weights}  # also if they are computed
        if torch.compiler.is_compiling():
            layout = tuple((name, extents(x), x.dtype) for name, x in given.items())
            names, text = self._traced(layout, next(iter(given.values())).device.type)
            found = traced_call([given[name] for name in names], text)
            return found[0] if len(found) == 1 else tuple(found)
        function = self._function(given)
        if getattr(function.run, "kept", ()):
            self._written.look({name: given[name] for name in function.derivation.weights})
        found = function(**given)
        if training:
            self._last = function, tuple([t.name for t in function.formula.inputs])
        return found

    def _again(self, last: tuple[CompiledFunction, tuple[str, ...]], operands: Any) -> Any:
        """The outputs where the last function knows the layouts of such operands; else MISS.

        Its flat functions compare all that the choice of a function depends on."""
        function, order = last
        if len(operands) != len(self.operands):
            return MISS
        given = dict(zip(self.operands, operands, strict=True))
        values = [given[name] if name in given else getattr(self, name) for name in order]
        for flat in function._caller.asked:
            found = flat(*values)
            if found is not MISS:
                return found
        return MISS

    def _refuse_others(self, count: int, named: tuple[str, ...]) -> None:
        """Raises OperandError where this many operands by position, and these, are not all."""
        given = dict.fromkeys((*self.operands[:count], *named))
        if count + len(named) != len(self.operands) or given.keys() != {*self.operands}:
            with handed_on():
                raise OperandError(
                    f"the layer is called with {', '.join(given) or 'nothing'}",
                    text=self.text,
                    next_step=f"call it as layer({', '.join(self.operands)})",
                )

    def _function(self, given: Mapping[str, torch.Tensor]) -> CompiledFunction:
        fixed = not self.training and not torch.is_grad_enabled()
        fixed = fixed and not symbolic([*given.values()])  # the graph may have other parameters
        layout = tuple((name, tuple(x.shape), x.dtype) for name, x in given.items())
        return self._compiled(layout, next(iter(given.values())).device.type, fixed)

    def _compiled(self, layout: tuple[Any, ...], device: str, fixed: bool) -> CompiledFunction:
        key = layout, device, fixed
        found = self._functions.get(key)
        if found is None:
            shapes = {name: shape for name, shape, _ in layout} | self.sizes
            types = {name: dtype for name, _, dtype in layout}
            program = parse_given(self.text, shapes, types)
            options = {"target": device, **self.options}
            options |= {"weights": self.weights if fixed else ()}

            alike = tuple((name, len(shape), dtype) for name, shape, dtype in layout), device, fixed
            known = self._searched.get(alike, ())

            def make() -> CompiledFunction:
                remade = (one._remade(program) for one in known)
                found = next((one for one in remade if one is not None), None)
                if found is None:
                    found = compile_formula(program, **options)
                    if known:
                        found = replace(found, kin=known[0].kin)
                    self._searched[alike] = (*known, found)[-MOST_SEARCHED:]
                return found

            found = unseen(make)
            if len(self._functions) >= MOST_SIZES:
                self._functions.clear()
            self._functions[key] = found
        return found

    @property
    def searches(self) -> int:
        """The number of shapes, types and devices of operands for which a search was made."""
        return sum(map(len, self._searched.values()))

    def train(self, mode: bool = True) -> Formula:
        """As `torch.nn.Module.train`; what evaluation keeps is computed anew after it."""
        forget()
        return super().train(mode)

    def _traced(self, layout: tuple[Any, ...], device: str) -> tuple[tuple[str, ...], str]:
        """The names of the operator's operands, and its text."""
        with handed_on():
            found = self._compiled(layout, device, fixed=False)
        names = tuple(tensor.name for tensor in found.derivation.source.inputs)
        return names, known(found.text, found)

    # As torch.compiler.assume_constant_result does, which would load the whole tracer.
    _traced.__dict__["_dynamo_marked_constant"] = True
    _refuse_others.__dict__["_dynamo_marked_constant"] = True

    def _terms(self, name: str) -> int | None:
        """The number of terms that the parameter is summed with; None if it is in no sum."""
        shape = self._parameters[name].shape  # type: ignore[union-attr]
        summed = {place for places in _summed(self.text, name) for place in places}
        return prod(shape[place] for place in summed) if summed else None

    def __getstate__(self) -> dict[str, Any]:
        """Without the compiled functions, which are built anew where they are called."""
        return {
            **self.__dict__,
            "_functions": {},
            "_searched": {},
            "_last": None,
            "_written": Written(),
        }

    def extra_repr(self) -> str:
        parts = [f"{name}={tuple(p.shape)}" for name, p in self.named_parameters(recurse=False)]
        parts += [f"{name}={size}" for name, size in self.sizes.items()]
        return ", ".join([repr(self.text), *parts])


def _place(text: str, name: str) -> int:
    found = re.search(rf"\b{re.escape(name)}\b", text.partition("=")[2])
    return found.start() if found else len(text)


def _summed(text: str, name: str) -> Iterator[set[int]]:
    """For each read of the tensor, the dimensions whose iterators are not on the statement's
    left."""
    for statement in read_program(text):
        loops = {index.name for index in statement.indices if isinstance(index, Name)}
        for part in scalars(statement.value, into_scopes=True):
            if (
                isinstance(part, Read)
                and isinstance(part.source, Name)
                and part.source.name == name
            ):
                yield {
                    place
                    for place, index in enumerate(part.indices)
                    if isinstance(index, Name) and index.name not in loops
                }
