"""Memory of a kernel's own, and lines of memory that are fetched, as LLVM has them."""

from __future__ import annotations

from einderive.eops.cpu_kernels.compiling.made import written
from einderive.eops.cpu_kernels.words import machine

SPACE = {
    "source": machine.pointer("float32"),
    "room": machine.scratch("float32", 100),
    "load": machine.load,
    "store": machine.store,
    "prefetch": machine.prefetch,
}


def test_memory_of_its_own_begins_with_a_line() -> None:
    text = """
def kernel_room(data):
    p = source(data, 0)
    o = source(data, 1)
    k = room()
    for i in range(0, 100):
        store(k, i, load(p, i))
    for i in range(0, 100):
        store(o, i, load(k, 99 - i))
"""
    made = written(text, SPACE).library.get_llvm_str()
    assert f"alloca float, i32 100, align {machine.LINE}" in made or (
        f"alloca [100 x float], align {machine.LINE}" in made
    )


def test_a_line_is_fetched_to_be_written() -> None:
    text = """
def kernel_fetch(data):
    p = source(data, 0)
    for i in range(0, 1000, 16):
        prefetch(p, i)
"""
    library, symbol = written(text, SPACE)
    made = library.get_llvm_str()
    assert symbol == "kernel_fetch"
    assert "i32 1, i32 3, i32 1)" in made  # to write, near, data
