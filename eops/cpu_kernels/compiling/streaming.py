"""Streaming stores: lines of large results go to memory without being read from there before.

    store <16 x float> %v, ptr %p      ->      aligned(%p) ? store nontemporal : store

A usual store reads its line into the cache first.  So for each line of its result, an addition of
arrays that no cache holds moves four lines between memory and cache; with streaming stores
(non-temporal in Intel's manual, volume 1, 10.4.6.2) it moves three.  The result is then in no
cache, so these stores are for results that are larger than a cache.

LLVM has vectors only after it has vectorised the loops, and it may have moved where these begin: a
streaming store to an address that is no multiple of its size would end the process.  So each store
of a vector asks for its address.  At the end, a fence orders the stores before all that follows.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from typing import Final

from einderive.eops.cpu_kernels.words.machine import OWN

STREAMED: Final = "kernel_streamed_"
"""The names of kernels with streaming stores begin so."""
HALVES: Final = ("half", "bfloat")
BITS: Final = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
WIDTHS: Final = (32, 64)
"""The bytes of vectors that are streamed: half a line, or a whole one."""
STORE: Final = re.compile(
    r"^  store <(\d+) x (\w+)> (%[\w.]+|%\"[^\"]+\"), ptr (%[\w.]+|%\"[^\"]+\"), align \d+"
    r".*!noalias !(\d+).*$",
    re.MULTILINE,
)
FETCH: Final = re.compile(r"^ .*call void @llvm\.prefetch\..*$\n", re.MULTILINE)
MARK: Final = re.compile(rf'^!(\d+) = (?:distinct )?!{{!"{OWN}", .*}}$', re.MULTILINE)
LIST: Final = re.compile(r"^!(\d+) = !\{(!\d+(?:, !\d+)*)\}$", re.MULTILINE)
RETURN: Final = re.compile(r"^  ret void$", re.MULTILINE)
NUMBER: Final = re.compile(r"^!(\d+) = ", re.MULTILINE)
FENCE: Final = "llvm.x86.sse.sfence"


def possible() -> bool:
    """Whether the processor has such stores under the names that are used here."""
    return platform.machine() in ("x86_64", "AMD64")


def streamed(text: str, features: str) -> str:
    """The module of one kernel with such stores of vectors to its results; `features` are those of
    the processor, as LLVM lists them.  Their lines are not fetched before."""
    register = _register(features.split(","))
    kinds: set[tuple[int, str]] = set()
    text = FETCH.sub("", text)
    results = _of_results(text)

    def call(found: re.Match[str]) -> str:
        count, element = int(found[1]), found[2]
        width = count * _bits(element) // 8
        if width not in WIDTHS or (element in HALVES and width > register):
            return found[0]
        if found[5] not in results:
            return found[0]
        kinds.add((count, element))
        value = f"<{count} x {element}> {found[3]}"
        return f"  call void @{_name(count, element)}({value}, ptr {found[4]})"

    text = STORE.sub(call, text)
    text = RETURN.sub(f"  call void @{FENCE}()\n  ret void", text)
    mark = 1 + max((int(found[1]) for found in NUMBER.finditer(text)), default=-1)
    bodies = [_body(count, element, mark) for count, element in sorted(kinds)]
    return "\n".join((text, *bodies, f"declare void @{FENCE}()", f"!{mark} = !{{i32 1}}", ""))


def _of_results(text: str) -> set[str]:
    """The numbers of the marks of stores to results."""
    own = {f"!{found[1]}" for found in MARK.finditer(text)}
    return {found[1] for found in LIST.finditer(text) if own & {*found[2].split(", ")}}


def _register(features: Sequence[str]) -> int:
    """The bytes of the widest register for vectors."""
    return 64 if "+avx512f" in features else 32 if "+avx" in features else 16


def _bits(element: str) -> int:
    return BITS.get(element) or (int(element[1:]) if element[1:].isdigit() else 0)


def _name(count: int, element: str) -> str:
    return f"einderive_stream_{count}_{element}"


def _body(count: int, element: str, mark: int) -> str:
    """The function that stores a vector.  Vectors of half types, which few processors have, are
    stored as integers in one register, since LLVM would store them in parts."""
    width, kind = count * _bits(element) // 8, f"<{count} x {element}>"
    whole, kept = (kind, "%v"), ""
    if element in HALVES:
        whole = f"<{width // 8} x i64>", "%hidden"
        kept = f"""
  %bits = bitcast {kind} %v to {whole[0]}
  %hidden = call {whole[0]} asm "", "=x,0"({whole[0]} %bits)"""
    return f"""
define internal void @{_name(count, element)}({kind} %v, ptr %p) alwaysinline nounwind {{
  %address = ptrtoint ptr %p to i64
  %rest = and i64 %address, {width - 1}
  %aligned = icmp eq i64 %rest, 0
  br i1 %aligned, label %stream, label %usual
stream:{kept}
  store {whole[0]} {whole[1]}, ptr %p, align {width}, !nontemporal !{mark}
  ret void
usual:
  store {kind} %v, ptr %p, align {_bits(element) // 8 or 1}
  ret void
}}"""
