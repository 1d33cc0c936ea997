"""Mutants of Triton's emitters that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

ACCESS, DOT, LOOPS, ROWS, SCALAR = (
    f"einderive.eops.triton_kernels.emit_{name}"
    for name in ("access", "dot", "loops", "rows", "scalar")
)
CONTRACTION, PLANS, PRODUCTS, ROW_PLANS = (
    f"einderive.eops.triton_kernels.{name}" for name in ("contraction", "plan", "products", "rows")
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
        "f' + {self.row_axis.zero}'",
        ("f' - {self.row_axis.zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        SCALAR,
        "BodyWriter._select",
        "f' + {axes[0].zero}'",
        ("f' - {axes[0].zero}'",),
        "a block of zeros is subtracted",
    ),
    (
        ROWS,
        "_Writer._pass",
        "any((plan.domain[i].extent > 1 for i in plan.outputs[k].own))",
        ("any((plan.domain[i].extent > 1 + 1 for i in plan.outputs[k].own))",),
        "rows of loops of two places fill their lanes",
    ),
    (
        ROWS,
        "_Writer._spread",
        "any((used & positions for positions in lanes))",
        ("True",),
        ALL_LANES,
    ),
    (
        ROWS,
        "_Writer._operation",
        "all((isinstance(self.plan.values[arg], Constant) for arg in args))",
        ("True",),
        "the same number, in the type of the kernel",
    ),
    (
        ROWS,
        "_Writer._operation",
        "isinstance(self.plan.values[args[0]], Constant)",
        ("True",),
        "other values have one name",
    ),
    (
        ROWS,
        "_Writer._load",
        "axes",
        (
            "True",
            "False",
        ),
        ALL_LANES,
    ),
    (LOOPS, "decode", "lo < 0", ("lo <= 0",), "a start of 0 is not added"),
    (
        LOOPS,
        "_nested",
        "not sums or empty",
        ("not sums",),
        "short way: a loop without steps leaves the identity",
    ),
    (ACCESS, "row_text", "row.const < 0", ("row.const <= 0",), "a constant of 0 is not added"),
    (ACCESS, "_floor_text", "low < 0", ("low <= 0",), "raised by nothing"),
    (ACCESS, "bare", "text.startswith('-')", ("False",), "parentheses around a number"),
    (
        ACCESS,
        "guarded",
        "isinf(fill) and element in ('float32', 'float64')",
        ("element in ('float32', 'float64')",),
        "the load itself gives the fill where a guard fails",
    ),
    (ACCESS, "guarded", "compute == 'float64'", ("True",), "converted to the type that it has"),
    (SCALAR, "BodyWriter._select", "alone", ("False",), "tl.where spreads a scalar condition"),
    (
        SCALAR,
        "BodyWriter._named",
        "isinstance(node, Const)",
        ("False",),
        "a literal at each place, instead of a name",
    ),
    (CONTRACTION, "contraction", "inner != 1", ("True",), "multiplied by 1"),
    (
        CONTRACTION,
        "contraction",
        "not isinstance(core, Mul) or not 2 <= len(core.factors) <= MOST_FACTORS",
        ("not isinstance(core, Mul) or not len(core.factors) <= MOST_FACTORS",),
        "a product has two factors",
    ),
    (
        CONTRACTION,
        "_roles",
        "sorted(in_left - in_right)",
        ("list(in_left - in_right)",),
        "a set of small numbers is in order",
    ),
    (
        ROW_PLANS,
        "row_plan",
        "along != own and (along or isinstance(end, Reduction))",
        ("along != own and along",),
        "a reduction of one term is that term",
    ),
    (
        ROW_PLANS,
        "_has_triton",
        "value.word == value.kind or bool(FUNCTIONS[value.word].triton)",
        (
            "True",
            "not isinstance(value, Position | Within)",
        ),
        "every function has a text for Triton, and no operation is a position",
    ),
    (
        PLANS,
        "Plan.half",
        "''",
        ("kinds.pop() if len(kinds) == 1 else ''",),
        "asked of products only",
    ),
    (
        PLANS,
        "plan",
        "any((r.extent == 0 for r in scope.domain))",
        ("all((r.extent == 0 for r in scope.domain))",),
        "where a range is empty nothing is read, whatever the guards are",
    ),
    (
        PLANS,
        "_load",
        "1",
        ("0",),
        "where a range is empty nothing is read, whatever the guards are",
    ),
    (
        PLANS,
        "_load",
        "local.floors and (low < 0 or high >= bound.extent)",
        ("local.floors and (low < 0 - 1 or high >= bound.extent)",),
        "short way: a guard more, which holds everywhere",
    ),
    (
        PRODUCTS,
        "product_plan",
        "last is product or any((stage.empty for stage in group.stages))",
        ("last is product",),
        "no range of large matrices is empty, nor of what is read in place",
    ),
    (
        PRODUCTS,
        "product_plan",
        "compute is None or first is None or after is None or (last.loops != product.loops)",
        ("first is None or after is None or last.loops != product.loops",),
        "short way: the plan has a type, which is not None",
    ),
    (
        PRODUCTS,
        "_computed",
        "isinstance(source, Scope) and source in inside",
        ("source in inside",),
        "told to the type checker: what lies inside is a stage",
    ),
)
