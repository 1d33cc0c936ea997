"""Large results written past the caches: the same bits, wherever they lie."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from einderive.eops import timed
from einderive.eops.cpu_kernels import build as building
from einderive.eops.cpu_kernels.build import Kernel, build, built, compiled_code
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.forms import Forms
from einderive.eops.cpu_kernels.calls.linked import loops
from einderive.eops.cpu_kernels.compiling.streaming import possible, streamed
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.cpu_kernels.words.machine import OWN
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.result_memory import maker, written
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse

pytestmark = pytest.mark.skipif(not possible(), reason="the processor has other instructions")
FORMS = "einderive.eops.cpu_kernels.calls.forms"
TEXTS = (
    ("float32", "Y[i,j] = exp(X[i,j])*Z[j]", {"X": (37, 1000), "Z": (1000,)}),
    ("float32", "Y[i,j] = X[i,j] + X[i,j+1] where j in 0:64", {"X": (33, 64)}),
    ("float32", "Y[i,j] = softmax[j](X[i,j])", {"X": (70, 96)}),
    ("float64", "Y[i] = 2*X[i]; W[i] = X[i]^2", {"X": (5003,)}),
    ("bfloat16", "Y[i,j] = X[i,j] + Z[i]", {"X": (29, 999), "Z": (29,)}),
    ("float16", "Y[i] = relu(X[i])", {"X": (10_007,)}),
    ("int64", "Y[i] = 3*X[i]; B[i] = X[i] > 1", {"X": (4099,)}),
    ("float32", "Y[i] = where(X[i] > 0, X[i], 0); B[i] = X[i] < 1", {"X": (9001,)}),
)


@pytest.fixture(autouse=True)
def all_results_are_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(building, "LEAST_STREAMED", 0)
    monkeypatch.setattr(building, "MOST_WORK", 1e9)
    monkeypatch.setattr(building, "reused", lambda size: True)
    built.cache_clear()
    yield
    built.cache_clear()


def kernel(text: str, shapes: dict[str, tuple[int, ...]], dtype: str) -> Kernel:
    roots = parse(text, shapes, dtypes=dict.fromkeys(shapes, dtype)).roots()
    group = Group(stages(*roots), roots)
    return build(group, dense(group), typing_of(group, [getattr(torch, dtype)] * len(shapes)))


def data(shapes: dict[str, tuple[int, ...]], dtype: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    numbers = [4 * torch.randn(shape, generator=generator) for shape in shapes.values()]
    return [x.to(getattr(torch, dtype)) for x in numbers]


def results(made: Kernel, code: Code, given: list[torch.Tensor], off: int) -> list[torch.Tensor]:
    """What the code writes to memory that begins `off` elements after a line."""
    run = entry(code, made.work, several=made.several, most=made.threads)
    outs = []
    for shape, dtype in made.outs:
        room = torch.full((2 * 64 + torch.Size(shape).numel(),), 77).to(dtype)
        first = (-room.data_ptr() // dtype.itemsize) % (64 // dtype.itemsize) + off
        outs.append(room[first : first + torch.Size(shape).numel()].view(shape))
    run(*(x.data_ptr() for x in (*given, *outs)))
    return outs


def test_a_store_is_streamed_where_its_address_is_a_multiple_of_its_size() -> None:
    text = marked("store <16 x float> %a, ptr %p, align 4", "store <256 x i1> %b, ptr %q, align 1")
    found = streamed(text, "")
    float_body, bits_body = found.split("define internal void ")[1:]
    assert "%rest = and i64 %address, 63\n" in float_body
    assert "store <16 x float> %v, ptr %p, align 4\n" in float_body
    assert "%rest = and i64 %address, 31\n" in bits_body
    assert "store <256 x i1> %v, ptr %p, align 1\n" in bits_body
    pointers = marked("store <256 x ptr> %a, ptr %p, align 8")
    assert streamed(pointers, "").startswith(pointers)


def marked(*stores: str, mark: int = 3) -> str:
    """The text of a module with these stores to results."""
    marks = (
        *("!0 = !{!1}", '!1 = !{!"table", !2}', '!2 = !{!"einderive"}'),
        *("!3 = !{!1, !4}", f'!4 = !{{!"{OWN}", !2}}'),
    )
    return "\n".join([*(f"  {store}, !noalias !{mark}" for store in stores), *marks, ""])


def test_only_stores_to_results_are_streamed_and_nothing_is_fetched_before() -> None:
    store = "store <16 x float> %a, ptr %p, align 4"
    assert "call void @einderive_stream_16_float" in streamed(marked(store), "")
    own = streamed(marked(store, mark=0), "")
    assert f"  {store}, !noalias !0\n" in own
    assert "@einderive_stream" not in own
    fetch = "  tail call void @llvm.prefetch.p0(ptr %p, i32 1, i32 3, i32 1)\n"
    assert "@llvm.prefetch" not in streamed(fetch + marked(store), "")


def test_what_a_kernel_keeps_for_itself_is_not_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def noted(text: str, features: str) -> str:
        texts.append(streamed(text, features))
        return texts[-1]

    monkeypatch.setattr("einderive.eops.cpu_kernels.compiling.late.streamed", noted)
    monkeypatch.setattr("einderive.eops.cpu_kernels.build.stored", lambda name: None)
    compiled_code.cache_clear()
    made = kernel("Y[i,j] = softmax[j](X[i,j])", {"X": (70, 96)}, "float32")
    assert made.streaming is not None
    made.streaming()
    (text,) = texts
    (body, *_) = text.split("define internal void @einderive_stream")
    assert re.search(r"call void @einderive_stream_\d+_float", body)  # of results
    assert re.search(r"store <\d+ x float> .*!noalias", body)  # of exponentials
    compiled_code.cache_clear()


def test_one_kernel_has_one_text() -> None:
    """In each process: a set of texts has another order there."""
    kinds = [("double", 4), ("double", 8), ("float", 8), ("float", 16), ("half", 16), ("half", 32)]
    stores = [f"store <{count} x {kind}> %a, ptr %p, align 2" for kind, count in kinds]
    found = streamed(marked(*stores), "+avx512f")
    bodies = found.split("define internal void @einderive_stream_")[1:]
    names = [body.partition("(")[0] for body in bodies]
    assert names == [f"{count}_{kind}" for count, kind in sorted((n, kind) for kind, n in kinds)]


def test_other_processors_have_other_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert not possible()


@pytest.mark.parametrize(("dtype", "text", "shapes"), TEXTS)
def test_both_forms_write_the_same_bits(
    dtype: str, text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    """Also where the results begin anywhere: a streaming store there would end the process."""
    made = kernel(text, shapes, dtype)
    assert made.streaming is not None
    code, given = made.streaming(), data(shapes, dtype)
    assert "movnt" in code.owner.get_asm_str()
    assert "sfence" in code.owner.get_asm_str()
    assert "movnt" not in made.code.owner.get_asm_str()
    usual = results(made, made.code, given, 0)
    for off in (0, 1, 7, 8):
        for found, other in zip(results(made, code, given, off), usual, strict=True):
            assert torch.equal(found, other)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,j] = softmax[j](X[i,j])", {"X": (3, 40_000)}),
        ("Y[i,j] = softmax[j](X[i,j])", {"X": (70, 20_000)}),
        ("Y[j] = sum[i](X[i,j])", {"X": (3000, 700)}),
        ("Y[i,j] = X[i,j] + X[j,i]", {"X": (200, 200)}),
    ],
)
def test_kernels_that_read_results_or_share_them_have_one_form(text: str, shapes: Any) -> None:
    """What lies in results for later passes has to stay in the cache."""
    made = kernel(text, shapes, "float32")
    assert made.streaming is None
    assert (made.plan.kept != () and not made.plan.together) == (shapes["X"][0] == 70)


def test_small_results_have_one_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LEAST_STREAMED", 4001)
    monkeypatch.setattr(building, "MOST_WORK", 8.0)
    assert kernel("Y[i] = 2*X[i]", {"X": (1000,)}, "float32").streaming is None
    assert kernel("Y[i] = 2*X[i]", {"X": (1001,)}, "float32").streaming is not None
    busy = "Y[i] = sinh(exp(X[i])) + atan(tanh(X[i]))"  # which has better things to wait for
    assert kernel(busy, {"X": (1001,)}, "float32").streaming is None


@pytest.mark.parametrize("place", [0, 1])
def test_what_is_measured_to_be_faster_runs(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """In memory that was used before, and the usual form where the system clears it."""
    asked: list[int] = []
    ran: list[str] = []
    used = False

    def chosen(forms: Callable[[], Any]) -> int:
        asked.append(len(forms()))
        return place

    monkeypatch.setattr(f"{FORMS}.measured", chosen)
    monkeypatch.setattr(f"{FORMS}.written", lambda address: used)
    monkeypatch.setattr(f"{FORMS}.is_timed", lambda: True)
    stream = Code(1, None)
    forms = Forms(
        lambda *_: ran.append("usual"), lambda: (stream, lambda *_: ran.append("stream")), [1]
    )
    forms(7, 8)
    used = True
    forms(7, 8)
    forms(7, None)
    assert ran == ["usual", ("usual", "stream")[place], "usual"]
    assert asked == [2]
    assert forms.stream is (None, stream)[place]


@pytest.mark.parametrize("place", [0, 1])
def test_the_kernel_compares_where_it_may_be_timed(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    monkeypatch.setattr(f"{FORMS}.measured", lambda _: place)
    monkeypatch.setattr(f"{FORMS}.written", lambda address: True)
    made, x = kernel("Y[i] = 2*X[i] + 1", {"X": (5000,)}, "float32"), torch.rand(5000)
    assert isinstance(made.run, Forms)
    with timed.untimed():
        (first,) = made(x)
    assert made.run.stream is None
    found = [made(x)[0] for _ in range(2)]
    assert (made.run.stream is None) == (place == 0)
    assert all(torch.equal(y, first) and torch.equal(y, 2 * x + 1) for y in found)


def test_other_processes_take_the_form_that_was_faster(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EINDERIVE_CACHE", str(tmp_path))
    compiled_code.cache_clear()
    monkeypatch.setattr(f"{FORMS}.measured", lambda _: 1)
    monkeypatch.setattr(f"{FORMS}.written", lambda address: True)
    made, x = kernel("Y[i] = 2*X[i] + 1", {"X": (5000,)}, "float32"), torch.rand(5000)
    before = made.kept()
    made(x)
    after = made.kept()
    assert before is not None
    assert after is not None
    assert before[-1] is None
    assert after[:-1] == before[:-1]
    ran: list[str] = []
    of_file = entry

    def noted(code: Code, work: float, **options: Any) -> Callable[..., object]:
        run = of_file(code, work, **options)
        return lambda *given: (ran.append(code.file), run(*given))[1]

    monkeypatch.setattr("einderive.eops.cpu_kernels.calls.linked.entry", noted)
    stream: Any = after[-1]
    for given, file in ((before, before[0]), (after, stream[0])):
        told: Any = given
        (found,) = loops(*told)(x)
        assert torch.equal(found, 2 * x + 1)
        assert ran.pop() == file
    compiled_code.cache_clear()


def test_threads_that_choose_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one has chosen between a thread's question whether to and its choice."""
    made, x = kernel("Y[i] = 2*X[i] + 1", {"X": (5000,)}, "float32"), torch.rand(5000)
    assert isinstance(made.run, Forms)
    inside: list[int] = []

    def is_timed() -> bool:
        if not inside:
            inside.append(1)
            made(x)
        return True

    monkeypatch.setattr(f"{FORMS}.is_timed", is_timed)
    monkeypatch.setattr(f"{FORMS}.written", lambda address: True)
    monkeypatch.setattr(f"{FORMS}.measured", lambda _: 0)
    assert torch.equal(made(x)[0], 2 * x + 1)


