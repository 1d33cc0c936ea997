"""Mutants of Triton's emitters that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

ACCESS, DOT, LOOPS, ROWS, SCALAR = (
    f"einderive.eops.triton_kernels.emit_{name}"
    for name in ("access", "dot", "loops", "rows", "scalar")
)
ALL_LANES = "a row without an iterator of the lanes is constant there, and what it decides is known"

LISTED: tuple[Entry, ...] = (
    (
        ACCESS,
        "load_text",
        "f' + {axis.zero}'",
        ("f' - {axis.zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        ACCESS,
        "load_text",
        "f' + {axes[0].zero}'",
        ("f' - {axes[0].zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        DOT,
        "_Writer.lines",
        "f'for start in range(0, {k}, BLOCK_K):'",
        ("f'for start in range(0, ({k} + 1), BLOCK_K):'",),
        "the lanes of one more step are all dead",
    ),
    (ACCESS, "row_text", "row.const", ("True",), "0 is added"),
    (ACCESS, "row_text", "factor < 0", ("factor <= 0",), "no term of a row has the factor 0"),
    (
        ACCESS,
        "_floor_text",
        "low < 0",
        ("True",),
        "short way: it is lowered to where it is not negative either",
    ),
    (ACCESS, "bare", "text.startswith('-')", ("True",), "parentheses around a number"),
    (ROWS, "_Writer.kernel", "plan.whole", ("True",), "places that each chunk gives anew"),
    (LOOPS, "decode", "lo >= 0", ("lo >= 0 - 1",), "parentheses around a number"),
    (LOOPS, "flat_kernel", "'0 * index[:, None]'", ("'0 + index[:, None]'",), ALL_LANES),
    (LOOPS, "flat_kernel", "'0 * index_r[None, :]'", ("'0 + index_r[None, :]'",), ALL_LANES),
    (
        LOOPS,
        "flat_kernel",
        "f'for start in range(0, {terms}, BLOCK_R):'",
        ("f'for start in range(0, ({terms} + 1), BLOCK_R):'",),
        "the lanes of one more step are all dead",
    ),
    (ROWS, "_Writer.__init__", "'0 * row[:, None]'", ("'0 + row[:, None]'",), ALL_LANES),
    (ROWS, "_Writer.__init__", "'0 * place[None, :]'", ("'0 + place[None, :]'",), ALL_LANES),
    (
        ROWS,
        "_Writer._pass",
        "f'for start in range(0, {self.length}, BLOCK_R):'",
        ("f'for start in range(0, ({self.length} + 1), BLOCK_R):'",),
        "the lanes of one more step are all dead",
    ),
    (
        ROWS,
        "_Writer._assign",
        "self.known.add(place)",
        ("pass",),
        "short way: it is computed once more",
    ),
    (
        ROWS,
        "_Writer._spread",
        "f' + {self.row_axis.zero}'",
        ("f' - {self.row_axis.zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        ROWS,
        "_Writer._store",
        "f' + {each.zero}'",
        ("f' - {each.zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        SCALAR,
        "BodyWriter._select",
        "f' + {axes[0].zero}'",
        ("f' - {axes[0].zero}'",),
        "a block of zeros is subtracted",
    ),
)
