"""A kernel's machine code as a function of Python, without the cost of ctypes.

    entry(code, ...)(a, b, None)    runs the code on an array of these integers

An integer is the address of a tensor's elements, or a number that the kernel's text leaves open;
None stands for the address of ROOM numbers of 64 bits, which all threads of the call share.  ctypes
takes a microsecond to fill an array and call a function with it, these functions a tenth of that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from llvmlite import binding, ir

from einderive.eops.cpu_kernels.calls import threads

ROOM: Final = 1 << 13
RELEASED: Final = 1 << 15
"""Kernels with as many operations let other threads of Python run."""

_FASTCALL: Final = 0x80
_OBJECT: Final = ir.IntType(8).as_pointer()
_WHOLE: Final = ir.IntType(64)
_ADDRESSES: Final = _WHOLE.as_pointer()
_LONG: Final = ir.IntType(8 * ctypes.sizeof(ctypes.c_long))
_INT: Final = ir.IntType(32)
_NOTHING: Final = ir.VoidType()
_KEPT: Final[list[Any]] = []
"""Machine code and PyMethodDefs.  CPython keeps the address of a PyMethodDef as long as a function
lives, which may be longer than a cache: two threads that ask for one at the same time make two."""


class Code(NamedTuple):
    """A compiled function: its address, the object that keeps its machine code alive, and the name
    of its file, if it is kept on disk."""

    address: int
    owner: Any
    file: str = ""


class _Method(ctypes.Structure):
    """What CPython calls a PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def entry(code: Code, work: float, *, several: bool, most: int = 1) -> Callable[..., object]:
    """The kernel of this many operations, whose code stays as long as this function.  With
    `several`, as many threads run it as torch has, and at most `most`, if the work is enough and
    the process has such threads."""
    alone: Callable[..., object] = _function("released" if work >= RELEASED else "held", code)
    if not several or work < threads.WORK or threads.parallel() is None:
        return alone
    together = _function("together", code)

    def run(*integers: int | None) -> object:
        count = threads.count(most)
        return alone(*integers) if count == 1 else together(count, *integers)

    return run


def _function(kind: str, code: Code) -> Any:
    """The builtin function of this kind: its `self` is the address, and its module keeps the code
    alive."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object]
    return make(ctypes.byref(_method(kind)), code.address, code.owner)


@cache
def _method(kind: str) -> _Method:
    """What makes a builtin function of this kind."""
    module = ir.Module(f"einderive_{kind}")
    module.triple = binding.get_process_triple()
    _write(module, kind)
    machine = binding.Target.from_default_triple().create_target_machine(opt=1, jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), machine)
    engine.finalize_object()
    method = _Method(b"kernel", engine.get_function_address(module.name), _FASTCALL, None)
    _KEPT.append((engine, method))
    return method


def _write(module: Any, kind: str) -> None:
    """`PyObject *f(PyObject *self, PyObject **args, Py_ssize_t count)`."""
    signature = ir.FunctionType(_OBJECT, [_OBJECT, _OBJECT.as_pointer(), _WHOLE])
    function = ir.Function(module, signature, f"einderive_{kind}")
    builder = ir.IRBuilder(function.append_basic_block())
    own, given, count = function.args
    first = 1 if kind == "together" else 0
    data = builder.alloca(_WHOLE, count)
    room = builder.ptrtoint(builder.alloca(_WHOLE, ROOM), _WHOLE)
    nothing = _WHOLE(id(None))
    start, before = builder.append_basic_block(), builder.block
    more, done = builder.append_basic_block(), builder.append_basic_block()
    builder.branch(start)
    builder.position_at_end(start)
    place = builder.phi(_WHOLE)
    place.add_incoming(_WHOLE(first), before)
    builder.cbranch(builder.icmp_signed("<", place, count), more, done)
    builder.position_at_end(more)
    one = builder.load(builder.gep(given, [place]))
    target = builder.gep(data, [builder.sub(place, _WHOLE(first))])
    builder.store(room, target)
    is_none = builder.icmp_unsigned("==", builder.ptrtoint(one, _WHOLE), nothing)
    with builder.if_then(builder.not_(is_none)):
        builder.store(_python(builder, "PyLong_AsLongLong", _WHOLE, [one]), target)
    place.add_incoming(builder.add(place, _WHOLE(1)), builder.block)
    builder.branch(start)
    builder.position_at_end(done)
    code = _python(builder, "PyLong_AsLongLong", _WHOLE, [own])
    _run(builder, kind, code, data, given)
    builder.ret(_python(builder, "PyLong_FromLong", _OBJECT, [_LONG(0)]))


def _run(builder: Any, kind: str, code: Any, data: Any, given: Any) -> None:
    """The kernel: by this thread alone, or by as many as the first argument says."""
    if kind == "held":
        kernel = ir.FunctionType(_NOTHING, [_ADDRESSES]).as_pointer()
        builder.call(builder.inttoptr(code, kernel), [data])
        return
    if kind == "together":
        number = _python(builder, "PyLong_AsLongLong", _WHOLE, [builder.load(given)])
    state = _python(builder, "PyEval_SaveThread", _OBJECT, [])
    if kind == "together":
        number = builder.trunc(number, _INT)
        kinds = [_WHOLE, _ADDRESSES, _INT, _INT]
        start = _at(builder, threads.parallel(), _NOTHING, kinds)
        builder.call(start, [code, data, number, _INT(0)])
    else:
        kernel = ir.FunctionType(_NOTHING, [_ADDRESSES]).as_pointer()
        builder.call(builder.inttoptr(code, kernel), [data])
    _python(builder, "PyEval_RestoreThread", _NOTHING, [state])


def _python(builder: Any, name: str, result: Any, given: Sequence[Any]) -> Any:
    """A call of Python's own function of this name."""
    function = getattr(ctypes.pythonapi, name)
    return builder.call(_at(builder, function, result, [value.type for value in given]), given)


def _at(builder: Any, function: Any, result: Any, kinds: Sequence[Any]) -> Any:
    """A function of this process by its address."""
    address = ctypes.cast(function, ctypes.c_void_p).value
    return builder.inttoptr(_WHOLE(address), ir.FunctionType(result, kinds).as_pointer())
