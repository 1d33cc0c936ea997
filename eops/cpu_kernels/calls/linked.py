"""Kernels on disk as functions of tensors, by llvmlite alone: numba, which compiled them, takes a
quarter of a second to load.

    loops(file, digest, ...)(a, b)      the kernel of the file, if its content has this digest

A kernel's file holds a line of JSON, its machine code, and what numba wants to know of it.  The
machine code is linked with this process's own functions.  LLVM ends the process where one is
missing, so the line says which ones are needed, and each is looked up before.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from struct import iter_unpack, unpack_from
from typing import Any, Final, NamedTuple

import torch
from llvmlite import binding

from einderive.eops.cache_folder import cache_folder, theirs
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.launch import Launch, Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.threads import openmp

LONGEST_HEAD: Final = 1 << 14
_NUMBER = ctypes.CFUNCTYPE(ctypes.c_int)
ALONE: Final = {
    "einderive_GOMP_barrier": _NUMBER(lambda: 0),
    "einderive_omp_get_thread_num": _NUMBER(lambda: 0),
    "einderive_omp_get_num_threads": _NUMBER(lambda: 1),
}
"""The functions of OpenMP that kernels call: a barrier, the number of the running thread, and the
number of threads.  These versions are for a kernel that one thread runs alone."""
UNREACHED: Final = ("numba_gil_ensure", "numba_gil_release")
"""Functions that numba's wrapper of a kernel calls after the kernel raised an error.  Kernels raise
no errors."""
_ELF: Final = b"\x7fELF\x02\x01"
_SYMBOLS: Final = 2
"""The kind of an ELF section that lists symbols."""


class Unlinkable(LookupError):
    """A kernel that is not there, is another one, or needs more than this process has."""


class Content(NamedTuple):
    """A kernel's file: `symbol` is the name of its function, `library` numba's name of the whole,
    `needs` the functions that it calls (None if they are not known)."""

    symbol: str
    library: str
    needs: tuple[str, ...] | None
    machine: bytes
    bitcode: bytes

    def text(self) -> bytes:
        body = self.machine + self.bitcode
        said = {
            "symbol": self.symbol,
            "library": self.library,
            "needs": self.needs,
            "size": len(self.machine),
            "body": hashlib.sha256(body).hexdigest(),
        }
        return json.dumps(said).encode() + b"\n" + body


def folder() -> Path | None:
    """The folder of kept kernels; None if they are not kept, or if others may write there."""
    place = cache_folder()
    kernels = None if place is None else place / "kernels"
    return None if kernels is None or theirs(kernels) else kernels


def content(data: bytes) -> Content:
    """The content of a file.  Raises ValueError or LookupError where it is damaged."""
    head, _, _ = data[:LONGEST_HEAD].partition(b"\n")
    said, body = json.loads(head), data[len(head) + 1 :]
    if hashlib.sha256(body).hexdigest() != said["body"]:
        raise ValueError("another body than the line says")
    needs = None if said["needs"] is None else tuple(said["needs"])
    size = said["size"]
    return Content(said["symbol"], said["library"], needs, body[:size], body[size:])


def needs_of(machine: bytes) -> tuple[str, ...] | None:
    """The functions that an object file does not define itself; None where it is not of the kind
    that is read here (64-bit ELF)."""
    if not machine.startswith(_ELF):
        return None
    (start,) = unpack_from("<Q", machine, 0x28)
    size, count = unpack_from("<HH", machine, 0x3A)
    sections = [unpack_from("<IIQQQQIIQQ", machine, start + k * size) for k in range(count)]
    found: list[str] = []
    for section in sections:
        if section[1] == _SYMBOLS:
            names = sections[section[6]][4]
            found += _undefined(machine[section[4] : section[4] + section[5]], machine, names)
    return tuple(found)


def _undefined(table: bytes, machine: bytes, names: int) -> Iterator[str]:
    for name, _, _, section, _, _ in iter_unpack("<IBBHQQ", table):
        if name and not section:
            place = names + name
            yield machine[place : machine.index(b"\0", place)].decode()


def digest_of(file: str) -> str:
    """The digest of a kernel's file.  Raises Unlinkable where it is not there, or where it cannot
    be linked without numba."""
    data = _read(file)
    try:
        needs = content(data).needs
    except (ValueError, LookupError):
        raise Unlinkable(f"{file} is damaged") from None
    if needs is None:
        raise Unlinkable(f"{file} is no object file that is read here")
    return hashlib.sha256(data).hexdigest()


def kept_as(file: str, told: Sequence[object]) -> tuple[object, ...] | None:
    """The file and its digest before what `loops` is told besides.  None where the kernel is not on
    disk, or not such that it does without numba."""
    try:
        return (file, digest_of(file), *told)
    except Unlinkable:
        return None


def loops(
    file: str,
    digest: str,
    work: float,
    several: bool,
    most: int,
    operands: int,
    results: Sequence[tuple[tuple[int, ...], str]],
    team: int,
    numbers: Sequence[int],
    stream: tuple[str, str, Sequence[int]] | None = None,
) -> Launch:
    """The kernel of a file as a function of tensors (`entry`, `launch`), with the file and digest
    of its form with streaming stores and the places of large results (`Forms`), if this form is the
    faster one.  Raises Unlinkable."""
    enter = partial(entry, work=work, several=several, most=most)
    run = enter(linked(file, digest))
    if stream is not None:
        from einderive.eops.cpu_kernels.calls.forms import Forms  # few programs need it

        code = linked(*stream[:2])
        run = Forms(run, lambda: (code, enter(code)), stream[2], chosen=True)
    made = tuple(Result(tuple(shape), getattr(torch, dtype)) for shape, dtype in results)
    return launcher(Launched(run, operands, made, team, tuple(numbers)))


@cache
def linked(file: str, digest: str) -> Code:
    """The machine code of a file with this digest.  Raises Unlinkable."""
    data = _read(file)
    if hashlib.sha256(data).hexdigest() != digest:
        raise Unlinkable(f"{file} is another one")
    found = content(data)
    prepare()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine: Any = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    if found.needs is None or not all(map(_known, found.needs)):  # engines make symbols known
        raise Unlinkable(f"{file} needs what is not there")
    engine.add_object_file(binding.ObjectFileRef.from_data(found.machine))
    engine.finalize_object()
    return Code(engine.get_function_address(found.symbol), engine, file)


def _read(file: str) -> bytes:
    place = folder()
    if place is None:
        raise Unlinkable("no kernels are kept")
    try:
        data = (place / file).read_bytes()
    except OSError:
        raise Unlinkable(f"{file} is not there") from None
    with suppress(OSError):
        os.utime(place / file)
    return data


def _known(name: str) -> bool:
    if binding.address_of_symbol(name) is None and name in UNREACHED:
        # numba, if it is loaded later, puts its own in this place
        binding.add_symbol(name, ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value)
    return binding.address_of_symbol(name) is not None


@cache
def prepare() -> None:
    """Gives the functions of `ALONE` addresses under names that kernels are linked with."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    library = openmp()
    for name, alone in ALONE.items():
        function = alone if library is None else getattr(library, name.removeprefix("einderive_"))
        binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
