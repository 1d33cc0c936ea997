"""The text of a pass that fills a window, the part of a stage that later passes still read.

Below, the window holds three rows of 301 values, and row i2 is stored at i2 % 3.

i2 = i0 + 1
if max(0, origin - 1) <= i2 < 200:
    for i3 in range(max(low - 1, 0), min(high, 300)):
        ...
        store(w0, i2 % 3 * 301 + (i3 - low + 1), v11)
"""

from __future__ import annotations

from einderive.eops.cpu_kernels.passes import Pass
from einderive.eops.cpu_kernels.writing import Writer
from einderive.eops.loops.plan import Phase


class WindowPass(Pass):
    """The text of one such pass.  Names that it defines before its loops are valid for one step of
    the window only."""

    def __init__(self, kernel: Writer, number: int, phase: Phase) -> None:
        super().__init__(kernel, number, phase)
        assert phase.window is not None
        self.place, self.window = phase.window, self.plan.windows[phase.window]
        self.rows = True

    def write(self) -> None:
        window, known = self.window, set(self.kernel.known)
        depth = self.text.depth
        if window.step is not None:
            (lo, hi), name = self.plan.domain[window.step], f"i{window.step}"
            if window.step != self.plan.along:
                self.text.add(f"{name} = i{self.plan.along} + {window.lead}")
            self.text.open(f"if max({lo}, origin + {window.first}) <= {name} < {hi}:")
        super().write()
        self.text.depth = depth
        self.kernel.known = known

    def _range(self, i: int) -> tuple[str, str]:
        side = self.window.beside
        if side is None or i != self.window.inner:
            return super()._range(i)
        lo, hi = self.plan.domain[i]
        return f"max(low + {side.lo}, {lo})", f"min(high + {side.hi}, {hi})"

    def _stores(self) -> None:
        window = self.window
        where = self.kernel.place(self.place, window.rows)
        self.text.add(f"store({where}, {self.kernel.name(window.value)})")
