"""Mutants of the emitters of compiled loops that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

EMIT, NUMBERS, PASSES, POINTS, TOTALS, WINDOWS, WRITING = (
    f"einderive.eops.cpu_kernels.{name}"
    for name in ("emit", "numbers", "passes", "points", "totals", "windows", "writing")
)
ACROSS, ALONG = (f"einderive.eops.cpu_kernels.products.{name}" for name in ("across", "along"))
EXPRESSIONS, FUNCTION, OPERATIONS = (
    f"einderive.eops.cpu_kernels.lowering.{name}"
    for name in ("expressions", "function", "operations")
)
WRITER = "einderive.eops.cpu_kernels.products.writer"
SCATTER = "einderive.eops.cpu_kernels.scatter"

LISTED: tuple[Entry, ...] = (
    (
        EMIT,
        "Emitter.source",
        "i not in looped",
        ("True",),
        "a loop gives its iterator another value before it is read",
    ),
    (
        EMIT,
        "Emitter._decode",
        "place == len(plan.parallel)",
        ("False",),
        "short way: what is left is less than the extent",
    ),
    (NUMBERS, "Numbers.whole", "value < 0", ("value < 0 - 1",), "small numbers stay in the text"),
    (EMIT, "Emitter._decode", "lo", ("True",), "0 is added"),
    (EMIT, "Emitter._advance", "self.plan.ahead", ("True",), "0 is taken away"),
    (
        TOTALS,
        "Totals._run_of",
        "self.phase.loops",
        ("True",),
        "a pass without loops has no totals of steps",
    ),
    (
        TOTALS,
        "Totals._run_of",
        "self.phase.loops",
        ("False",),
        "short way: runs of one step are slower",
    ),
    (
        TOTALS,
        "Totals._high",
        "more",
        ("True",),
        "0 is added",
    ),
    (
        TOTALS,
        "Totals._several",
        "self._run_of > 1",
        (
            "False",
            "self._run_of > 1 + 1",
        ),
        "short way: runs of one step are slower",
    ),
    (
        TOTALS,
        "Totals._jammed",
        "self.plan.together or self._run_of > 1",
        (
            "True",
            "self.plan.together or self._run_of >= 1",
        ),
        "the same number, as text",
    ),
    (
        TOTALS,
        "Totals._end",
        "self._run_of > 1 and found",
        ("self._run_of > 1",),
        "of no totals no line is written",
    ),
    (
        TOTALS,
        "Totals._end",
        "self.plan.abreast > 1 and later",
        ("self.plan.abreast > 1",),
        "copies that no pass reads",
    ),
    (
        TOTALS,
        "Totals._end",
        "self.number + 1",
        ("self.number",),
        "copies that no pass reads",
    ),
    (
        TOTALS,
        "Totals._end",
        "one is not None and one.output is None",
        ("one.output is None",),
        "told to the type checker: what a pass keeps has a place",
    ),
    (
        TOTALS,
        "Totals._several",
        "self.phase.jam > 1",
        ("False", "self.phase.jam > 1 + 1"),
        "short way: several steps at once are done one after the other",
    ),
    (PASSES, "Pass._range", "lo", ("True",), "0 is added"),
    (
        PASSES,
        "Pass._bounds",
        "step > 0",
        ("step >= 0",),
        "a row that follows the loop has a step",
    ),
    (
        POINTS,
        "Points._combined",
        "REDUCERS[made.reducer].order",
        ("True", "False"),
        "told to the compiler only: a number of float32 becomes one of float64, or stays",
    ),
    (
        EMIT,
        "Emitter.source",
        "text.add('wide_vectors()')",
        ("pass",),
        "told to the compiler only",
    ),
    (
        TOTALS,
        "Totals._jammed",
        "f'for b{i} in range({lo}, {rest}, {by}):'",
        ("f'for b{i} in range({lo}, ({rest} - 1), {by}):'",),
        "the last steps begin several before the rest",
    ),
    (
        PASSES,
        "Pass._bounds",
        "f'stop = min(stop, ({bound}) // {self._whole(-step, of_row(row))} + 1)'",
        ("f'stop = min(stop, ({bound}) // {self._whole(-step, of_row(row))})'",),
        "short way: one place more is checked, where nothing misses",
    ),
    (
        PASSES,
        "Pass._one_quotient",
        "f'({step} * ({high} - 1) + {rest}) // {by}'",
        ("f'({step} * ({high}) + {rest}) // {by}'",),
        "short way: one quotient more, that of no step",
    ),
    (
        PASSES,
        "Pass._one_quotient",
        "f'for {q} in range({least}, {most} + 1):'",
        (
            "f'for {q} in range(({least} - 1), {most} + 1):'",
            "f'for {q} in range({least}, ({most} + 1) + 1):'",
        ),
        "short way: one quotient more, that of no step",
    ),
    (EMIT, "Emitter._decode", "steps > 1", ("True", "steps >= 1"), "multiplied by 1"),
    (
        PASSES,
        "Pass._cut",
        "p not in self.again and self._at(p)",
        ("p not in self.again",),
        "what is computed outside of the loop has no quotients of its iterator",
    ),
    (
        POINTS,
        "Points._expression",
        "kind == NARROW",
        ("True",),
        "converted to the type that it has",
    ),
    (
        POINTS,
        "Points._expression",
        "kind == NARROW and own != word",
        ("kind == NARROW",),
        "converted to the type that it has",
    ),
    (
        POINTS,
        "Points._expression",
        "not (border and self._inside(c.row, checked))",
        ("True",),
        "short way: a condition more, which holds everywhere",
    ),
    (
        WRITING,
        "Writer.within",
        "kind == 'int64'",
        ("False",),
        "short way: an integer equals its floor",
    ),
    (
        WINDOWS,
        "WindowPass._range",
        "side is None or i != self.window.inner",
        ("i != self.window.inner",),
        "told to the type checker: no iterator is that of no side",
    ),
    (
        WRITING,
        "Writer.place",
        "window.moving is not None and window.depth > 1",
        ("window.depth > 1",),
        "told to the type checker: only a window that moves has several",
    ),
    (
        SCATTER,
        "by_loop",
        "few and source.is_floating_point() and (not REDUCERS[stage.reducer].order)",
        ("source.is_floating_point() and (not REDUCERS[stage.reducer].order)",),
        "totals in float64 are as right, and take more memory",
    ),
    (
        SCATTER,
        "by_loop",
        "rows * stage.width * FEW",
        ("FEW",),
        "totals in float64 are as right, and take more memory",
    ),
    (SCATTER, "_names", "whole", ("False",), "the same type, by its name"),
    (
        ALONG,
        "Along.__init__",
        "max(1, TOTALS // columns)",
        ("min(1, TOTALS // columns)",),
        "any number of rows at once is right",
    ),
    (ALONG, "Along.__init__", "1", ("0",), "any number of rows at once is right"),
    (
        ALONG,
        "Along.__init__",
        "TOTALS // columns",
        ("TOTALS % columns",),
        "any number of rows at once is right",
    ),
    (ALONG, "Along.rows", "PART * self.lanes", ("PART",), "shorter parts are as right"),
    (
        ACROSS,
        "Across.__init__",
        "n >= columns",
        ("False",),
        "longer vectors are as right: lanes beyond the columns are masked",
    ),
    (ACROSS, "Across.__init__", "-1", ("1",), "shorter vectors, and more of them, are as right"),
    (EXPRESSIONS, "Expressions.comparison", "found[1:]", ("found",), "a truth and itself"),
    (
        EXPRESSIONS,
        "Expressions.connected",
        "text.values[1:]",
        ("text.values",),
        "a truth and itself",
    ),
    (
        FUNCTION,
        "Module._written",
        "not guess",
        ("True",),
        "the function of the guess before is deleted, and its name is free",
    ),
    (
        OPERATIONS,
        "common",
        "any((kind in (BOOL,) or kind.signed for kind in (one, other)))",
        ("all((kind in (BOOL,) or kind.signed for kind in (one, other)))",),
        "left to numba, which gives the same",
    ),
    (
        WRITER,
        "Writer.__init__",
        'set.add(self.function.attributes, \'"prefer-vector-width"="512"\')',
        ("pass",),
        "told to the compiler only",
    ),
    (WRITER, "Writer.suffix", "8", ("9",), "LLVM names its functions anew by their types"),
    (WRITER, "Writer.load", "8", ("7",), "LLVM names its functions anew by their types"),
)
