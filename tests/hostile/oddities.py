"""Values that no caller means to pass: of every kind, and objects whose own methods fail."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import einderive as ed

Call = Callable[..., Any]


def _failing(method: str, problem: BaseException) -> Any:
    """An object one of whose methods raises."""

    def fail(*args: Any, **named: Any) -> Any:
        raise problem

    return type("Failing", (), {method: fail})()


class Text(str):
    """A subclass that changes nothing."""

    __slots__ = ()


def _itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


NAN, INFINITE = float("nan"), float("inf")
ODDITIES: dict[str, Call] = {
    **{repr(v): lambda v=v: v for v in (None, 0, 1, -1, True, False, 1.5, -0.0, NAN, INFINITE, 1j)},
    "a large integer": lambda: 10**400,
    "2^63": lambda: 2**63,
    "bytes": lambda: b"A",
    "a byte array": lambda: bytearray(b"A"),
    **{
        f"the text {text!a:.20}": lambda text=text: text
        for text in (
            *("", "\x00\x1b[31m", "a\x00b", "\ud800", "\u202eabc", "\n\r\x85\u2028"),
            *("A" * 2_000_000, "/", "A,x", "34", "A[i", "'", "--", "%s"),
        )
    },
    "a text of a subclass": lambda: Text("A"),
    "an empty list": list,
    "lists in lists": lambda: [[[[[1]]]]],
    "a list that holds itself": _itself,
    "a list of NaN": lambda: [NAN],
    "a list of texts": lambda: ["3"],
    "5000 dimensions": lambda: [1] * 5000,
    "an empty tuple": tuple,
    "an empty dictionary": dict,
    "a dictionary by numbers": lambda: {1: 2},
    "a dictionary by bytes": lambda: {b"A": (3,)},
    "a set": lambda: {1, 2},
    "a generator": lambda: (size for size in (4, 3)),
    "an endless generator": lambda: iter(int, 1),
    "a range": lambda: range(3),
    "an integer of NumPy": lambda: np.int64(3),
    "an unsigned integer": lambda: np.uint64(2**64 - 1),
    "a number of NumPy": lambda: np.float64(3),
    "a truth value of NumPy": lambda: np.bool_(True),
    "an array without dimensions": lambda: np.array(3),
    "an array": lambda: np.array([4, 3]),
    "an array of objects": lambda: np.array([None, object()]),
    "an array of records": lambda: np.zeros(2, [("a", "i4"), ("b", "f4")]),
    "an array of dates": lambda: np.array(["2020"], "M8[Y]"),
    "an empty array": lambda: np.array([]),
    "a tensor": lambda: torch.tensor([4, 3]),
    "a tensor without dimensions": lambda: torch.tensor(3),
    "a tensor without data": lambda: torch.empty(4, 3, device="meta"),
    "a sparse tensor": lambda: torch.eye(3).to_sparse(),
    "a torch.Size": lambda: torch.Size([4, 3]),
    "a type": lambda: int,
    "a type of torch": lambda: torch.float32,
    "an 8-bit float": lambda: torch.float8_e4m3fn,
    "a module": lambda: math,
    "a fraction": lambda: fractions.Fraction(3, 1),
    "a decimal": lambda: decimal.Decimal(3),
    "a date": datetime.date.today,
    "a path": lambda: Path("/nowhere/at/all"),
    "an ellipsis": lambda: ...,
    "a slice": lambda: slice(3),
    "an exception": lambda: ValueError("x"),
    "an object": object,
    "a program": lambda: ed.parse("Y[i] = A[i]", A=(3,)),
    **{
        f"{method} fails": lambda method=method, problem=problem: _failing(method, problem)
        for method, problem in (
            *(("__repr__", RuntimeError("r")), ("__index__", ZeroDivisionError("i"))),
            *(("__array__", RuntimeError("a")), ("__iter__", KeyError("i"))),
            *(("__eq__", RuntimeError("e")), ("__bool__", RuntimeError("b"))),
            *(("__getattr__", RuntimeError("g")), ("__fspath__", OSError("p"))),
        )
    },
    "a list of what fails": lambda: [_failing("__repr__", RuntimeError("r"))],
    "a dictionary by what fails": lambda: {_failing("__repr__", RuntimeError("r")): 1},
}
"""Made anew for each call: what is read once is not read twice."""