def test_a_form_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{FORMS}.written", lambda address: True)

    def fails() -> Any:
        raise MemoryError

    run = Forms(lambda *given: sum(given), fails, [0])
    assert [run(3, 4), run(5, 6)] == [7, 11]
    assert run.stream is None


def test_memory_of_results_that_was_used_before() -> None:
    new = maker((46 << 20,), torch.uint8)  # a size that no other test has
    assert new is not None
    first = new()  # it has usual pages, which go back
    assert not written(first.data_ptr())
    del first
    kept = new()
    place = kept.data_ptr()
    assert not written(place)
    del kept
    again = new()
    assert again.data_ptr() == place
    assert written(place)
    del again
    assert not written(place)


def test_stores_of_other_widths_stay() -> None:
    text = (
        "define void @f() {\n"
        "  store <16 x float> %a, ptr %p, align 4, !tbaa !7, !noalias !3\n"
        "  store <4 x float> %b, ptr %p, align 4, !noalias !3\n"
        "  store float %c, ptr %p, align 4, !noalias !3\n"
        "  store <8 x i32> splat (i32 3), ptr %p, align 4, !noalias !3\n"
        "  ret void\n}\n!7 = !{}\n"
    ) + marked()
    found = streamed(text, "+sse2,+avx,-avx512f")
    assert found.count("call void @einderive_stream_16_float(<16 x float> %a, ptr %p)") == 1
    assert "store <4 x float> %b, ptr %p, align 4, !noalias !3\n" in found
    assert "store float %c, ptr %p, align 4, !noalias !3\n" in found
    assert "!nontemporal !8" in found
    assert "!8 = !{i32 1}" in found
    assert found.index("sfence()\n  ret void\n}\n!7") > 0


@pytest.mark.parametrize(
    ("features", "streams"), [("+avx,+avx512f", (1, 1)), ("+sse2,+avx", (1, 0)), ("", (0, 0))]
)
def test_vectors_of_half_types_fit_a_register(features: str, streams: tuple[int, int]) -> None:
    text = marked(
        "store <16 x half> %a, ptr %p, align 2",
        "store <32 x bfloat> %b, ptr %p, align 2",
        "store <16 x float> %c, ptr %p, align 4",
    )
    found = streamed(text, features)
    names = ("stream_16_half(<", "stream_32_bfloat(<")
    assert tuple(found.count(f"call void @einderive_{name}") for name in names) == streams
    assert "call void @einderive_stream_16_float(<" in found
