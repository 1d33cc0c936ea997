"""What is saved is read back and checks: every candidate, whatever names and tensors there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.ta.errors import RecordError
from tests.amount import one_in, sampled

BUDGET = ed.Budget(states=60)
M, N, V, W = (4, 3), (5, 3), (3,), (4,)
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    # two iterators in one dimension of a tensor
    ("Y[i,j] = (A[i,k]-B[m,k])*(A[i,k]-B[j,k])", {"A": M, "B": N}),
    ("Y[i,j] = A[i,k]*A[j,k]", {"A": M}),
    ("Y[i] = A[i,k]*A[j,k]*A[j,l]*x[l]", {"A": M, "x": V}),
    ("Y[i,j] = (A[i,k]-A[j,k])^2", {"A": M}),
    ("Y[i] = A[i,k]*(B[m,k] + B[n,k])", {"A": M, "B": N}),
    ("T[a] = A[a,b]*x[b]; Y[c,d] = T[c]*T[d]*A[c,e]*A[d,e]", {"A": M, "x": V}),
    ("Y[i,j] = A[i,j]*A[j,i]*B[j,k]*B[i,k]", {"A": (4, 4), "B": M}),
    ("Y[i] = x[i]*x[j]*x[k]*A[j,k]", {"x": V, "A": (3, 3)}),
    ("Y[i,m] = A[i,k]*B[m,k] + A[m,k]*B[i,k]", {"A": M, "B": M}),
    # outputs and statements named like iterators
    ("k = A[i,k]*x[k]", {"A": M, "x": V}),
    ("i[k] = A[j,i]*B[k,i]*x[i]", {"A": M, "B": N, "x": V}),
    ("j[i] = A[i,k]*B[j,k]", {"A": M, "B": N}),
    ("k[i] = A[i,j]*x[j]; Y[j] = k[i]*A[i,j]", {"A": M, "x": V}),
    ("m[i] = max[j](A[i,j]); Y[j] = A[i,j]*m[i]", {"A": M}),
    ("T1[i,j] = A[i,k]*B[j,k]; T2[i] = T1[i,j]*y[j]", {"A": M, "B": N, "y": (5,)}),
    ("x[i] = A[i,k]*B[m,k]*B[m,l]; y[k] = A[i,k]*x[i]", {"A": M, "B": N}),
    # inputs of which nothing is left, at once or by some step
    ("Y[i] = w[i] + 0*B[i]", {"w": W, "B": W}),
    ("Y[i] = w[i] + B[i]*C[9]", {"w": W, "B": W, "C": V}),
    ("Y[i] = 0*B[i] + w[i]*w[j]", {"B": W, "w": W}),
    ("Y[i] = A[i,k]*x[k] + 0*z[i] + 0*s[k]", {"s": V, "A": M, "z": W, "x": V}),
    ("Y[i] = B[i]^0 + A[i,k]*x[k]", {"A": M, "x": V, "B": W}),
    ("Y[i] = A[i,k]*(x[k] - x[k] + z[k])", {"A": M, "x": V, "z": V}),
    ("T[i] = w[i] + 0*B[i]; Y[i] = T[i]*A[i,k]*A[j,k]", {"w": W, "B": W, "A": M}),
    ("Y[i] = s*0 + w[i]", {"s": (), "w": W}),
    ("Y[a] = A[a,b]*x[b]*x[c] + 0*i[a]*k[b]*j[b]", {"A": M, "x": V, "i": W, "j": V, "k": V}),
    ("Y[i] = 0*B[i]", {"B": W}),
    # several outputs, equal ones, one that is read on the way to another
    ("Y[i] = A[i,k]*x[k]; Z[j] = A[j,k]*x[k]", {"A": M, "x": V}),
    ("Z[i] = A[i,k]*x[k]; Y[j] = 2*A[j,k]*x[k]; X[i] = A[i,k]*x[k]", {"A": M, "x": V}),
    ("U[i,j] = A[i,k]*B[j,k]; V[i,j] = A[i,k]*C[j,k]", {"A": M, "B": N, "C": N}),
    ("Y[i] = sum[k](A[i,k]); Z[i] = sum[k](A[i,k])*w[i]", {"A": M, "w": W}),
    # a statement that is no output, though nothing is left of the text that reads it
    ("T[i] = w[i]; Y[i] = B[i] + T[i+9] where i in 0:4", {"B": W, "w": W}),
    ("T[i] = A[i,k]*x[k]; Y[i] = w[i]*w[j] + 0*T[i]", {"A": M, "w": W, "x": V}),
    ("T[i] = w[i]; Z[i] = 2*w[i]; Y[i] = B[i]*B[j] + T[i] - T[i]", {"B": W, "w": W}),
    # ranges that do not begin at 0, windows, other reducers, functions, types
    ("Y[i] = A[i,k]*x[k] where i in 1:3", {"A": M, "x": V}),
    ("Y[i] = a[i+r-1]*K[r] where i in 0:9", {"a": (9,), "K": V}),
    ("Y[i] = a[2*i+r-1]*K[r]*K[s]*a[t]*a[t] where i in 0:5", {"a": (9,), "K": V}),
    ("T[i] = a[i-1]+a[i]+a[i+1] where i in 0:9; Y[i] = T[i-2]*T[i+1] where i in 0:9", {"a": (9,)}),
    ("Y[i,j] = max[k](A[i,k] + B[j,k])", {"A": M, "B": N}),
    ("Y[i,j] = exp(A[i,k]-A[j,k])*x[k]", {"A": M, "x": V}),
    ("E[i,k] = exp(A[i,k]); Y[i,k] = E[i,k]/sum[j](E[i,j])", {"A": M}),
    ("Y[i,l] = A[i,k]*B[m,k]*B[m,l]*5", {"A": M, "B": N, "dtypes": "float64"}),
    ("Y[i,j] = A[i,k]*B[k,j]", {"A": M, "B": (3, 5), "dtypes": {"A": "float16", "B": "float16"}}),
    ("Y = w[i]*w[i]*w[j]", {"w": W}),
)  # fmt: skip


def saved(derivation: ed.Derivation, folder: Path) -> Any:
    """The record as plain data; it stands in `d.json`."""
    derivation.save(folder / "d.json")
    return json.loads((folder / "d.json").read_text(encoding="utf-8"))


def loaded(data: Any, folder: Path) -> ed.Derivation:
    (folder / "d.json").write_text(json.dumps(data), encoding="utf-8")
    return ed.load(folder / "d.json")


@sampled(6)
@pytest.mark.parametrize(("text", "options"), one_in(3, CASES))
def test_what_is_saved_checks(text: str, options: dict[str, Any], tmp_path: Path) -> None:
    derivation = ed.derive(text, target="cpu", budget=BUDGET, **options)
    saved(derivation, tmp_path)
    found = ed.load(tmp_path / "d.json")
    assert found.source.inputs == derivation.source.inputs
    assert [s.name for s in found.source.outputs] == [s.name for s in derivation.source.outputs]
    assert found.source.roots() == derivation.source.roots()
    assert len(found.candidates) == len(derivation.candidates)
    for number, plan in enumerate(derivation.candidates):
        assert found.candidates[number].roots == plan.roots
        report = found.check(number)
        assert report, f"candidate {number + 1}: {report}"
    again = saved(found, tmp_path)
    assert loaded(again, tmp_path).check()


STATED = "the steps lead to the program that the record states"
TWO: tuple[str, dict[str, Any]] = (
    "Y[i] = A[i,k]*x[k]\nZ[j] = B[j,k]*x[k]",
    {"A": M, "B": N, "x": V},
)
WRONG: dict[str, str] = {
    "another factor": "Y[i] = 2*A[i,k]*x[k]\nZ[j] = B[j,k]*x[k]",
    "another range": "Y[i] = A[i,k]*x[k] where k in 0:2\nZ[j] = B[j,k]*x[k]",
    "another range of the result": "Y[i] = A[i,k]*x[k] where i in 0:3\nZ[j] = B[j,k]*x[k]",
    "names exchanged": "Z[i] = A[i,k]*x[k]\nY[j] = B[j,k]*x[k]",
    "another order": "Z[j] = B[j,k]*x[k]\nY[i] = A[i,k]*x[k]",
    "defined twice": "Y[i] = A[i,k]*x[k]\nY[i] = A[i,k]*x[k]\nZ[j] = B[j,k]*x[k]",
    "one of another": "Y[i] = A[i,k]*x[k]\nZ[j] = B[j,k]*x[k] + 0*Y[0]",
    "another name": "Y[i] = A[i,k]*x[k]\nX[j] = B[j,k]*x[k]",
    "one left out": "Y[i] = A[i,k]*x[k]",
    "one more": "Y[i] = A[i,k]*x[k]\nZ[j] = B[j,k]*x[k]\nX[i] = x[i]",
    "one more on the way": "T[k] = x[k]\nY[i] = A[i,k]*T[k]\nZ[j] = B[j,k]*x[k]",
    "an input that is computed": "x[k] = 2*A[0,k]\nY[i] = A[i,k]*x[k]\nZ[j] = B[j,k]*x[k]",
    "a tensor that is not given": "Y[i] = A[i,k]*x[k]\nZ[j] = C[j,k]*x[k]",
    "no formula": "Y[i] =",
    "nothing": "",
}  # fmt: skip


@sampled(4)
@pytest.mark.parametrize("stated", WRONG.values(), ids=WRONG)
def test_another_program_than_the_steps_lead_to_is_found(stated: str, tmp_path: Path) -> None:
    text, shapes = TWO
    data = saved(ed.derive(text, target="cpu", budget=BUDGET, **shapes), tmp_path)
    (given,) = [c for c in data["candidates"] if not c["steps"] and len(c["stages"]) == 2][:1]
    data["candidates"] = [given]
    assert given["program"] == text
    assert loaded(data, tmp_path).check()
    given["program"] = stated
    failed = [finding for finding in loaded(data, tmp_path).check().findings if not finding.ok]
    assert [finding.what for finding in failed] == [STATED]


def test_the_program_may_name_its_iterators_otherwise(tmp_path: Path) -> None:
    text, shapes = TWO
    data = saved(ed.derive(text, target="cpu", budget=BUDGET, **shapes), tmp_path)
    data["candidates"] = [c for c in data["candidates"] if not c["steps"]][:1]
    data["candidates"][0]["program"] = "Y[q] = x[z]*A[q,z]\nZ[m] = sum[k](B[m,k]*x[k])"
    assert loaded(data, tmp_path).check()


READ_NO_MORE = "T[i] = w[i]\nZ[i] = 2*w[i]\nY[i] = x[i] + 0*T[i]"


def test_a_record_of_version_2_has_the_outputs_of_its_text(tmp_path: Path) -> None:
    data = saved(ed.derive(READ_NO_MORE, target="cpu", budget=BUDGET, w=W, x=W), tmp_path)
    assert data["input"].pop("outputs") == ["Z", "Y"]
    with pytest.raises(RecordError, match="'outputs' is missing"):
        loaded(data, tmp_path)
    data["version"] = 2
    assert "T[" in data["input"]["text"].split("\n")[0]
    found = loaded(data, tmp_path)
    assert [statement.name for statement in found.source.outputs] == ["T", "Z", "Y"]


@pytest.mark.parametrize(
    "outputs", [[], ["Y", "Z"], ["Z", "Z", "Y"], ["Z", "w"], ["Q"], "Y", [1], {"Y": 0}, None]
)
def test_outputs_that_no_program_could_have(outputs: Any, tmp_path: Path) -> None:
    data = saved(ed.derive(READ_NO_MORE, target="cpu", budget=BUDGET, w=W, x=W), tmp_path)
    data["input"]["outputs"] = outputs
    with pytest.raises(RecordError, match="outputs"):
        loaded(data, tmp_path)


def test_an_output_that_another_one_reads_stays_one(tmp_path: Path) -> None:
    text = "U[i] = A[i,k]*x[k]; Y[i] = {L[i:0:4] S[k:0:3] A[i,k]*x[k]}[i] + 1"
    staged = ed.derive(text, target="cpu", budget=BUDGET, A=M, x=V).program
    assert [statement.name for statement in staged.outputs] == ["U", "Y"]
    again = ed.derive(staged, target="cpu", budget=BUDGET)
    saved(again, tmp_path)
    assert [s.name for s in ed.load(tmp_path / "d.json").source.outputs] == ["U", "Y"]


def with_tensor(name: str, tensor: Any, folder: Path) -> Any:
    data = saved(ed.derive("Y[i] = w[i] + x[i]", target="cpu", budget=BUDGET, w=W, x=W), folder)
    data["input"]["tensors"] = {name: tensor, **data["input"]["tensors"]}
    return data


def test_a_tensor_of_no_use_is_an_operand_like_the_others(tmp_path: Path) -> None:
    found = loaded(with_tensor("B", {"shape": [7], "dtype": "int32"}, tmp_path), tmp_path)
    assert found.check()
    assert [(t.name, t.shape, t.dtype) for t in found.source.inputs] == [
        ("B", (7,), "int32"),
        ("w", W, "float32"),
        ("x", W, "float32"),
    ]


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("B", {"shape": [-1], "dtype": "int32"}),
        ("B", {"shape": [1 << 70], "dtype": "int32"}),
        ("B", {"shape": [1] * 1001, "dtype": "int32"}),
        ("B", {"shape": [3], "dtype": "int31"}),
        ("B C", {"shape": [3], "dtype": "int32"}),
        ("", {"shape": [3], "dtype": "int32"}),
        ("exp", {"shape": [3], "dtype": "int32"}),
        ("Y", {"shape": [4], "dtype": "float32"}),
    ],
)
def test_a_tensor_of_no_use_that_no_formula_could_have(
    name: str, tensor: Any, tmp_path: Path
) -> None:
    with pytest.raises(RecordError) as caught:
        loaded(with_tensor(name, tensor, tmp_path), tmp_path)
    assert "next: " in str(caught.value)


def test_an_input_that_vanishes_is_still_passed(tmp_path: Path) -> None:
    saved(ed.derive("Y[i] = 0*B[i] + w[i]", target="cpu", budget=BUDGET, w=W, B=W), tmp_path)
    compiled = ed.load(tmp_path / "d.json").compile(seconds=0.001)
    assert compiled([9, 9, 9, 9], [1, 2, 3, 4]).tolist() == [1, 2, 3, 4]
    assert compiled(w=[1, 2, 3, 4], B=[9, 9, 9, 9]).tolist() == [1, 2, 3, 4]
