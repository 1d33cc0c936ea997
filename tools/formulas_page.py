"""The page of formulas by field, each beside its line of NumPy or torch."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.frontend.formulas import FIELDS, Formula

REMARK = """\
This page is generated from the files of `frontend/formulas` by `python -m tools.docs_pages`.

Each formula is written as a user would first write it, with the line of NumPy or torch that
computes the same. The tests evaluate, derive and print each of them at a tiny size, and compare
with the line. `einderive bench never-slower` compares their times at a full size. Lines with
`torch.` or `F.`, which is `torch.nn.functional`, are given tensors, and the others arrays."""


def formulas_page() -> str:
    lines = ["# Formulas", "", REMARK]
    for field, formulas in FIELDS.items():
        lines += ["", f"## {field}"]
        for formula in formulas:
            lines += ["", *_entry(formula)]
    return "\n".join(lines) + "\n"


def _entry(formula: Formula) -> Iterator[str]:
    yield f"**{formula.name}** ({formula.source}), with {formula.operands}."
    yield from ("", "```text", formula.text, "```")
    yield from ("```{code-block} python", formula.line, "```")
