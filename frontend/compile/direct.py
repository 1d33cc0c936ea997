"""Calls of `compile` that were answered before: the function at once, with nothing else loaded.

    text, shapes, options, software, machine  ->  the choice  ->  its calls of torch, as Python

What `compile` needs otherwise, the parser, the record, the checker and the back ends, takes longer
to load than anything takes that is done with it here.  So these are loaded when the function is
asked for more than a result: `print(f)`, `f.derivation`, operands of other layouts or types.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch

from einderive.frontend.call.guard import MISS
from einderive.frontend.call.layouts import Layout
from einderive.frontend.call.traced import Order, Words, traced_call
from einderive.frontend.call.written import Operand, Written, flat_of
from einderive.frontend.compile.options import Options
from einderive.frontend.machine.key import KIND, profile_key
from einderive.frontend.memory.kept import store
from einderive.frontend.memory.surroundings import machine, software

if TYPE_CHECKING:
    from einderive.frontend.api.compiled import CompiledFunction

CALL: Final = "call"
CHOICE: Final = "choice"
MOST_ASKED: Final = 8
"""At most this many flat functions are asked, one after the other."""
NUMBERS: Final = (bool, int, float, str, type(None))


class Unusual(Exception):
    """A call with a value that has no lasting name."""


class Asked(NamedTuple):
    """The operands of a call that was answered before, in the formula's order, the key of the
    choice that answered it, and the type to which its results are converted, if there is one."""

    operands: tuple[Operand, ...]
    choice: str
    output: str | None = None


def key_of(text: object, given: Mapping[str, Any], options: Options) -> str | None:
    """The key of a call of `compile` for the CPU.  None for another device, and where the call is
    no text with plain values."""
    if type(text) is not str or not _on_cpu(options.target, given.values()):
        return None
    try:
        parts = _plain(given), [_plain(getattr(options, each.name)) for each in fields(options)]
    except Unusual:
        return None
    profile = store().get(KIND, profile_key())  # with another one, a search finds other programs
    return digest("call", text, parts, software(), machine("cpu"), profile and profile.text)


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()


def _on_cpu(target: object, values: Any) -> bool:
    if target is not None:
        return target == "cpu"
    devices = {each.device.type for each in values if isinstance(each, torch.Tensor)}
    if devices or any(isinstance(each, np.ndarray) for each in values):
        return devices <= {"cpu"}
    return not torch.cuda.is_available()


def _plain(value: Any) -> object:
    """A value that has the same `repr` in every process."""
    if type(value) in NUMBERS:
        return value
    if type(value) in (tuple, list):
        return tuple(map(_plain, value))
    if type(value) is dict:
        return tuple((name, _plain(each)) for name, each in value.items())
    if type(value) is torch.Tensor:
        return "tensor", tuple(value.shape), str(value.dtype)
    if type(value) is np.ndarray:
        return "array", value.shape, str(value.dtype)
    if isinstance(value, torch.dtype | np.dtype) or type(value).__name__ == "Budget":
        return repr(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return value.__name__
    raise Unusual


def known(key: str, whole: Callable[[], CompiledFunction]) -> CompiledFunction | None:
    """The function that such a call gave before.  `whole` is what makes it with all that belongs to
    it, once it is needed."""
    try:
        found = store().get(CALL, key)
        if found is None:
            return None
        call = json.loads(found.text)
        kept = store().get(CHOICE, call["choice"])
        if kept is None:
            return None
        data = json.loads(kept.text)["written"]
        if data is None:
            return None
        written = Written(*map(tuple, data))
        if call["output"] is not None:
            written = written.converted(call["output"])
        operands = tuple(
            Operand(name, tuple(shape), dtype) for name, shape, dtype in call["operands"]
        )
    except (LookupError, TypeError, ValueError):  # the text of another release
        return None
    found_function: Any = Direct(written, operands, whole, kept.made)
    return found_function  # type: ignore[no-any-return]  # it stands in for a CompiledFunction


def remember_call(key: str, asked: Asked, about: str) -> None:
    """Keeps which choice answers the call."""
    store().put(CALL, key, json.dumps(asked._asdict()), about)


class Direct:
    """Stands in for a CompiledFunction: it answers calls with dense operands of the formula's
    shapes and types, and hands everything else to the whole one, which is made then."""

    device = "cpu"

    def __init__(
        self,
        written: Written,
        operands: Sequence[Operand],
        whole: Callable[[], CompiledFunction],
        remembered: float,
    ) -> None:
        self.remembered = remembered
        self._written, self._operands, self._make = written, operands, whole
        self._names = tuple(operand.name for operand in operands)
        self._default = torch.get_default_dtype()
        self._asked: tuple[Callable[..., Any], ...] = ()

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling():
            return traced_call(self, args, named)
        if named and len(args) + len(named) == len(self._names):
            rest = self._names[len(args) :]
            if all(name in named for name in rest):
                args, named = (*args, *[named[name] for name in rest]), {}
        if not named and "_whole" not in vars(self):
            for flat in self._asked:
                found = flat(*args)
                if found is not MISS:
                    return found
            made = self._flat(args)
            found = MISS if made is None else made(*args)
            if found is not MISS:
                self._asked = (made, *self._asked[: MOST_ASKED - 1])
                return found
        return self._whole(*args, **named)

    def _flat(self, args: Sequence[Any]) -> Any:
        if torch.get_default_dtype() is not self._default:
            return None
        return flat_of(self._written, self._operands, args)

    def _operator_text(self, layout: Layout = ()) -> str:
        return self._whole._operator_text(layout)

    def _operand_order(self, words: Words) -> Order:
        return self._whole._operand_order(words)

    _operator_text.__dict__["_dynamo_marked_constant"] = True  # as in CompiledFunction
    _operand_order.__dict__["_dynamo_marked_constant"] = True

    @cached_property
    def _whole(self) -> CompiledFunction:
        return self._make()

    @property  # type: ignore[misc]  # `isinstance` asks it for the class that this stands in for
    def __class__(self) -> Any:
        from einderive.frontend.api.compiled import CompiledFunction

        return CompiledFunction

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def __str__(self) -> str:
        return str(self._whole)

    def __repr__(self) -> str:
        return repr(self._whole)

    def __copy__(self) -> Direct:
        return self

    def __deepcopy__(self, memo: object) -> Direct:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._whole.__reduce_ex__(protocol)
